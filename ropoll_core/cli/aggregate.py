"""`ropoll aggregate`: a consensus vector for each item, and how the judges stand to it."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer
from rich.console import Console

from ropoll_core._results.scores import Status
from ropoll_core.cli import _scores as options
from ropoll_core.cli._common import (
    Delimiter,
    File,
    Item,
    Json,
    Judge,
    MissingValues,
    OnBad,
    OnBadOption,
    Out,
    Where,
    Workers,
    as_pairs,
    emit,
    grid,
    number,
    percent,
    progress,
    reported,
)
from ropoll_core.scores import METHODS
from ropoll_core.tables import (
    PanelConsensus,
    aggregate_table,
    check_target,
    consensus_columns,
    write_table,
)

__all__ = ["aggregate", "print_consensus"]

_SHOWN = 5

Method = Annotated[str, typer.Option(help=f"One of {', '.join(METHODS)}.", metavar="NAME")]
Weights = Annotated[
    list[str] | None,
    typer.Option(help="Weight of a judge, 1 if not given; repeatable.", metavar="JUDGE=NUMBER"),
]
MethodOptions = Annotated[
    list[str] | None,
    typer.Option(
        help="Option of the method, as proportion=0.2 or solver=weiszfeld; repeatable.",
        metavar="NAME=VALUE",
    ),
]


def aggregate(
    file: File,
    out: Out = None,
    method: Method = "geometric_median",
    weights: Weights = None,
    option: MethodOptions = None,
    item: Item = None,
    judge: Judge = None,
    attribute: options.Attribute = None,
    score: options.Score = None,
    attributes: options.Attributes = None,
    where: Where = None,
    missing_values: MissingValues = None,
    on_bad: OnBadOption = OnBad.RAISE,
    scale: options.Scale = None,
    delimiter: Delimiter = None,
    decimal: options.Decimal = ".",
    workers: Workers = -1,
    json: Json = False,
) -> None:
    """Aggregate each item's score vectors over the judges."""
    with reported():
        if out is not None:
            check_target(out, file)
        with progress(f"reading {file}") as rows_done:
            result = aggregate_table(
                file,
                method=method,
                weights=_weights(weights),
                options=_options(option),
                on_bad=on_bad.value,
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
        if out is not None:
            write_table(out, consensus_columns(result), workers=workers)
    emit(
        json,
        lambda: _as_json(result, out),
        lambda console: print_consensus(result, out, console),
    )


def _weights(texts: list[str] | None) -> dict[str, float] | None:
    weights: dict[str, float] = {}
    for name, text in as_pairs(texts, "--weights", "JUDGE=NUMBER").items():
        try:
            weights[name] = float(text)
        except ValueError:
            raise ValueError(f"--weights must be JUDGE=NUMBER, got {text!r} for {name}") from None
    return weights or None


def _options(texts: list[str] | None) -> dict[str, Any]:
    """Options of the method: numbers where they read as such, else texts."""
    options: dict[str, Any] = {}
    for name, text in as_pairs(texts, "--option", "NAME=VALUE").items():
        options[name] = text
        for kind in (float, int):
            with suppress(ValueError):
                options[name] = kind(text)
    return options


def _moved_most(result: PanelConsensus) -> np.ndarray[Any, Any]:
    """Items whose mean is farthest from the consensus, largest first, ties in item order."""
    moved = np.where(np.isnan(result.moved), -1.0, result.moved)
    order = np.argsort(-moved, kind="stable")[:_SHOWN]
    return order[moved[order] > 0]


def _counts(result: PanelConsensus) -> dict[str, int]:
    if result.status is None:
        return {"all_missing": int((result.n_valid == 0).sum())}
    return {status.name.lower(): int((result.status == status).sum()) for status in Status}


def _as_json(result: PanelConsensus, out: Path | None) -> dict[str, Any]:
    n_judges = len(result.judges)
    influence = result.mean_influence if result.mean_influence is not None else [None] * n_judges
    return {
        "method": result.method,
        "n_rows": result.n_rows,
        "n_items": len(result.items),
        "attributes": result.attributes,
        "left_out": result.left_out,
        "judges": [
            {
                "judge": name,
                "coverage": result.coverage[j],
                "mean_distance": result.mean_distance[j],
                "mean_influence": influence[j],
            }
            for j, name in enumerate(result.judges)
        ],
        "mean_moved": _mean(result.moved),
        "moved_most": [
            {"item": result.items[i], "moved": result.moved[i]} for i in _moved_most(result)
        ],
        "unsupported": int(result.unsupported.sum()),
        "status": _counts(result),
        "out": out,
    }


def _mean(values: np.ndarray[Any, Any]) -> float:
    there = values[~np.isnan(values)]
    return float(there.mean()) if there.size else float("nan")


def print_consensus(result: PanelConsensus, out: Path | None, console: Console) -> None:
    """The result as text."""
    options.left_out_line(result, console)
    for example in result.left_out.examples:
        console.print(f"  {example}", soft_wrap=True)
    console.print()
    table = grid("judge", "coverage", "mean distance to consensus", "influence")
    for j, name in enumerate(result.judges):
        influence = "-" if result.mean_influence is None else percent(result.mean_influence[j])
        table.add_row(
            name, percent(result.coverage[j]), number(result.mean_distance[j], ".3f"), influence
        )
    console.print(table)
    console.print()
    moved = _moved_most(result)
    if result.method != "mean" and not np.isnan(result.moved).all():
        console.print(
            f"the mean would have been off by {_mean(result.moved):.3f} on average"
            + (f", by {result.moved[moved[0]]:.3f} at most" if len(moved) else "")
        )
    if len(moved):
        _print_moved(result, moved, console)
    n_odd = int(result.unsupported.sum())
    console.print(
        f"{n_odd:,} items whose coordinate-wise median lies far from every judge"
        + (f": {', '.join(result.items[result.unsupported][:_SHOWN])}" if n_odd else "")
        + (", ..." if n_odd > _SHOWN else "")
    )
    counts = ", ".join(
        f"{count:,} {name.replace('_', ' ')}" for name, count in _counts(result).items() if count
    )
    console.print(f"{len(result.items):,} items" + (f": {counts}" if counts else ""))
    if out is not None:
        console.print(f"wrote {out}", soft_wrap=True)


def _print_moved(result: PanelConsensus, moved: np.ndarray[Any, Any], console: Console) -> None:
    shown = min(len(result.attributes), 6)
    table = grid("moved most", "by", *result.attributes[:shown])
    for i in moved:
        values = (f"{value:.2f}" for value in result.consensus[i, :shown])
        table.add_row(result.items[i], f"{result.moved[i]:.3f}", *values)
    console.print(table)
