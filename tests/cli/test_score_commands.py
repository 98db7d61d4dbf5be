"""`ropoll doctor`, `aggregate` and `demo`: what they print, write and refuse."""

import csv
import json
import os
import signal
import subprocess
import sys
import time

import numpy as np
import polars as pl
import pyarrow.parquet as pq
import pytest
from typer.testing import CliRunner

from ropoll_core.cli._app import app
from ropoll_core.cli._common import _message
from ropoll_core.scores import geometric_median
from ropoll_core.tables import TableError, read_scores
from ropoll_core.tables._session import Session

PANEL = (
    "item,judge,x,y,z\n007,a,5,5,1\n007,b,5,1,5\n007,c,1,5,5\nNA,a,2,2,2\nNA,b,2,2,2\nNA,c,2,,2\n"
)


def ropoll(*arguments):
    return CliRunner().invoke(app, [str(argument) for argument in arguments])


def write(folder, text, name="panel.csv"):
    path = folder / name
    path.write_text(text)
    return path


def rows_of(path):
    if path.suffix == ".csv":
        with open(path, newline="") as file:
            return list(csv.DictReader(file))
    if path.suffix == ".jsonl":
        return [json.loads(line) for line in path.read_text().splitlines()]
    return pq.read_table(path).to_pylist()


@pytest.mark.parametrize("ending", ["csv", "jsonl", "parquet"])
def test_consensus_file(tmp_path, ending):
    out = tmp_path / f"out.{ending}"
    run = ropoll("aggregate", write(tmp_path, PANEL), "-o", out)
    assert run.exit_code == 0, run.output
    first, second = rows_of(out)
    assert first["item"] == "007"
    assert second["item"] == "NA"
    assert [float(first[name]) for name in "xyz"] == pytest.approx([11 / 3] * 3, abs=1e-12)
    assert [float(second[name]) for name in "xyz"] == [2, 2, 2]
    assert (int(first["n_valid"]), int(second["n_valid"])) == (3, 2)
    assert first["status"] == "certified"
    assert sorted(os.listdir(tmp_path)) == [out.name, "panel.csv"] or ending == "csv"
    assert f"wrote {out}" in run.output.replace("\n", "")


def test_what_aggregate_prints(tmp_path):
    run = ropoll("aggregate", write(tmp_path, PANEL))
    assert "6 rows: 2 items x 3 judges x 3 attributes (x, y, z)" in run.output
    assert "1 of 18 cells missing: 1 empty" in run.output
    assert "1 items whose coordinate-wise median lies far from every judge: 007" in run.output
    assert "the mean would have been off by 0.000 on average" in run.output
    assert "2 items: 2 certified" in run.output


def test_json_is_for_machines(tmp_path):
    run = ropoll("aggregate", write(tmp_path, PANEL), "--json")
    result = json.loads(run.output)
    assert result["n_items"] == 2
    assert result["unsupported"] == 1
    assert [judge["judge"] for judge in result["judges"]] == ["a", "b", "c"]
    assert result["judges"][2]["coverage"] == 0.5
    assert result["status"]["certified"] == 2
    assert result["out"] is None


def test_all_missing_and_not_unique(tmp_path):
    text = "item,judge,x,y\nq,a,,\nq,b,,\np,a,0,0\np,b,2,2\n"
    out = tmp_path / "out.csv"
    run = ropoll("aggregate", write(tmp_path, text), "-o", out)
    assert "2 items: 1 not unique, 1 all missing" in run.output
    assert rows_of(out)[0]["x"] == ""
    assert rows_of(out)[0]["status"] == "all_missing"
    assert float(rows_of(out)[1]["x"]) == 1


def test_methods_weights_and_options(tmp_path):
    path, out = write(tmp_path, PANEL), tmp_path / "out.csv"
    run = ropoll("aggregate", path, "-o", out, "--method", "mean", "--weights", "a=2")
    assert run.exit_code == 0, run.output
    assert float(rows_of(out)[0]["x"]) == 4
    run = ropoll(
        "aggregate", path, "-o", out, "--method", "trimmed_mean", "--option", "proportion=0.4"
    )
    assert run.exit_code == 0, run.output
    for arguments, message in (
        (["--method", "average"], "--method must be one of"),
        (["--method", "trimmed_mean"], "needs proportion"),
        (["--weights", "d=1"], "weights name the judge 'd'; the judges are a, b, c"),
        (["--weights", "a"], "--weights must be JUDGE=NUMBER"),
        (["--weights", "a=x"], "--weights must be JUDGE=NUMBER, got 'x' for a"),
        (["--weights", "a=-1"], "weights of judge 'a' must be a finite number in [0, inf], got -1"),
        (["--option", "workers=1"], "--option must not hold 'workers'"),
        (["--workers", "0"], "--workers must be -1"),
        (["--item", "judge", "--judge", "judge"], "--judge must be a column other than the item"),
        (["--scale", "5", "1"], "--scale must rise"),
    ):
        run = ropoll("aggregate", path, *arguments)
        assert run.exit_code == 2, arguments
        assert message in run.output


