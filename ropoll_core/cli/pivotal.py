"""`ropoll pivotal`: where a panel's ballots are close, and what one replaced ballot would do."""

from __future__ import annotations

import dataclasses
import math
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer
from rich.console import Console

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
    number_of,
    percent,
    progress,
    reported,
)
from ropoll_core.tables import TableError, VoteTable, check_target, read_votes, write_table
from ropoll_core.votes import Estimate, PivotalReport, gated_decision, pivotal_report, tally

__all__ = ["pivotal", "print_pivotal", "report_on"]

Gold = Annotated[str | None, typer.Option(help="Column of the label.", metavar="COLUMN")]
Vote = Annotated[str | None, typer.Option(help="Column of the ballot.", metavar="COLUMN")]
Signal = Annotated[
    str | None, typer.Option(help="The judge whose ballots are the signal.", metavar="JUDGE")
]
Task = Annotated[
    str | None, typer.Option(help="Column of the task, resampled as a whole.", metavar="COLUMN")
]
Positive = Annotated[
    str | None, typer.Option(help="The text of a 1; one other text is a 0.", metavar="TEXT")
]
Complete = Annotated[
    bool, typer.Option("--complete", help="Use only items on which every judge voted.")
]
Resamples = Annotated[int, typer.Option(help="Bootstrap resamples.", metavar="N")]
Seed = Annotated[int, typer.Option(help="Of the resamples.", metavar="N")]


def pivotal(
    file: File,
    gold: Gold = None,
    signal: Signal = None,
    task: Task = None,
    positive: Positive = None,
    complete: Complete = False,
    out: Out = None,
    item: Item = None,
    judge: Judge = None,
    vote: Vote = None,
    where: Where = None,
    missing_values: MissingValues = None,
    on_bad: OnBadOption = OnBad.RAISE,
    delimiter: Delimiter = None,
    resamples: Resamples = 10_000,
    seed: Seed = 0,
    workers: Workers = -1,
    json: Json = False,
) -> None:
    """Margins, pivotal items, and the exact effect of replacing one ballot by a signal."""
    with reported():
        if out is not None:
            check_target(out, file)
        with progress(f"reading {file}"):
            table = read_votes(
                file,
                item=item,
                judge=judge,
                vote=vote,
                label=gold,
                tasks=task,
                positive=positive,
                signal=signal,
                where=as_pairs(where, "--where"),
                missing_values=missing_values or (),
                on_bad=on_bad.value,
                delimiter=delimiter,
                workers=workers,
            )
        if table.labels is None:
            raise TableError(f"{file}: no column of labels found; name it with --gold")
        n_read = len(table.items)
        if complete:
            table = _complete(table)
        counts = (table.votes >= 0).any(axis=1) & (np.asarray(table.labels) >= 0)
        if not counts.any():
            raise TableError(
                f"{file}: no item with a label and a ballot is left of {n_read:,}"
                + (" (--complete)" if complete else "")
            )
        report = report_on(table, resamples=resamples, seed=seed, workers=workers)
        if out is not None:
            write_table(out, _item_columns(table), workers=workers)
    emit(
        json,
        lambda: _as_json(table, n_read, report, out),
        lambda console: print_pivotal(table, n_read, report, out, console),
    )


def report_on(table: VoteTable, *, resamples: int, seed: int, workers: int) -> PivotalReport:
    """The report of a table of votes with labels."""
    return pivotal_report(
        table.votes,
        table.signal,
        table.labels,
        tasks=table.tasks,
        judges=table.judges.tolist(),
        n_resamples=resamples,
        rng=seed,
        workers=workers,
    )


def _complete(table: VoteTable) -> VoteTable:
    """The items on which every judge, and the signal, voted."""
    keep = (table.votes >= 0).all(axis=1)
    if table.signal is not None:
        keep &= table.signal >= 0
    cut: dict[str, Any] = {
        name: None if getattr(table, name) is None else getattr(table, name)[keep]
        for name in ("votes", "items", "labels", "signal", "tasks")
    }
    return dataclasses.replace(table, **cut)


