"""What every command shares: options, errors, progress, and output for people and machines."""

from __future__ import annotations

import dataclasses
import dis
import json
import math
import os
import re
import sys
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any, cast

import numpy as np
import typer
from rich.console import Console
from rich.progress import Progress, SpinnerColumn, TextColumn, TimeElapsedColumn
from rich.table import Table

from ropoll_core.tables import TableError

__all__ = [
    "Delimiter",
    "File",
    "Item",
    "Json",
    "Judge",
    "MissingValues",
    "OnBad",
    "OnBadOption",
    "Out",
    "Where",
    "Workers",
    "as_pairs",
    "console",
    "emit",
    "grid",
    "number",
    "number_of",
    "option_of",
    "percent",
    "plain",
    "progress",
    "reported",
]

_PACKAGE = Path(__file__).parents[1]

# Options that mean the same in every command.
File = Annotated[Path, typer.Argument(help="Table: .csv, .tsv, .jsonl, .json or .parquet.")]
Item = Annotated[str | None, typer.Option(help="Column of the item.", metavar="COLUMN")]
Judge = Annotated[str | None, typer.Option(help="Column of the judge.", metavar="COLUMN")]
Where = Annotated[
    list[str] | None,
    typer.Option(help="Read only rows where COLUMN is TEXT; repeatable.", metavar="COLUMN=TEXT"),
]
MissingValues = Annotated[
    list[str] | None,
    typer.Option(
        help="One more cell that means missing, as empty ones do; repeatable.", metavar="TEXT"
    ),
]
Delimiter = Annotated[
    str | None,
    typer.Option(
        help=r"Delimiter of a text file, as ; or \t for a tab.",
        metavar="CHARACTER",
        callback=lambda given: "\t" if given == r"\t" else given,
    ),
]
Workers = Annotated[int, typer.Option(help="Threads; -1 for all cores.", metavar="N")]
Json = Annotated[bool, typer.Option("--json", help="Print JSON, for machines.")]
Out = Annotated[
    Path | None,
    typer.Option("--out", "-o", help="Write to .csv, .tsv, .jsonl or .parquet.", metavar="FILE"),
]


class OnBad(StrEnum):
    """What a cell that cannot be read does."""

    RAISE = "raise"
    MISSING = "missing"


OnBadOption = Annotated[
    OnBad, typer.Option(help="A cell that cannot be read: an error, or counted as missing.")
]


# What Python calls an option, where the command line has another name for it.
_RENAMED = {
    "confidence_level": "confidence",
    "corruptions": "corruption",
    "committees": "size",
    "groups": "group",
    "label": "gold",
    "methods": "method",
    "n_items": "items",
    "n_judges": "judges",
    "n_replicates": "replicates",
    "n_resamples": "resamples",
    "options": "option",
    "rates": "rate",
    "rng": "seed",
    "tasks": "task",
}
# Called the same, but for the underscores.
_SAME = {
    "answer", "attribute", "attributes", "correlation", "corruption", "decimal", "delimiter",
    "failure_rate", "gold", "item", "judge", "method", "missing_values", "on_bad", "positive",
    "scale", "score", "sigma", "signal", "split", "state", "vote", "weights", "where", "workers",
}  # fmt: skip


def option_of(argument: str) -> str | None:
    """The option that sets a Python argument, or None where there is none."""
    name = _RENAMED.get(argument, argument if argument in _SAME else None)
    return None if name is None else "--" + name.replace("_", "-")


def _hint(hint: str) -> str:
    """ARGUMENT= and ARGUMENT="VALUE" as options."""

    def named(match: re.Match[str]) -> str:
        return " ".join(part for part in (option_of(match[1]), match[2]) if part) or match[0]

    return re.sub(r'\b(\w+)=(?:"(\w+)")?', named, hint)


@contextmanager
def reported() -> Iterator[None]:
    """One message on stderr and an exit code instead of a traceback.

    1: the input is not as it should be. 2: wrong use. 130: Ctrl-C. Programming errors pass: they
    should be seen. Warnings become one line on stderr.
    """
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("always")
            warnings.showwarning = cast(Any, _show_warning)
            yield
    except KeyboardInterrupt:
        _fail("interrupted; nothing was written", 130)
    except BrokenPipeError:  # the reader of the output has gone: typer ends quietly
        raise
    except (TableError, OSError, MemoryError) as error:
        _fail(_message(error), 1)
    except (ValueError, TypeError, ImportError) as error:
        if not _raised_here(error):
            raise
        _fail(_message(error), 2)


