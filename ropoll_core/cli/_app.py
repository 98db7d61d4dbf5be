"""The Typer application: each command is one module of this package."""

from __future__ import annotations

import typer

app = typer.Typer(
    name="ropoll",
    help="Numerical core for panels of judges.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)
