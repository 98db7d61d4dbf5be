"""What is a message and what is a traceback, and by which option a message calls a thing."""

import subprocess
import sys

import numpy as np
import pytest
from typer.testing import CliRunner

from ropoll_core.cli import aggregate as command
from ropoll_core.cli._app import app

TABLE = "item,judge,score,vote,answer,label,subject\np,a,1,1,x,1,s\np,b,2,0,y,1,s\nq,a,3,1,x,0,s\n"


@pytest.fixture
def table(tmp_path):
    path = tmp_path / "table.csv"
    path.write_text(TABLE)
    return path


@pytest.mark.parametrize(
    ("fault", "error"),
    [
        (lambda *_, **__: None + 1, TypeError),
        (lambda *_, **__: np.zeros(2) + np.zeros(3), ValueError),
        (lambda *_, **__: int("4/5"), ValueError),
        (lambda *_, **__: __import__("no_such_package"), ImportError),
        (lambda *_, **__: {}["key"], KeyError),
    ],
)
def test_a_programming_error_is_seen(table, monkeypatch, fault, error):
    monkeypatch.setattr(command, "aggregate_table", fault)
    run = CliRunner().invoke(app, ["aggregate", str(table)])
    assert run.exit_code == 1
    assert isinstance(run.exception, error)
    assert "ropoll:" not in run.output


def test_its_traceback_is_printed(table):
    code = (
        "import sys; from ropoll_core.cli import aggregate as command, main\n"
        "command.aggregate_table = lambda *_, **__: None + 1\n"
        f"sys.argv = ['ropoll', 'aggregate', {str(table)!r}]\n"
        "main()\n"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert run.returncode == 1
    assert "Traceback" in run.stderr
    assert "TypeError: unsupported operand" in run.stderr


def test_wrong_use_is_a_message(table):
    run = CliRunner().invoke(app, ["aggregate", str(table), "--method", "average"])
    assert run.exit_code == 2
    assert run.output.startswith("ropoll: --method must be one of geometric_median, mean")
    assert len(run.output.splitlines()) == 1


@pytest.mark.parametrize(
    ("command", "option"),
    [
        ("aggregate", "--item"), ("aggregate", "--judge"), ("aggregate", "--attribute"),
        ("aggregate", "--score"), ("aggregate", "--attributes"), ("doctor", "--score"),
        ("pivotal", "--gold"), ("pivotal", "--task"), ("pivotal", "--vote"), ("jury", "--gold"),
        ("jury", "--task"), ("jury", "--group"), ("jury", "--answer"),
    ],
)  # fmt: skip
def test_a_column_that_is_not_there_is_named_with_its_option(table, command, option):
    run = CliRunner().invoke(app, [command, str(table), option, "x"])
    assert run.exit_code == 1
    assert run.output == (
        f"ropoll: {table}: no column 'x'; the columns are 'item', 'judge', 'score', 'vote', "
        f"'answer', 'label', 'subject'; it was given by {option}\n"
    )


def test_a_condition_and_a_signal_too(table):
    run = CliRunner().invoke(app, ["aggregate", str(table), "--where", "x=1"])
    assert run.exit_code == 1
    assert run.output.endswith("it was given by --where\n")
    run = CliRunner().invoke(app, ["pivotal", str(table), "--signal", "x"])
    assert run.exit_code == 1
    assert run.output.endswith("no judge 'x'; the judges are 'a', 'b'; it was given by --signal\n")