def _raised_here(error: BaseException) -> bool:
    """Whether a raise statement of this package made the error, so that its text is for a user.

    What Python, NumPy or another package raised beneath it is a fault of the program.
    """
    place = error.__traceback__
    while place is not None and place.tb_next is not None:
        place = place.tb_next
    if place is None:
        return False
    code = place.tb_frame.f_code
    instruction = dis.opname[code.co_code[place.tb_lasti]]
    return Path(code.co_filename).is_relative_to(_PACKAGE) and instruction == "RAISE_VARARGS"


def _show_warning(message: Warning | str, *_: object) -> None:
    sys.stderr.write(f"ropoll: warning: {message}\n")


def _message(error: BaseException) -> str:
    if isinstance(error, OSError) and error.filename is not None:
        return f"{error.filename}: {error.strerror}"
    text = str(error) or type(error).__name__
    if isinstance(error, TableError):
        return text.removesuffix(error.hint) + _hint(error.hint)
    argument, blank, rest = text.partition(" ")
    argument = argument.partition("[")[0]  # scale[0] is a value of --scale
    if isinstance(error, (ValueError, TypeError)) and rest.startswith(
        ("must ", "name ", "names ", "needs ")
    ):
        return (option_of(argument) or argument) + blank + rest
    return text


def _fail(message: str, code: int) -> None:
    sys.stderr.write(f"ropoll: {message}\n")
    raise typer.Exit(code) from None


def console() -> Console:
    """Where reports go: stdout, as wide as the terminal, or 100 columns in a pipe."""
    width = None if sys.stdout.isatty() else 100
    return Console(width=width, highlight=False, emoji=False, markup=False)


@contextmanager
def progress(text: str) -> Iterator[Callable[[int], None]]:
    """Show rows done on stderr while the block runs; nothing where stderr is no terminal."""
    if not sys.stderr.isatty():
        yield lambda _: None
        return
    columns = (SpinnerColumn(), TextColumn("{task.description}"), TimeElapsedColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task(text)
        yield lambda rows: bar.update(task, description=f"{text} {rows:,} rows")


def emit(as_json: bool, value: Callable[[], Any], report: Callable[[Console], None]) -> None:
    """Print the one or the other; an output that cannot be written to is an error like others."""
    with reported():
        if as_json:
            print(json.dumps(plain(value()), allow_nan=False, indent=2), flush=True)
        else:
            report(console())


def plain(value: Any) -> Any:
    """Results, arrays and NumPy numbers as what JSON has; NaN and infinities as null."""
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {f.name: plain(getattr(value, f.name)) for f in dataclasses.fields(value)}
    if isinstance(value, np.ndarray):
        return plain(value.tolist())
    if isinstance(value, np.generic):
        return plain(value.item())
    if isinstance(value, Mapping):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(item) for item in value]
    if isinstance(value, float) and not math.isfinite(value):
        return None
    if isinstance(value, (os.PathLike, Path)):
        return os.fspath(value)
    return value


def grid(*headers: str, title: str | None = None) -> Table:
    """A table whose first column is text and whose others are numbers."""
    table = Table(title=title, title_justify="left", box=None, pad_edge=False, header_style="bold")
    for position, header in enumerate(headers):
        table.add_column(header, justify="left" if position == 0 else "right", overflow="fold")
    return table


def number(value: float, form: str) -> str:
    return "-" if math.isnan(value) else format(value, form)


def number_of(n: int, noun: str) -> str:
    """``1 row``, ``1,200 rows``."""
    return f"{n:,} {noun}" if n == 1 else f"{n:,} {noun}s"


def percent(share: float) -> str:
    return "-" if math.isnan(share) else f"{100 * share:.1f}%"


def as_pairs(texts: Sequence[str] | None, option: str, form: str = "NAME=TEXT") -> dict[str, str]:
    """Options of that form as a dict; the name ends at the first "="."""
    pairs = {}
    for text in texts or ():
        name, equals, value = text.partition("=")
        if not equals or not name:
            raise ValueError(f"{option} must be {form}, got {text!r}")
        if name in pairs:
            raise ValueError(f"{option} names {name!r} twice")
        pairs[name] = value
    return pairs
