"""`ropoll doctor`: what a table of scores holds, and what is wrong with it."""

from __future__ import annotations

from typing import Any

import typer
from rich.console import Console

from ropoll_core.cli import _scores as options
from ropoll_core.cli._common import (
    Delimiter,
    File,
    Item,
    Json,
    Judge,
    MissingValues,
    Where,
    Workers,
    emit,
    grid,
    number,
    percent,
    progress,
    reported,
)
from ropoll_core.tables import TableReport, inspect_scores

__all__ = ["doctor", "print_report"]


def doctor(
    file: File,
    item: Item = None,
    judge: Judge = None,
    attribute: options.Attribute = None,
    score: options.Score = None,
    attributes: options.Attributes = None,
    where: Where = None,
    missing_values: MissingValues = None,
    scale: options.Scale = None,
    delimiter: Delimiter = None,
    decimal: options.Decimal = ".",
    workers: Workers = -1,
    json: Json = False,
) -> None:
    """Say what a table of scores holds: columns, sizes, missing, repeated and wrong cells.

    Exits 1 if the table cannot be read as it stands.
    """
    with reported(), progress(f"reading {file}") as rows_done:
        report = inspect_scores(
            file,
            progress=rows_done,
            **options.read_options(
                item=item,
                judge=judge,
                attribute=attribute,
                score=score,
                attributes=attributes,
                where=where,
                missing_values=missing_values,
                scale=scale,
                delimiter=delimiter,
                decimal=decimal,
                workers=workers,
            ),
        )
    emit(json, lambda: _as_json(report), lambda console: print_report(report, console))
    if not report.clean:
        raise typer.Exit(1)


def _as_json(report: TableReport) -> dict[str, Any]:
    panel = report.panel
    return {
        "name": report.name,
        "columns": report.columns,
        "n_rows": panel.n_rows,
        "n_items": panel.scores.shape[0],
        "judges": panel.judges,
        "attributes": panel.attributes,
        "metadata": panel.metadata,
        "unused": panel.unused,
        "left_out": panel.left_out,
        "duplicates": report.duplicates,
        "wrong": report.wrong,
        "problems": report.problems,
        "coverage": report.coverage,
        "zero_rows": report.zero_rows,
        "lowest": report.lowest,
        "highest": report.highest,
        "clean": report.clean,
    }


def print_report(report: TableReport, console: Console) -> None:
    """The report as text."""
    console.print(report.name, style="bold")
    console.print(
        "columns: " + ", ".join(f"{role} = {name}" for role, name in report.columns.items())
    )
    options.left_out_line(report.panel, console)
    table = grid("judge", "coverage", "lowest", "highest", "all-zero items")
    for j, name in enumerate(report.panel.judges):
        table.add_row(
            name,
            percent(report.coverage[j]),
            number(report.lowest[j], "g"),
            number(report.highest[j], "g"),
            f"{report.zero_rows[j]:,}",
        )
    console.print(table)
    if report.zero_rows.any():
        console.print("a judge that gives zero on every attribute has often failed to answer")
    if report.clean:
        console.print("no wrong cells, no repeated keys")
        return
    console.print(f"{report.wrong:,} wrong cells, {report.duplicates:,} rows that repeat a key:")
    for problem in report.problems:
        console.print(f"  {problem}", soft_wrap=True)