@pytest.mark.parametrize(
    ("text", "arguments", "message"),
    [
        ("item,judge,score\nq,a,3\nq,b,4/5\n", [], "line 3, column 'score': not a number: '4/5'"),
        ("item,judge,score\nq,a,3\nq,a,4\n", [], "item 'q', judge 'a': line 2 and line 3"),
        ("item,judge,score\nq,a,9\n", ["--scale", "1", "5"], "line 2, column 'score': off the"),
        ("item,judge,score\nq,a\n", [], "line 2: 2 cells where the header has 3"),
        ("item,judge,score\nq,a,x\n", [], "count such cells as missing (--on-bad missing)"),
        ("item,judge,score\nq,a,3\n", ["--where", "item=p"], "no rows are left to read"),
        ("item,judge\nq,a\n", [], "no column for the score"),
        ("q,judge,score\nq,a,3\n", [], "name it (--item)"),
        ("item;judge;score\nq;a;3\n", [], "give the delimiter (--delimiter)"),
        ("", [], "the file is empty"),
    ],
)
def test_refusals_write_nothing(tmp_path, text, arguments, message):
    path = write(tmp_path, text)
    out = write(tmp_path, "as it was", "out.csv")
    run = ropoll("aggregate", path, "-o", out, *arguments)
    assert run.exit_code == 1
    assert message in run.output
    assert out.read_text() == "as it was"
    assert sorted(os.listdir(tmp_path)) == ["out.csv", "panel.csv"]


@pytest.mark.parametrize("name", ["panel.csv", "link.csv"])
def test_the_input_is_never_written_over(tmp_path, name):
    path = write(tmp_path, PANEL)
    (tmp_path / "link.csv").symlink_to(path)
    run = ropoll("aggregate", path, "-o", tmp_path / name)
    assert run.exit_code == 1
    assert f"{name}: is the input; write to another file" in run.output
    assert path.read_text() == PANEL
    assert sorted(os.listdir(tmp_path)) == ["link.csv", "panel.csv"]


def test_nothing_but_missing_has_no_distances(tmp_path):
    run = ropoll("aggregate", write(tmp_path, "item,judge,score\nq,a,\np,a,NaN\n"))
    assert run.exit_code == 0, run.output
    assert "2 items: 2 all missing" in run.output
    assert "nan" not in run.output


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="no device that is always full")
@pytest.mark.parametrize("options", [[], ["--json"]])
def test_an_output_that_is_full(tmp_path, options):
    path = write(tmp_path, PANEL)
    with open("/dev/full", "w") as full:
        run = subprocess.run(
            [sys.executable, "-m", "ropoll_core.cli", "aggregate", path, *options],
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
        )
    assert run.returncode == 1
    assert run.stderr == "ropoll: [Errno 28] No space left on device\n"


def test_options_in_words_of_the_command_line():
    """A hint names options; what a file holds stays as written."""
    hint = 'say which (item=), or count them (on_bad="missing"); other='
    error = TableError("the columns are '(item=)'", hint)
    assert _message(error) == (
        "the columns are '(item=)'; say which (--item), or count them (--on-bad missing); other="
    )
    assert _message(ValueError("n_resamples must be at least 1")) == (
        "--resamples must be at least 1"
    )
    assert _message(ValueError("answers must be a table")) == "answers must be a table"


def test_targets_that_cannot_be_written(tmp_path):
    path = write(tmp_path, PANEL)
    for out, code, message in (
        ("out.xlsx", 2, "cannot tell the format"),
        ("none/out.csv", 1, "no such folder"),
        ("out", 2, "cannot tell the format"),
    ):
        run = ropoll("aggregate", path, "-o", tmp_path / out)
        assert run.exit_code == code
        assert message in run.output
    assert os.listdir(tmp_path) == ["panel.csv"]
    run = ropoll("aggregate", tmp_path / "none.csv")
    assert run.exit_code == 1
    assert "no such file" in run.output


def test_bad_cells_counted_as_missing(tmp_path):
    path = write(tmp_path, "item,judge,score\nq,a,3\nq,b,4/5\nq,c,-1\n")
    run = ropoll("aggregate", path, "--on-bad", "missing", "--missing-values", "-1", "--json")
    left_out = json.loads(run.output)["left_out"]
    assert (left_out["bad"], left_out["declared"]) == (1, 1)
    assert left_out["examples"] == ["line 3, column 'score': not a number: '4/5'"]


