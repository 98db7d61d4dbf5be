"""`ropoll simulate`: aggregators under corruption, on generated juries or on a user's scores."""

from __future__ import annotations

import importlib.util
import os
import shlex
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

from ropoll_core._checks.options import as_choice, as_count
from ropoll_core.cli._common import (
    Delimiter,
    Item,
    Json,
    Judge,
    MissingValues,
    OnBad,
    OnBadOption,
    Out,
    Where,
    Workers,
    emit,
    grid,
    option_of,
    reported,
)
from ropoll_core.cli._gold import read_with_gold
from ropoll_core.cli._scores import (
    Attribute,
    Attributes,
    Decimal,
    Scale,
    Score,
    read_options,
)
from ropoll_core.cli._study import PRESETS, Study, StudyOptions, run_study
from ropoll_core.cli._study_report import markdown, save_figures, summary_rate, summary_rows
from ropoll_core.contamination import CORRUPTIONS
from ropoll_core.scores import METHODS
from ropoll_core.tables import check_target, complete_or_nothing, write_table

__all__ = ["simulate"]

_GENERATED = "Generated jury: "


def simulate(
    file: Annotated[
        Path | None,
        typer.Argument(help="Scores of your own; without it a jury is generated."),
    ] = None,
    gold: Annotated[
        str | None,
        typer.Option(
            help="The judge of FILE whose scores are the truth.",
            metavar="JUDGE",
        ),
    ] = None,
    gold_file: Annotated[
        Path | None,
        typer.Option(
            help="A table of the true scores, as FILE but for the column of judges.",
            metavar="FILE",
        ),
    ] = None,
    preset: Annotated[
        str, typer.Option(help=f"Items and replicates: {' or '.join(PRESETS)}.", metavar="NAME")
    ] = "quick",
    method: Annotated[
        list[str] | None,
        typer.Option(help=f"Repeatable; of {', '.join(METHODS)}.", metavar="NAME"),
    ] = None,
    corruption: Annotated[
        list[str] | None,
        typer.Option(help=f"Repeatable; of {', '.join(CORRUPTIONS)}.", metavar="NAME"),
    ] = None,
    rate: Annotated[
        list[float] | None, typer.Option(help="A corruption rate; repeatable.", metavar="R")
    ] = None,
    size: Annotated[
        list[int] | None, typer.Option(help="A committee size; repeatable.", metavar="N")
    ] = None,
    replicates: Annotated[
        int | None, typer.Option(help="Independent corruptions of each item.", metavar="N")
    ] = None,
    colluding: Annotated[
        bool, typer.Option("--colluding", help="Corrupted judges report one and the same.")
    ] = False,
    items: Annotated[int | None, typer.Option(help=_GENERATED + "items.", metavar="N")] = None,
    judges: Annotated[int | None, typer.Option(help=_GENERATED + "judges.", metavar="N")] = None,
    sigma: Annotated[
        float | None, typer.Option(help=_GENERATED + "sd of a judge's error.", metavar="S")
    ] = None,
    correlation: Annotated[
        float | None, typer.Option(help=_GENERATED + "correlation of errors.", metavar="GAMMA")
    ] = None,
    failure_rate: Annotated[
        float | None, typer.Option(help=_GENERATED + "natural failure rate.", metavar="F")
    ] = None,
    scale: Scale = None,
    seed: Annotated[int, typer.Option(help="Of every random draw.", metavar="N")] = 0,
    out: Out = None,
    plot: Annotated[
        Path | None, typer.Option(help="Folder for figures (extra: plot).", metavar="FOLDER")
    ] = None,
    report: Annotated[
        Path | None, typer.Option(help="Write a page in Markdown.", metavar="FILE.md")
    ] = None,
    state: Annotated[
        Path | None,
        typer.Option(help="Keep what is done here; start again to go on.", metavar="FILE"),
    ] = None,
    item: Item = None,
    judge: Judge = None,
    attribute: Attribute = None,
    score: Score = None,
    attributes: Attributes = None,
    where: Where = None,
    missing_values: MissingValues = None,
    on_bad: OnBadOption = OnBad.RAISE,
    delimiter: Delimiter = None,
    decimal: Decimal = ".",
    workers: Workers = -1,
    json: Json = False,
) -> None:
    """Errors of aggregators as judges are corrupted: by rate, corruption and jury size."""
    with reported():
        _check_targets([file, gold_file], out, plot, report, state)
        if judges is not None:
            as_count(judges, "--judges", least=2)
        jury = {
            "n_items": items,
            "n_judges": judges,
            "sigma": sigma,
            "correlation": correlation,
            "failure_rate": failure_rate,
        }
        options = StudyOptions(
            preset=as_choice(preset, "--preset", PRESETS),
            jury={name: value for name, value in jury.items() if value is not None},
            scale=scale,
            methods=tuple(method) if method else StudyOptions.methods,
            corruptions=tuple(corruption) if corruption else StudyOptions.corruptions,
            rates=tuple(rate) if rate else StudyOptions.rates,
            sizes=tuple(size) if size else None,
            n_replicates=replicates,
            colluding=colluding,
            seed=seed,
            workers=workers,
            state=state,
        )
        data, source = None, ""
        if file is not None:
            if options.jury:
                given = ", ".join(str(option_of(name)) for name in options.jury)
                raise ValueError(f"{given}: of generated juries, not of a FILE")
            reading = read_options(
                item=item, judge=judge, attribute=attribute, score=score, attributes=attributes,
                where=where, missing_values=missing_values, scale=scale, delimiter=delimiter,
                decimal=decimal, workers=workers,
            )  # fmt: skip
            reading["on_bad"] = on_bad.value
            data, source = read_with_gold(file, gold, gold_file, reading, quiet=json)
        elif gold is not None or gold_file is not None:
            raise ValueError("--gold and --gold-file go with a FILE, and none is given")
        started = time.perf_counter()
        with _bar() as progress:
            study = run_study(options, data, source, progress)
        seconds = time.perf_counter() - started
        written = _write(study, seconds, out=out, plot=plot, report=report)
        emit(json, lambda: _as_json(study), lambda screen: _print(study, written, screen))


