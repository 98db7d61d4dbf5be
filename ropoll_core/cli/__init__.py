"""The command line, `ropoll`. One module a command, registered in `_app`."""

from __future__ import annotations

import sys

__all__ = ["main"]


def main() -> None:
    """Run `ropoll`; without the `cli` extra, say how to install it and exit 2."""
    try:
        import duckdb  # noqa: F401
        import rich  # noqa: F401
        import typer  # noqa: F401
    except ImportError as error:
        sys.stderr.write(
            f"ropoll: the command line needs the package {error.name!r}: "
            "pip install 'ropoll-core[cli]'\n"
        )
        raise SystemExit(2) from None
    from ropoll_core.cli._app import app

    app()
