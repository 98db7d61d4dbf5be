"""The Typer application: each command is one module of this package."""

from __future__ import annotations

import typer

from ropoll_core.cli.aggregate import aggregate
from ropoll_core.cli.demo import demo
from ropoll_core.cli.doctor import doctor
from ropoll_core.cli.jury import jury
from ropoll_core.cli.pivotal import pivotal
from ropoll_core.cli.simulate import simulate

app = typer.Typer(
    name="ropoll",
    help="Numerical core for panels of judges.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)
app.command()(doctor)
app.command()(aggregate)
app.command()(demo)
app.command()(jury)
app.command()(simulate)
app.command()(pivotal)
