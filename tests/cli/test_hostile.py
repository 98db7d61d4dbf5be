"""Whatever is given, one message names what is wrong, and nothing is left behind."""

import json
import shlex

import pytest
from typer.testing import CliRunner

from ropoll_core._results.scores import Status
from ropoll_core.cli._app import app
from ropoll_core.scores import geometric_median
from ropoll_core.tables import read_scores

FILES = {
    "scores.csv": "item,judge,x,y\n"
    + "".join(
        f"q{i},{j},{(i + k) % 5},{i * k % 5}\n" for i in range(9) for k, j in enumerate("abc")
    ),
    "votes.csv": "item,judge,vote,label\nq,a,1,1\nq,b,0,1\n",
    "answers.csv": "item,judge,answer,gold\nq,a,A,A\nq,b,B,A\n",
    "cases.csv": "item,judge,Gap,Item2,X\nq,a,1,2,3\nq,b,2,3,4\nq,c,1,1,1\n",
    "page.csv": "<html><body>not found</body></html>\n<p>x</p>\n",
    "wide.csv": "item,judge,score\nq,a,1\n".encode("utf-16"),
    "stub.parquet": b"PAR1xxxxPAR1",
    "lines.csv": 'item,judge,score\n"q\n1",a,1\n"q\n1",b,x\n',
}
RUNS = [
    ("doctor none.csv", 1, "none.csv: no such file"),
    ("doctor folder.csv", 1, "folder.csv: is a folder, not a file"),
    ("doctor page.csv", 1, "page.csv: no column for the item"),
    ("doctor wide.csv", 1, "wide.csv, line 1: a NUL byte"),
    ("doctor stub.parquet", 1, "stub.parquet: not a Parquet file"),
    ("doctor scores.csv --scale nan 1", 2, "--scale must be a finite number"),
    ("doctor scores.csv --attributes ,", 2, "--attributes must be names between commas, got ','"),
    ("doctor scores.csv --where judge", 2, "--where must be NAME=TEXT, got 'judge'"),
    ("doctor scores.csv --item x --judge x", 2, "--judge must be a column other than the item"),
    ("aggregate lines.csv -o o.csv", 1, "line 4, column 'score': not a number: 'x'"),
    ("aggregate scores.csv -o folder.csv", 1, "folder.csv: is a folder, not a file"),
    ("aggregate scores.csv --weights a", 2, "--weights must be JUDGE=NUMBER, got 'a'"),
    ("aggregate scores.csv --weights a=x", 2, "--weights must be JUDGE=NUMBER, got 'x' for a"),
    ("aggregate scores.csv --weights b=-1", 2, "weights of judge 'b' must be a finite number in"),
    ("aggregate scores.csv --option solver=fast", 2, "solver must be one of newton, weiszfeld"),
    ("aggregate scores.csv --option tol=-1", 2, "tol must be a finite number in [0, inf]"),
    ("aggregate scores.csv --option out=1", 2, "--option must not hold 'out'"),
    ("aggregate scores.csv --option full_output=1", 2, "--option must not hold 'full_output'"),
    ("pivotal votes.csv --gold vote", 1, "no column is left for the vote: 'vote' is something"),
    ("pivotal votes.csv -o votes.csv", 1, "votes.csv: is the input; write to another file"),
    ("jury answers.csv --blind-spots", 2, "--blind-spots needs 3 to 12 judges, got 2 (--member)"),
    ("simulate scores.csv --gold a", 2, "--scale must be given for scores of your own"),
    ("simulate scores.csv --gold a --scale 0 4 --items 5", 2, "--items: of generated juries"),
    ("simulate scores.csv --gold a --scale 0 4 --report scores.csv", 1, "scores.csv: is the input"),
    ("simulate scores.csv --gold a --scale 0 4 --state scores.csv", 1, "scores.csv: is the input"),
    ("simulate --judges 1", 2, "--judges must be at least 2, got 1"),
    ("simulate --replicates 0", 2, "--replicates must be from 1 to"),
    ("simulate --corruption nope", 2, "--corruption must be one of zeros, inverted"),
    ("simulate --corruption zeros --corruption zeros", 2, "--corruption must not repeat a name"),
    ("simulate --report folder.csv", 1, "folder.csv: is a folder, not a file"),
    ("simulate --report none/page.md", 1, "none: no such folder"),
    ("simulate --state none/state", 1, "none: no such folder"),
    ("simulate --state scores.csv --items 5", 2, "--state must be a file that a sweep wrote"),
    ("simulate --plot scores.csv", 1, "scores.csv: is a file, not a folder"),
    ("demo scores.csv/x", 1, "scores.csv/x: Not a directory"),
    ("demo new --seed -1", 2, "--seed must be at least 0, got -1"),
    ("demo new --votes --seed -1", 2, "--seed must be at least 0, got -1"),
]  # fmt: skip


@pytest.fixture
def folder(tmp_path, monkeypatch):
    for name, content in FILES.items():
        (tmp_path / name).write_bytes(content if isinstance(content, bytes) else content.encode())
    (tmp_path / "folder.csv").mkdir()
    monkeypatch.chdir(tmp_path)
    return tmp_path


def contents(folder):
    return {path: path.read_bytes() for path in folder.rglob("*") if path.is_file()}


@pytest.mark.parametrize(("command", "code", "message"), RUNS)
def test_one_message_and_nothing_left(folder, command, code, message):
    before = contents(folder)
    run = CliRunner().invoke(app, shlex.split(command))
    assert isinstance(run.exception, SystemExit), run.output
    assert run.exit_code == code
    assert run.output.startswith("ropoll: ")
    assert message in run.output
    assert contents(folder) == before
    assert sorted(path.name for path in folder.iterdir()) == sorted([*FILES, "folder.csv"])


def test_a_text_option_of_a_method(folder):
    options = ["--option", "solver=weiszfeld", "--option", "max_iter=1"]
    run = CliRunner().invoke(app, ["aggregate", "scores.csv", "--json", *options])
    assert run.exit_code == 0, run.output
    panel = read_scores("scores.csv")
    expected = geometric_median(panel.scores, solver="weiszfeld", max_iter=1, full_output=True)
    counts = {status.name.lower(): int((expected.status == status).sum()) for status in Status}
    assert json.loads(run.output)["status"] == counts
    assert counts["certified"] < len(panel.items)


def test_an_attribute_may_be_called_as_a_column_of_the_result(folder):
    run = CliRunner().invoke(app, ["aggregate", "cases.csv", "-o", "out.csv"])
    assert run.exit_code == 0, run.output
    header = (folder / "out.csv").read_text().splitlines()[0]
    assert header == "item,Gap,Item2,X,n_valid,status,gap_"