def test_doctor_on_a_clean_table(tmp_path):
    path = write(tmp_path, "item,judge,x,y\nq,a,0,0\nq,b,1,2\np,b,0,1\n")
    run = ropoll("doctor", path)
    assert run.exit_code == 0
    assert "columns: item = item, judge = judge" in run.output
    assert "no wrong cells, no repeated keys" in run.output
    result = json.loads(ropoll("doctor", path, "--json").output)
    assert result["zero_rows"] == [1, 0]
    assert result["coverage"] == [0.5, 1.0]
    assert result["clean"] is True


def test_doctor_finds_all_there_is(tmp_path):
    path = write(tmp_path, "item,judge,score\nq,a,3\nq,b,4/5\nq,a,9\np,a,\n")
    run = ropoll("doctor", path, "--scale", "1", "5")
    assert run.exit_code == 1
    assert "2 wrong cells, 1 rows that repeat a key:" in run.output
    for problem in (
        "line 3, column 'score': not a number: '4/5'",
        "line 4, column 'score': off the scale: '9'",
        "item 'q', judge 'a': line 2 and line 4",
    ):
        assert problem in run.output
    result = json.loads(ropoll("doctor", path, "--json").output)
    assert (result["wrong"], result["duplicates"], result["clean"]) == (1, 1, False)


def test_demo(tmp_path):
    folder = tmp_path / "demo"
    run = ropoll("demo", folder)
    assert run.exit_code == 0, run.output
    assert "eve is broken" in run.output
    consensus = pl.read_csv(folder / "consensus.csv")
    panel = read_scores(folder / "scores.csv")
    names = list(panel.attributes)
    np.testing.assert_array_equal(consensus[names].to_numpy(), geometric_median(panel.scores))
    before = (folder / "scores.csv").read_bytes()
    run = ropoll("demo", folder)
    assert run.exit_code == 1
    assert "is there already" in run.output
    assert ropoll("demo", tmp_path / "again").exit_code == 0
    assert (tmp_path / "again" / "scores.csv").read_bytes() == before


def test_nothing_but_json_in_a_pipe(tmp_path):
    path = write(tmp_path, PANEL)
    command = [sys.executable, "-m", "ropoll_core.cli", "aggregate", str(path), "--json"]
    run = subprocess.run(command, capture_output=True, text=True, check=True)
    json.loads(run.stdout)
    assert run.stderr == ""


def test_the_engine_draws_no_bar_of_its_own(capfd):
    with Session() as session:
        session.execute("SET progress_bar_time = 1")
        session.execute("SELECT max(hash(i)) FROM range(10000000) t(i)")
    assert capfd.readouterr() == ("", "")


@pytest.mark.slow
@pytest.mark.parametrize("after", [0.2, 1.5])
def test_interrupt_leaves_nothing_behind(tmp_path, after):
    path, out, scratch = tmp_path / "panel.csv", tmp_path / "out.csv", tmp_path / "scratch"
    scratch.mkdir()
    i = pl.col("i")
    frame = pl.select(i=pl.int_range(8_000_000))
    frame.select(item=i // 5, judge=i % 5, score=i % 7).write_csv(path)
    command = [sys.executable, "-m", "ropoll_core.cli", "aggregate", str(path), "-o", str(out)]
    environment = {**os.environ, "TMPDIR": str(scratch)}
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True, env=environment) as run:
        while not os.listdir(scratch):  # until it has begun to read
            time.sleep(0.02)
            assert run.poll() is None
        time.sleep(after)
        assert run.poll() is None, "done before it could be interrupted"
        start = time.monotonic()
        run.send_signal(signal.SIGINT)
        _, errors = run.communicate(timeout=60)
        assert time.monotonic() - start < 10
    assert errors == "ropoll: interrupted; nothing was written\n"
    assert run.returncode == 130
    assert sorted(os.listdir(tmp_path)) == ["panel.csv", "scratch"]
    assert os.listdir(scratch) == []


def test_dialogue_ratings(real_data, tmp_path):
    path, out = real_data / "fed_scores.csv", tmp_path / "out.csv"
    run = ropoll("aggregate", path, "-o", out)
    assert run.exit_code == 1
    assert "line 44, column 'Correct': not a number" in run.output
    assert not out.exists()
    run = ropoll("aggregate", path, "-o", out, "--on-bad", "missing")
    assert run.exit_code == 0
    consensus = pl.read_csv(out)
    assert consensus.height == 375
    assert not consensus.select(pl.exclude("item", "status")).to_numpy().astype(float).max() > 100
    assert set(consensus["status"]) <= {"certified", "not_unique"}
