"""Tables end to end: long and semi-wide files to a consensus file, beside pandas and polars.

    python bench/tables.py            ratios at 50,000 items, then time and memory at 1,000,000

The ratios are taken at 50,000 items x 5 judges x 5 attributes, 5 % of the rows missing, where
pandas still ends in reasonable time. "read and write back" is DuckDB copying the same file to
Parquet and nothing else: the floor for any reader built on it.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
import time
from pathlib import Path

import duckdb
import numpy as np
import pandas as pd
import polars as pl
from timing import Row, compare, interleave, print_rows

from ropoll_core.tables import aggregate_table, consensus_columns, read_scores, write_table

N_JUDGES = N_ATTRIBUTES = 5
ENDINGS = {"long": ("csv", "parquet", "jsonl"), "semi-wide": ("csv", "parquet")}


def write_files(folder: Path, n_items: int) -> dict[tuple[str, str], Path]:
    """The same panel in each form and format, in row order of items."""
    n_rows = n_items * N_JUDGES * N_ATTRIBUTES
    con = duckdb.connect()
    con.execute(
        f"""CREATE VIEW long AS SELECT 'q' || (i // 25) AS item, 'judge-' || (i // 5 % 5) AS judge,
        'attr' || (i % 5) AS attribute, round(hash(i) % 400 / 100 + 1, 2) AS score
        FROM range({n_rows}) t(i) WHERE hash(i * 7) % 20 > 0"""
    )
    columns = ", ".join(
        f"max(score) FILTER (attribute = 'attr{a}') AS attr{a}" for a in range(N_ATTRIBUTES)
    )
    queries = {
        "long": "FROM long",
        "semi-wide": f"SELECT item, judge, {columns} FROM long GROUP BY item, judge "
        "ORDER BY item, judge",
    }
    formats = {"csv": "FORMAT csv, HEADER", "parquet": "FORMAT parquet", "jsonl": "FORMAT json"}
    files = {}
    for form, endings in ENDINGS.items():
        for ending in endings:
            path = folder / f"{form}-{n_items}.{ending}"
            con.execute(f"COPY ({queries[form]}) TO '{path}' ({formats[ending]})")
            files[form, ending] = path
    return files


def ours(path: Path) -> np.ndarray:
    return read_scores(path, workers=-1).scores


def by_pandas(path: Path, form: str, ending: str) -> np.ndarray:
    readers = {
        "csv": lambda: pd.read_csv(path, dtype={"item": str, "judge": str}),
        "parquet": lambda: pd.read_parquet(path),
        "jsonl": lambda: pd.read_json(path, lines=True, dtype=False),
    }
    frame = readers[ending]()
    keys = ["item", "judge", "attribute"] if form == "long" else ["item", "judge"]
    table = frame.set_index(keys)
    if form == "long":
        table = table["score"].unstack("attribute")
    table = table.unstack("judge")  # columns (attribute, judge), items sorted
    shape = (len(table), N_ATTRIBUTES, N_JUDGES)
    return table.to_numpy().reshape(shape).transpose(0, 2, 1)


def by_polars(path: Path, form: str, ending: str) -> np.ndarray:
    readers = {"csv": pl.read_csv, "parquet": pl.read_parquet, "jsonl": pl.read_ndjson}
    frame = readers[ending](path)
    on = ["judge", "attribute"] if form == "long" else ["judge"]
    values = ["score"] if form == "long" else [f"attr{a}" for a in range(N_ATTRIBUTES)]
    table = frame.pivot(on=on, index="item", values=values, maintain_order=True)
    names = sorted(table.columns[1:])
    grid = table.select(names).to_numpy()
    if form == "long":  # sorted by (judge, attribute)
        return grid.reshape(-1, N_JUDGES, N_ATTRIBUTES)
    return grid.reshape(-1, N_ATTRIBUTES, N_JUDGES).transpose(0, 2, 1)


def read_and_write_back(path: Path, ending: str) -> None:
    readers = {
        "csv": f"read_csv('{path}', all_varchar=true)",
        "parquet": f"read_parquet('{path}')",
        "jsonl": f"read_json('{path}', format='newline_delimited')",
    }
    target = path.with_suffix(".copy")
    duckdb.connect().execute(f"COPY (FROM {readers[ending]}) TO '{target}' (FORMAT parquet)")
    target.unlink()


def agree(path: Path, form: str, ending: str) -> None:
    """Same scores whatever the order of items, judges and attributes."""
    panel = read_scores(path, workers=-1)
    items, judges, attributes = (
        np.argsort(names.astype(str)) for names in (panel.items, panel.judges, panel.attributes)
    )
    expected = panel.scores[items][:, judges][:, :, attributes]
    # pandas reads the digits of CSV and JSON to within a rounding, DuckDB and polars exactly
    np.testing.assert_allclose(by_pandas(path, form, ending), expected, rtol=1e-15)
    unsorted = panel.scores[:, judges][:, :, attributes]
    np.testing.assert_array_equal(by_polars(path, form, ending), unsorted)


def measure(n_items: int = 50_000, rounds: int = 3) -> list[Row]:
    """A row for each form, format and peer."""
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        for (form, ending), path in write_files(Path(folder), n_items).items():
            agree(path, form, ending)
            calls = {
                "ours": lambda path=path: ours(path),
                "pandas": lambda path=path, f=form, e=ending: by_pandas(path, f, e),
                "polars": lambda path=path, f=form, e=ending: by_polars(path, f, e),
                "read and write back": lambda path=path, e=ending: read_and_write_back(path, e),
            }
            timings = interleave(calls, rounds=rounds)
            case = f"{form} {ending}, {n_items:,} x 5 x 5"
            rows += compare("read a table", case, timings, "ours")
    return rows


def peak_mb() -> float:
    """Peak resident memory of this process. (ru_maxrss counts the parent before exec too.)"""
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith("VmHWM"):
            return int(line.split()[1]) / 1024
    raise RuntimeError("/proc/self/status has no VmHWM")


def _child(path: str) -> None:
    start = time.perf_counter()
    result = aggregate_table(path, workers=-1)
    middle = time.perf_counter()
    write_table(f"{path}.out.parquet", consensus_columns(result), workers=-1)
    seconds = middle - start, time.perf_counter() - middle
    print(
        f"{seconds[0]:6.1f} s + {seconds[1]:4.1f} s to write, "
        f"{time.process_time():5.1f} s of processor, {peak_mb():5.0f} MB"
    )


def footprint(n_items: int = 1_000_000) -> None:
    """Time and memory of a whole aggregation, each in a process of its own."""
    with tempfile.TemporaryDirectory() as folder:
        for (form, ending), path in write_files(Path(folder), n_items).items():
            command = [sys.executable, __file__, "--child", str(path)]
            run = subprocess.run(command, capture_output=True, text=True, check=True)
            size = path.stat().st_size / 1e6
            print(f"{form:<9} {ending:<8} {n_items:,} items, {size:5.0f} MB file: ", end="")
            print(run.stdout, end="")


if __name__ == "__main__":
    if sys.argv[1:2] == ["--child"]:
        _child(sys.argv[2])
    else:
        print_rows(measure())
        footprint()