def _item_columns(table: VoteTable) -> dict[str, Any]:
    """One row an item: how its ballots stand, and what the signal made of it."""
    counted = tally(table.votes)
    columns: dict[str, Any] = {"item": table.items}
    if table.tasks is not None:
        columns["task"] = table.tasks
    columns |= {
        "ones": counted.ones,
        "n_valid": counted.n_valid,
        "margin": counted.margin,
        "tie": counted.tie,
        "pivotal": counted.pivotal,
        "decision": _or_empty(counted.decision),
        "label": _or_empty(table.labels),
    }
    if table.signal is not None:
        columns["signal"] = _or_empty(table.signal)
        for rule in ("uniform", "majority"):
            columns[f"after_{rule}"] = gated_decision(table.votes, table.signal, rule=rule).decision
    return columns


def _or_empty(values: Any) -> Any:
    """-1 as NaN, which a table writes as an empty cell."""
    return np.where(values < 0, math.nan, values) if (values < 0).any() else values


def _as_json(
    table: VoteTable, n_read: int, report: PivotalReport, out: Path | None
) -> dict[str, Any]:
    fields = {f.name: getattr(report, f.name) for f in dataclasses.fields(report)}
    return {
        "n_rows": table.n_rows,
        "n_items_read": n_read,
        "classes": table.classes,
        "left_out": table.left_out,
        **fields,
        "out": out,
    }


def print_pivotal(
    table: VoteTable, n_read: int, report: PivotalReport, out: Path | None, console: Console
) -> None:
    """The report as text."""
    _print_head(table, n_read, report, console)
    margins = grid("margin", "items", "errors", "error rate", "95% interval", "")
    for row, level in enumerate(report.stratum.tolist()):
        mark = "pivotal" if level in report.pivotal_stratum else ""
        rate = report.error_rate[row]
        margins.add_row(
            f"{level:+d}" if level % 2 == 0 else str(level),
            f"{report.n[row]:,}",
            f"{report.n_errors[row]:,}",
            percent(rate.value),
            _interval(rate),
            mark,
        )
    console.print(margins)
    console.print()
    console.print(f"pivotal items   {_shown(report.pivotal_share)}")
    console.print(f"panel accuracy  {_shown(report.panel_accuracy)}")
    if report.signal_accuracy is not None:
        console.print(f"signal accuracy {_shown(report.signal_accuracy)}")
    _print_effective_votes(report, console)
    if report.rules:
        _print_rules(report, console)
    _print_policies(report, console)
    _print_judges(report, console)
    if out is not None:
        console.print(f"wrote {out}", soft_wrap=True)


def _print_head(table: VoteTable, n_read: int, report: PivotalReport, console: Console) -> None:
    zero, one = table.classes
    console.print(
        f"{number_of(table.n_rows, 'row')}: {number_of(n_read, 'item')}"
        f" x {number_of(len(report.judges), 'judge')}"
        + ("" if table.signal is None else " and a signal")
        + f"; 0 is {zero or 'never cast'}, 1 is {one or 'never cast'}"
    )
    n_missing = int((table.votes < 0).sum())
    notes = [f"{n_missing:,} of {number_of(table.votes.size, 'ballot')} missing"]
    if report.n_queries < n_read:
        notes.append(f"{number_of(n_read - report.n_queries, 'item')} left out as not complete")
    if report.n_scored < report.n_queries:
        unscored = number_of(report.n_queries - report.n_scored, "item")
        notes.append(f"{unscored} without a label or a ballot")
    if table.signal is not None:
        notes.append(f"{number_of(int((table.signal < 0).sum()), 'item')} without a signal")
    console.print("; ".join(notes))
    unit = "item" if table.tasks is None else "task"
    if report.n_tasks == 1:
        console.print(f"no intervals: there is one {unit}, and nothing to resample")
    else:
        few = "" if report.n_tasks >= 20 else ": few, so they are rough"
        console.print(f"intervals resample {report.n_tasks:,} {unit}s{few}")
    for example in table.left_out.examples:
        console.print(f"  {example}", soft_wrap=True)
    console.print()


