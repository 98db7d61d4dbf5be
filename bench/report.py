"""Write docs/benchmarks.md, and the table between the markers of README.md, from fresh runs.

    python bench/report.py             every area (about half an hour)
    python bench/report.py votes jury  these areas; the others keep their rows

Rows are kept in docs/benchmarks.json, an area at a time, with the machine and the day of each.
Unset OPENBLAS_CORETYPE and OPENBLAS_L2_SIZE when they are set, so that NumPy is timed fairly.
"""

from __future__ import annotations

import dataclasses
import importlib
import json
import sys
from pathlib import Path

from timing import Row, machine, print_rows

AREAS = ("geometric_median", "scores_toolbox", "tables", "votes", "resampling", "jury", "study")
ROOT = Path(__file__).resolve().parents[1]
STORE = ROOT / "docs" / "benchmarks.json"
START, END = "<!-- benchmarks: begin -->", "<!-- benchmarks: end -->"
HEAD = ["| what | case | ours, ms | against | times faster | range | target |", "|" + "---|" * 7]


def line(row: Row) -> str:
    target = "" if row.target is None else f"{row.target:g}" + ("" if row.met else " (missed)")
    cells = [
        row.what,
        row.case,
        f"{row.ours * 1e3:.4g}",
        row.against,
        f"{row.ratio:.3g}",
        f"{row.low:.3g} to {row.high:.3g}",
        target,
    ]
    return "| " + " | ".join(cells) + " |"


def render(store: dict[str, dict[str, object]], *, only_targets: bool) -> list[str]:
    lines: list[str] = []
    for area in AREAS:
        if area not in store:
            continue
        entry = store[area]
        rows = [Row(**row) for row in entry["rows"]]  # type: ignore[attr-defined]
        if only_targets:
            rows = [row for row in rows if row.target is not None]
        if not rows:
            continue
        where = ", ".join(f"{key} {value}" for key, value in entry["machine"].items())  # type: ignore[attr-defined]
        lines += [f"`python bench/report.py {area}` ({where}):", "", *HEAD, *map(line, rows), ""]
    return lines


def main(areas: list[str]) -> None:
    store = json.loads(STORE.read_text(encoding="utf-8")) if STORE.exists() else {}
    for area in areas or list(AREAS):
        if area not in AREAS:
            raise SystemExit(f"no area {area!r}; there are {', '.join(AREAS)}")
        rows = importlib.import_module(area).measure()
        print_rows(rows)
        store[area] = {"machine": machine(), "rows": [dataclasses.asdict(row) for row in rows]}
        STORE.write_text(json.dumps(store, indent=1) + "\n", encoding="utf-8")
    title = ["# Benchmarks", "", "Written by `python bench/report.py`; do not edit.", ""]
    document = "\n".join(title + render(store, only_targets=False))
    (ROOT / "docs" / "benchmarks.md").write_text(document, encoding="utf-8")
    readme = ROOT / "README.md"
    before, _, rest = readme.read_text(encoding="utf-8").partition(START)
    _, _, after = rest.partition(END)
    table = "\n".join(render(store, only_targets=True))
    readme.write_text(f"{before}{START}\n{table}{END}{after}", encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1:])
