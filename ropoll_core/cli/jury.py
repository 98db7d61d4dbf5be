"""`ropoll jury`: a panel's agreement as a verifier, measured and predicted."""

from __future__ import annotations

import dataclasses
from enum import StrEnum
from typing import Annotated, Any, NamedTuple

import numpy as np
import typer
from numpy.typing import NDArray
from rich.console import Console

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
        study = _study(table, table.gold, member, split, ties.value, blind_spots, options)
    emit(json, lambda: _as_json(study), lambda console: _print(study, console))


class _Study(NamedTuple):
    judges: list[str]
    n_items: int
    votes: EffectiveVotes
    fit: LawFit
    held_out: LawFit
    dial: SelectiveAccuracy
    cascade: Cascade
    blind_spot: BlindSpot | None


def _study(
    table: AnswerTable,
    gold: NDArray[np.int32],
    member: list[str] | None,
    split: float,
    ties: str,
    blind_spots: bool,
    options: dict[str, Any],
) -> _Study:
    columns = _members(table, member)
    codes = np.ascontiguousarray(table.answers[:, columns])
    # The codes are their own classes, so that -1 is missing, in answers and in gold.
    options = options | {"key": codes, "tasks": table.tasks}
    fit = ConsensusLaw.fit(codes, gold, groups=table.groups, **options)
    held_out = ConsensusLaw.fit(codes, gold, split=split, **options)
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


def _members(table: AnswerTable, member: list[str] | None) -> list[int]:
    names = [str(name) for name in table.judges]
    if not member:
        return list(range(len(names)))
    for name in member:
        if name not in names:
            raise ValueError(f"--member names {name!r}; the judges are {', '.join(names)}")
    if len(set(member)) < len(member):
        raise ValueError("--member names a judge twice")
    return [names.index(name) for name in member]


# For machines


def _fit_as_json(fit: LawFit) -> dict[str, Any]:
    values = {f.name: getattr(fit, f.name) for f in dataclasses.fields(fit)}
    law = values.pop("law")
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
        "held_out": _fit_as_json(study.held_out),
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
    rho = fit.correlation
    profile = ", ".join(f"{share:.3f}" for share in fit.attractors.value)
    console.print(f"error correlation {rho.value:.3f} [{rho.low:.3f}, {rho.high:.3f}]")
    console.print(f"profile of wrong answers {profile}")
    console.print(f"effective votes {study.votes.n_eff:.2f} of {study.votes.k_used}")
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
        table.add_row(
            rule,
            _shown(fit.measured_accuracy[rule]),
            _shown(fit.predicted_accuracy[rule]),
            _shown(held.predicted_accuracy[rule]),
            _shown(held.measured_accuracy[rule]),
        )
    table.add_row(
        "floor",
        _shown(fit.measured_floor),
        _shown(fit.predicted_floor),
        _shown(held.predicted_floor),
        _shown(held.measured_floor),
    )
    console.print()
    console.print(table)
    console.print(
        f"floor: all judges agree and are wrong ({fit.floor_events:,} of {fit.n_evaluation:,}); "
        f"the held-out law is fitted to {held.n_calibration:,} items"
    )


def _print_dial(study: _Study, console: Console) -> None:
    dial, fit = study.dial, study.fit
    # The law knows full panels only.
    complete = fit.n_incomplete == 0
    coverage = fit.law.coverage(fit.n_members)
    selective = fit.law.selective(fit.n_members, ties=dial.ties)
    table = grid("agreement", "coverage", "accuracy", "law: coverage", "law: accuracy")
    for place, level in enumerate(dial.agreement):
        size = round(level * fit.n_members)
        table.add_row(
            f"{100 * level:.0f}% and up",
            _shown(_at(dial.coverage, place)),
            _shown(_at(dial.accuracy, place)),
            percent(coverage[size - 1]) if complete else "-",
            percent(selective[size - 1]) if complete else "-",
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