def _print_effective_votes(report: PivotalReport, console: Console) -> None:
    votes = report.effective_votes
    line = f"effective votes {_votes(report.n_eff)} of {votes.k_used} judges; "
    line += f"mean error correlation {votes.mean_phi:.4f}"
    console.print(line if not votes.reason else f"effective votes: {votes.reason}")
    if votes.left_out:
        console.print(f"  left out, as their errors do not vary: {', '.join(votes.left_out)}")
    if report.n_eff_after is not None and report.n_eff_change is not None:
        after, change = report.n_eff_after, report.n_eff_change
        if math.isnan(change.value):
            console.print(
                "  no change by the signal: with it or without, too few judges' errors vary"
            )
        else:
            console.print(
                f"  {_votes(after)} with the signal in a judge's seat: {_votes(change, '+')}"
            )
    console.print()


def _print_rules(report: PivotalReport, console: Console) -> None:
    levels = [f"at {level}" for level in report.pivotal_stratum.tolist()]
    table = grid("replaced ballot", "gain overall", "on pivotal items", *levels)
    for rule in report.rules:
        cells = (_points(e) for e in (rule.gain, rule.pivotal_gain, *rule.stratum_gain))
        table.add_row(rule.rule, *cells)
    console.print(table)
    null = report.permutation
    if null is not None:
        low, high = null.interval
        console.print(
            f"if the signal erred as often but anywhere: {100 * null.mean:+.2f} points on pivotal "
            f"items, 95% within [{100 * low:+.2f}, {100 * high:+.2f}]; observed "
            f"{100 * null.observed:+.2f}, P(as low) {null.p_lower:.2g}, "
            f"P(as high) {null.p_upper:.2g} ({'exact' if null.exact else 'sampled'})",
            soft_wrap=True,
        )
    console.print()


def _print_policies(report: PivotalReport, console: Console) -> None:
    table = grid("policy", "accuracy", "asks the signal", "")
    policies = report.policies
    for row, name in enumerate(policies.policy):
        note = "chosen on the same data" if policies.same_data[row] else ""
        rate = percent(policies.call_rate[row]) if policies.call_rate[row] else "-"
        table.add_row(name, _number(policies.accuracy[row], 4), rate, note)
    console.print(table)
    console.print()


def _print_judges(report: PivotalReport, console: Console) -> None:
    table = grid("judge", "ballots", "rejects", "accuracy", "balanced", "MCC", "FPR", "FNR")
    metrics = report.metrics
    for row, name in enumerate(metrics.judges):
        shares = (metrics.reject_rate, metrics.accuracy, metrics.balanced_accuracy)
        rates = (metrics.fpr, metrics.fnr)
        table.add_row(
            name,
            f"{metrics.n[row]:,}",
            *(percent(share[row]) for share in shares),
            _number(metrics.mcc[row], 3),
            *(percent(rate[row]) for rate in rates),
        )
    console.print(table)


def _shown(estimate: Estimate) -> str:
    return _with_interval(percent(estimate.value), _interval(estimate))


def _votes(estimate: Estimate, sign: str = "") -> str:
    ends = f"[{estimate.low:.3f}, {estimate.high:.3f}]"
    return _with_interval(f"{estimate.value:{sign}.3f}", "-" if math.isnan(estimate.low) else ends)


def _with_interval(value: str, interval: str) -> str:
    return value if interval == "-" else f"{value} {interval}"


def _interval(estimate: Estimate) -> str:
    if math.isnan(estimate.low):
        return "-"
    return f"[{100 * estimate.low:.1f}, {100 * estimate.high:.1f}]"


def _points(estimate: Estimate) -> str:
    if math.isnan(estimate.value):
        return "-"
    ends = f"[{100 * estimate.low:+.2f}, {100 * estimate.high:+.2f}]"
    return _with_interval(f"{100 * estimate.value:+.2f}", "-" if math.isnan(estimate.low) else ends)


def _number(value: float, digits: int) -> str:
    return "-" if math.isnan(value) else f"{value:.{digits}f}"
