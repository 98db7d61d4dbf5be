"""`ropoll jury`: a panel's agreement as a verifier, measured and predicted."""

from __future__ import annotations

import dataclasses
from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any, NamedTuple

import numpy as np
import typer
from numpy.typing import NDArray
from rich.console import Console

from ropoll_core._checks.law import LARGEST_PANEL, MOST_TESTED
from ropoll_core.cli._common import (
    Delimiter,
    File,
    Item,
    Json,
    Judge,
    MissingValues,
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
from ropoll_core.jury import (
    BlindSpot,
    Cascade,
    ConsensusLaw,
    Interval,
    LawFit,
    SelectiveAccuracy,
    cascade,
    selective_accuracy,
    shared_blind_spot,
)
from ropoll_core.tables import AnswerTable, TableError, read_answers
from ropoll_core.votes import EffectiveVotes, effective_votes

__all__ = ["jury"]


class Empty(StrEnum):
    """What an empty answer is."""

    MISSING = "missing"
    CATEGORY = "category"


class Missing(StrEnum):
    """What a missing answer does."""

    OMIT = "omit"
    WRONG = "wrong"


class Ties(StrEnum):
    """Credit of a tie that holds the right answer, in the dial and the cascade."""

    UNIFORM = "uniform"
    CORRECT = "correct"
    STRICT = "strict"


Gold = Annotated[str | None, typer.Option(help="Column of the right answer.", metavar="COLUMN")]
Answer = Annotated[str | None, typer.Option(help="Column of the answer.", metavar="COLUMN")]
Task = Annotated[
    str | None, typer.Option(help="Column of the task, resampled as a whole.", metavar="COLUMN")
]
Group = Annotated[
    str | None, typer.Option(help="Column to leave out a group at a time.", metavar="COLUMN")
]
Member = Annotated[
    list[str] | None, typer.Option(help="Use only this judge; repeatable.", metavar="NAME")
]
EmptyOption = Annotated[Empty, typer.Option(help="An empty answer is missing, or an answer.")]
MissingOption = Annotated[
    Missing, typer.Option(help="A missing answer leaves out its item, or is wrong.")
]
TiesOption = Annotated[Ties, typer.Option(help="Credit of a tie in the dial and the cascade.")]
Split = Annotated[
    float, typer.Option(help="Share of the tasks that the held-out law is fitted to.", metavar="P")
]
BlindSpots = Annotated[
    bool, typer.Option("--blind-spots", help="Test pairs of judges for shared errors.")
]
Resamples = Annotated[int, typer.Option(help="Bootstrap resamples.", metavar="N")]
Confidence = Annotated[float, typer.Option(help="Level of all intervals.", metavar="P")]
Seed = Annotated[int, typer.Option(help="Of every random draw.", metavar="N")]


def jury(
    file: File,
    gold: Gold = None,
    task: Task = None,
    group: Group = None,
    member: Member = None,
    empty: EmptyOption = Empty.MISSING,
    missing: MissingOption = Missing.OMIT,
    ties: TiesOption = Ties.UNIFORM,
    split: Split = 0.5,
    blind_spots: BlindSpots = False,
    item: Item = None,
    judge: Judge = None,
    answer: Answer = None,
    where: Where = None,
    missing_values: MissingValues = None,
    delimiter: Delimiter = None,
    resamples: Resamples = 10_000,
    confidence: Confidence = 0.95,
    seed: Seed = 0,
    workers: Workers = -1,
    json: Json = False,
) -> None:
    """How far a panel's agreement can be trusted, against right answers.

    Members, error correlation, consensus accuracy (measured, by the closed-form law, and by the
    law fitted to other items), the floor of shared errors, the abstention dial and the cascade.
    """
    with reported():
        with progress(f"reading {file}"):
            table = read_answers(
                file,
                item=item,
                judge=judge,
                answer=answer,
                gold=gold,
                tasks=task,
                groups=group,
                where=as_pairs(where, "--where"),
                missing_values=missing_values or (),
                empty=empty.value,
                delimiter=delimiter,
                workers=workers,
            )
        if table.gold is None:
            raise TableError(f"{file}: no column of right answers found; name it with --gold")
        options = {
            "missing": missing.value,
            "n_resamples": resamples,
            "confidence_level": confidence,
            "rng": seed,
            "workers": workers,
        }
        columns = _members(file, table, member)
        if blind_spots and not 3 <= len(columns) <= MOST_TESTED:
            raise ValueError(
                f"--blind-spots needs 3 to {MOST_TESTED} judges, got {len(columns)} (--member)"
            )
        _check_items(file, table, columns, missing)
        study = _study(table, table.gold, columns, split, ties.value, blind_spots, options)
    emit(json, lambda: _as_json(study), lambda console: _print(study, console))


class _Study(NamedTuple):
    judges: list[str]
    n_items: int
    votes: EffectiveVotes
    fit: LawFit
    held_out: LawFit | None  # None where there is but one task
    dial: SelectiveAccuracy
    cascade: Cascade
    blind_spot: BlindSpot | None


def _study(
    table: AnswerTable,
    gold: NDArray[np.int32],
    columns: list[int],
    split: float,
    ties: str,
    blind_spots: bool,
    options: dict[str, Any],
) -> _Study:
    codes = np.ascontiguousarray(table.answers[:, columns])
    # The codes are their own classes, so that -1 is missing, in answers and in gold.
    options = options | {"key": codes, "tasks": table.tasks}
    fit = ConsensusLaw.fit(codes, gold, groups=table.groups, **options)
    held_out = ConsensusLaw.fit(codes, gold, split=split, **options) if fit.n_tasks > 1 else None
    known = gold >= 0
    right = codes[known] == gold[known, None]
    # -1: no ballot, where a missing answer is not a wrong one
    errors = np.where((codes[known] < 0) & (options["missing"] == "omit"), -1, ~right)
    names = [str(name) for name in table.judges[columns]]
    return _Study(
        judges=names,
        n_items=len(table.items),
        votes=effective_votes(errors.astype(np.int8), judges=names),
        fit=fit,
        held_out=held_out,
        dial=selective_accuracy(codes, gold, ties=ties, **options),
        cascade=cascade(codes, gold, ties=ties, **options),
        blind_spot=shared_blind_spot(codes, gold, **options) if blind_spots else None,
    )


def _members(file: Path, table: AnswerTable, member: list[str] | None) -> list[int]:
    names = [str(name) for name in table.judges]
    for name in member or ():
        if name not in names:
            raise ValueError(f"--member names {name!r}; the judges are {', '.join(names)}")
    if len(set(member or ())) < len(member or ()):
        raise ValueError("--member names a judge twice")
    chosen = member or names
    if not 2 <= len(chosen) <= LARGEST_PANEL:
        listed = ", ".join(chosen[:12])
        raise TableError(
            f"{file}: a jury has 2 to {LARGEST_PANEL} judges, got {len(chosen)}: {listed}"
        )
    return [names.index(name) for name in chosen]


def _check_items(file: Path, table: AnswerTable, columns: list[int], missing: Missing) -> None:
    """Raise if no item is left to measure on."""
    known = np.asarray(table.gold) >= 0
    there = table.answers[:, columns] >= 0
    usable = known & (there.all(axis=1) if missing == Missing.OMIT else there.any(axis=1))
    if not usable.any():
        raise TableError(
            f"{file}: no item with a right answer and the answers of all judges is left of "
            f"{known.size:,}: {int((~known).sum()):,} have no right answer, "
            f"{int((known & ~there.all(axis=1)).sum()):,} lack an answer (--missing wrong)"
        )


# For machines


def _fit_as_json(fit: LawFit) -> dict[str, Any]:
    values = {f.name: getattr(fit, f.name) for f in dataclasses.fields(fit)}
    law = values.pop("law")
    values["law"] = None
    if law is not None:
        values["law"] = {
            "accuracy": float(law.member_accuracy),
            "correlation": float(law.correlation),
            "attractors": law.attractors,
        }
    values["held_out"] = {name: _fit_as_json(part) for name, part in fit.held_out.items()}
    return values


def _as_json(study: _Study) -> dict[str, Any]:
    return {
        "judges": study.judges,
        "n_items": study.n_items,
        "effective_votes": study.votes,
        "fit": _fit_as_json(study.fit),
        "held_out": None if study.held_out is None else _fit_as_json(study.held_out),
        "dial": study.dial,
        "cascade": study.cascade,
        "blind_spot": study.blind_spot,
    }


# For people


def _shown(interval: Interval) -> str:
    if np.isnan(interval.low):
        return percent(interval.value)
    return f"{percent(interval.value)} [{100 * interval.low:.1f}, {100 * interval.high:.1f}]"


def _at(interval: Interval, place: int) -> Interval:
    return Interval(interval.value[place], interval.low[place], interval.high[place])


def _print(study: _Study, console: Console) -> None:
    fit = study.fit
    console.print(
        f"{study.n_items:,} items x {len(study.judges)} judges; {fit.n_no_gold:,} items without a "
        f"right answer, {fit.n_incomplete:,} left out for a missing answer; {fit.n_tasks:,} tasks"
    )
    members = grid("judge", "accuracy")
    for name, accuracy in zip(study.judges, fit.accuracy_by_member, strict=True):
        members.add_row(name, percent(accuracy))
    members.add_row("mean", _shown(fit.member_accuracy))
    console.print(members)
    rho, votes = fit.correlation, study.votes
    profile = ", ".join(number(share, ".3f") for share in fit.attractors.value)
    ends = f"[{number(rho.low, '.3f')}, {number(rho.high, '.3f')}]"
    console.print(f"error correlation {number(rho.value, '.3f')} {ends}")
    console.print(f"profile of wrong answers {profile}")
    line = f"effective votes {votes.n_eff:.2f} of {votes.k_used}"
    console.print(line if not votes.reason else f"effective votes: {votes.reason}")
    if fit.left_out:
        left_out = ", ".join(study.judges[j] for j in fit.left_out)
        console.print(f"no error correlation (always or never right): {left_out}")
    _print_accuracy(study, console)
    _print_dial(study, console)
    _print_cascade(study.cascade, console)
    if fit.held_out:
        _print_groups(fit, console)
    if study.blind_spot is not None:
        _print_blind_spot(study.blind_spot, study.judges, console)


def _print_accuracy(study: _Study, console: Console) -> None:
    fit, held = study.fit, study.held_out
    table = grid("consensus, ties", "measured", "law", "held-out law", "measured there")
    for rule in fit.measured_accuracy:
        row = [fit.measured_accuracy[rule], fit.predicted_accuracy[rule]]
        if held is not None:
            row += [held.predicted_accuracy[rule], held.measured_accuracy[rule]]
        table.add_row(rule, *map(_shown, row))
    row = [fit.measured_floor, fit.predicted_floor]
    if held is not None:
        row += [held.predicted_floor, held.measured_floor]
    table.add_row("floor", *map(_shown, row))
    console.print()
    console.print(table)
    line = f"floor: all judges agree and are wrong ({fit.floor_events:,} of {fit.n_evaluation:,})"
    if held is not None and not held.reason:
        line += f"; the held-out law is fitted to {held.n_calibration:,} items"
    console.print(line)
    _print_missing_laws(fit, held, console)


def _print_missing_laws(fit: LawFit, held: LawFit | None, console: Console) -> None:
    """One line for a law that there is not, and why."""
    if fit.reason:
        console.print(f"no law: {fit.reason}", soft_wrap=True)
    elif held is None:
        console.print("no held-out law: there is one task, and none to hold out")
    elif held.reason:
        console.print(
            f"no held-out law, fitted to {held.n_calibration:,} items (--split): {held.reason}",
            soft_wrap=True,
        )


def _print_dial(study: _Study, console: Console) -> None:
    dial, fit = study.dial, study.fit
    # The law knows full panels only.
    law = None if fit.n_incomplete else fit.law
    coverage = selective = np.full(fit.n_members, np.nan)
    if law is not None:
        coverage = law.coverage(fit.n_members)
        selective = law.selective(fit.n_members, ties=dial.ties)
    table = grid("agreement", "coverage", "accuracy", "law: coverage", "law: accuracy")
    for place, level in enumerate(dial.agreement):
        size = round(level * fit.n_members)
        table.add_row(
            f"{100 * level:.0f}% and up",
            _shown(_at(dial.coverage, place)),
            _shown(_at(dial.accuracy, place)),
            percent(coverage[size - 1]),
            percent(selective[size - 1]),
        )
    console.print()
    console.print(table)


def _print_cascade(result: Cascade, console: Console) -> None:
    table = grid("cascade", "accuracy", "escalated", "calls an item")
    calls = result.mean_calls
    table.add_row("two judges", _shown(result.pair_accuracy), "-", "2.00")
    table.add_row(
        "two, rest if they differ",
        _shown(result.accuracy),
        _shown(result.escalation),
        f"{calls.value:.2f} [{calls.low:.2f}, {calls.high:.2f}]",
    )
    n_judges = int(result.pairs.max()) + 1
    table.add_row("all judges", _shown(result.full_accuracy), "-", f"{n_judges:.2f}")
    console.print()
    console.print(table)


def _print_groups(fit: LawFit, console: Console) -> None:
    table = grid("group left out", "items", "law", "measured", "law: floor", "measured floor")
    for name, part in fit.held_out.items():
        table.add_row(
            str(name),
            f"{part.n_evaluation:,}",
            percent(part.predicted_accuracy["uniform"].value),
            _shown(part.measured_accuracy["uniform"]),
            percent(part.predicted_floor.value),
            _shown(part.measured_floor),
        )
    console.print()
    console.print(table)
    console.print("accuracies with ties shared evenly")
    for name, part in fit.held_out.items():
        if part.reason:
            console.print(f"no law without {name}: {part.reason}", soft_wrap=True)


def _print_blind_spot(result: BlindSpot, judges: list[str], console: Console) -> None:
    table = grid("pair", "both wrong", "shared errors above the law", "equal answers above others")
    for place, (i, j) in enumerate(result.pairs):
        mark = " *" if (int(i), int(j)) in result.suspects else ""
        table.add_row(
            f"{judges[i]}, {judges[j]}{mark}",
            f"{result.n_both_wrong[place]:,}",
            _shown(_at(result.error_excess_by_pair, place)),
            _shown(_at(result.same_answer_excess_by_pair, place)),
        )
    console.print()
    console.print(table)
    console.print("* an interval above zero: a blind spot that the two share")