def _check_targets(
    inputs: list[Path | None],
    out: Path | None,
    plot: Path | None,
    report: Path | None,
    state: Path | None,
) -> None:
    """Raise before any work is done if something could not be written after it."""
    for source in inputs:
        if out is not None:
            check_target(out, source)
    for path in (report, state):
        if path is None:
            continue
        if not path.absolute().parent.is_dir():
            raise FileNotFoundError(2, "no such folder", str(path.parent))
        if path.is_dir():
            raise IsADirectoryError(21, "is a folder, not a file", str(path))
        for source in inputs:
            there = source is not None and source.exists() and path.exists()
            if source is not None and there and path.samefile(source):
                raise FileExistsError(17, "is the input; write to another file", str(path))
    if plot is not None and plot.exists() and not plot.is_dir():
        raise NotADirectoryError(20, "is a file, not a folder", str(plot))
    if plot is not None and importlib.util.find_spec("matplotlib") is None:
        raise ImportError("--plot needs matplotlib: pip install 'ropoll-core[plot]'")


@contextmanager
def _bar() -> Iterator[Callable[[str, int, int], None] | None]:
    """A progress bar on stderr; nothing where stderr is no terminal."""
    if not sys.stderr.isatty():
        yield None
        return
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        tasks: dict[str, Any] = {}

        def update(label: str, done: int, total: int) -> None:
            if label not in tasks:
                tasks[label] = bar.add_task(label, total=total)
            bar.update(tasks[label], completed=done)

        yield update


def _write(
    study: Study, seconds: float, *, out: Path | None, plot: Path | None, report: Path | None
) -> list[Path]:
    written: list[Path] = []
    if out is not None:
        write_table(out, study.table())
        written.append(out)
    if plot is not None:
        written += save_figures(study, plot)
    if report is not None:
        command = shlex.join(["ropoll", *sys.argv[1:]])
        figures = None
        if plot is not None:
            figures = Path(os.path.relpath(plot, report.parent)).as_posix()
        page = markdown(study, command=command, seconds=seconds, figures=figures)
        with complete_or_nothing(report) as temporary:
            Path(temporary).write_text(page, encoding="utf-8")
        written.append(report)
    return written


def _as_json(study: Study) -> dict[str, Any]:
    return {
        "source": study.source,
        "gamma": study.gamma,
        "error_gamma": study.error_gamma,
        "indicator_gamma": study.indicator.gamma,
        "claims": list(study.claims),
        "cells": study.table(),
    }


def _print(study: Study, written: list[Path], screen: Console) -> None:
    sweep = study.grid
    screen.print(study.source)
    screen.print(
        f"{sweep.n_panels:,} panels a cell; correlation of judges' scores {study.gamma:.2f}, of "
        f"their errors {study.error_gamma:.2f}, of their successes (gamma_W at .5) "
        f"{study.indicator.gamma[0]:.2f}"
    )
    if sweep.n_unknown:
        screen.print(f"{sweep.n_unknown:,} items without truth left out")
    rate = sweep.rates[summary_rate(sweep)]
    for seat, committee in enumerate(sweep.committees):
        names = [name.replace("_", " ") for name in sweep.methods]
        table = grid(
            "corruption", *names, title=f"\nRMSE at corruption rate {rate:g}, {committee} judges"
        )
        for row in summary_rows(sweep, seat):
            table.add_row(*row)
        screen.print(table)
    for (name, committee), reason in sweep.not_applicable.items():
        screen.print(f"{name} does not apply to {committee} judges: {reason}")
    if study.claims:
        screen.print("\nClaims of the paper, and for which committees they hold:")
    for statement in dict.fromkeys(claim.statement for claim in study.claims):
        held, failed = (
            ", ".join(
                c.committee for c in study.claims if c.statement == statement and c.holds is v
            )
            for v in (True, False)
        )
        screen.print(f"  {statement}: holds for {held or 'none'}; not for {failed or 'none'}")
    for path in written:
        screen.print(f"wrote {path}")
