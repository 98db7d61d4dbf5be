"""Options and lines that the commands on score tables share."""

from __future__ import annotations

from typing import Annotated, Any

import typer
from rich.console import Console

from ropoll_core.cli._common import as_pairs
from ropoll_core.tables import Panel, PanelConsensus

__all__ = ["Attribute", "Attributes", "Decimal", "Scale", "Score", "left_out_line", "read_options"]

Attribute = Annotated[
    str | None, typer.Option(help="Column of the attribute (long form).", metavar="COLUMN")
]
Score = Annotated[str | None, typer.Option(help="Column of the score.", metavar="COLUMN")]
Attributes = Annotated[
    str | None,
    typer.Option(help="The attributes to read, separated by commas.", metavar="NAME,NAME"),
]
Scale = Annotated[
    tuple[float, float] | None, typer.Option(help="Lowest and highest score.", metavar="LOW HIGH")
]
Decimal = Annotated[str, typer.Option(help="Decimal mark, . or ,", metavar="MARK")]


def read_options(
    *,
    item: str | None,
    judge: str | None,
    attribute: str | None,
    score: str | None,
    attributes: str | None,
    where: list[str] | None,
    missing_values: list[str] | None,
    scale: tuple[float, float] | None,
    delimiter: str | None,
    decimal: str,
    workers: int,
) -> dict[str, Any]:
    """The command line's options as those of the readers."""
    names = None if attributes is None else attributes.split(",")
    if names is not None and "" in names:
        raise ValueError(f"--attributes must be names between commas, got {attributes!r}")
    return {
        "item": item,
        "judge": judge,
        "attribute": attribute,
        "score": score,
        "attributes": names,
        "where": as_pairs(where, "--where"),
        "missing_values": missing_values or (),
        "scale": scale,
        "delimiter": delimiter,
        "decimal": decimal,
        "workers": workers,
    }


def left_out_line(panel: Panel | PanelConsensus, console: Console) -> None:
    """One line for the size of a panel and one for what is missing from it."""
    n_items, n_judges, n_attributes = map(len, (panel.items, panel.judges, panel.attributes))
    console.print(
        f"{panel.n_rows:,} rows: {n_items:,} items x {n_judges:,} judges x "
        f"{n_attributes:,} attributes ({', '.join(panel.attributes[:12])}"
        f"{', ...' if n_attributes > 12 else ''})"
    )
    counts = {
        "without a row": panel.left_out.no_row,
        "empty": panel.left_out.empty,
        "declared missing": panel.left_out.declared,
        "bad, counted as missing": panel.left_out.bad,
        "off scale, counted as missing": panel.left_out.off_scale,
    }
    missing = sum(counts.values())
    reasons = ", ".join(f"{count:,} {reason}" for reason, count in counts.items() if count)
    line = f"{missing:,} of {n_items * n_judges * n_attributes:,} cells missing"
    console.print(f"{line}: {reasons}" if missing else line)
    if panel.left_out.rows:
        console.print(f"{panel.left_out.rows:,} rows not chosen")
    if panel.metadata:
        console.print(f"item metadata, not read: {', '.join(panel.metadata)}")
    if panel.unused:
        console.print(f"other columns, not read: {', '.join(panel.unused)}")
