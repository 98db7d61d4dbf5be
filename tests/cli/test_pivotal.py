"""`ropoll pivotal` and `ropoll demo --votes`: what they print, write and refuse."""

import csv
import json

import numpy as np
import pytest
from typer.testing import CliRunner

from ropoll_core import substitution
from ropoll_core.cli._app import app
from ropoll_core.votes import demo_panel

VOTES = "item,judge,vote,label\n" + "".join(
    f"q{i},{judge},{vote},{label}\n"
    for i, (ballots, label) in enumerate(
        [("110s", 0), ("111s", 1), ("001s", 1), ("100s", 0), ("011s", 1), ("000s", 0)]
    )
    for judge, vote in zip("abct", ballots.replace("s", str(label)), strict=True)
)


def ropoll(*arguments):
    return CliRunner().invoke(app, [str(argument) for argument in arguments])


def write(folder, text):
    path = folder / "votes.csv"
    path.write_text(text)
    return path


@pytest.fixture
def votes(tmp_path):
    return write(tmp_path, VOTES)


def test_what_pivotal_prints(votes):
    run = ropoll("pivotal", votes, "--gold", "label", "--signal", "t")
    assert run.exit_code == 0, run.output
    assert "24 rows: 6 items x 3 judges and a signal; 0 is 0, 1 is 1" in run.output
    assert "intervals resample 6 items: few, so they are rough" in run.output
    assert "panel accuracy  66.7%" in run.output
    assert "effective votes" in run.output
    assert "substitute majority 1.0000" in " ".join(run.output.split())
    assert "if the signal erred as often but anywhere" in run.output


def test_a_tiny_panel_reads_well(tmp_path):
    run = ropoll("pivotal", write(tmp_path, "item,judge,vote,label\nq1,a,1,1\n"))
    assert run.exit_code == 0, run.output
    assert "1 row: 1 item x 1 judge; " in run.output
    assert "0 of 1 ballot missing" in run.output
    assert "no intervals: there is one item, and nothing to resample" in run.output
    assert "panel accuracy  100.0%\n" in run.output
    assert "nan" not in run.output
    assert "[-" not in run.output
    rows = "q1,a,1,1\nq1,b,0,1\nq1,t,1,1\nq2,a,1,1\nq2,b,1,1\nq2,t,1,1\n"
    path = write(tmp_path, "item,judge,vote,label\n" + rows)
    run = ropoll("pivotal", path, "--signal", "t")
    assert run.exit_code == 0, run.output
    assert "intervals resample 2 items: few, so they are rough" in run.output
    assert "no change by the signal: with it or without" in run.output
    assert "nan" not in run.output


def test_without_a_signal(votes):
    run = ropoll("pivotal", votes, "--where", "judge=a", "--json")
    assert run.exit_code == 0, run.output
    report = json.loads(run.output)
    assert report["judges"] == ["a"]
    assert report["n_eff"]["value"] is None
    run = ropoll("pivotal", votes, "--json")
    report = json.loads(run.output)
    assert report["judges"] == ["a", "b", "c", "t"]
    assert report["rules"] == []
    assert report["permutation"] is None
    assert report["stratum"] == [-4, -2, 0, 2, 4]
    assert not any("substitute" in name for name in report["policies"]["policy"])
    assert "signal accuracy" not in ropoll("pivotal", votes).output


def test_items_file(votes, tmp_path):
    out = tmp_path / "items.csv"
    run = ropoll("pivotal", votes, "--signal", "t", "-o", out)
    assert run.exit_code == 0, run.output
    with open(out, newline="") as file:
        rows = list(csv.DictReader(file))
    assert [row["item"] for row in rows] == [f"q{i}" for i in range(6)]
    assert [row["pivotal"] for row in rows] == ["true", "false", "true", "true", "true", "false"]
    assert [row["after_majority"] for row in rows] == ["0.0", "1.0", "1.0", "0.0", "1.0", "0.0"]
    assert float(rows[0]["after_uniform"]) == pytest.approx(1 / 3)


def test_items_that_are_not_complete(tmp_path):
    path = write(tmp_path, VOTES.replace("q2,b,0,1", "q2,b,,1").replace("q4,t,1,1\n", ""))
    report = json.loads(ropoll("pivotal", path, "--signal", "t", "--json").output)
    assert report["n_queries"] == report["n_items_read"] == 6
    run = ropoll("pivotal", path, "--signal", "t", "--complete")
    assert "2 items left out as not complete" in run.output
    report = json.loads(ropoll("pivotal", path, "--signal", "t", "--complete", "--json").output)
    assert (report["n_items_read"], report["n_queries"]) == (6, 4)


def test_what_pivotal_refuses(tmp_path, votes):
    run = ropoll("pivotal", write(tmp_path, "item,judge,vote\nq,a,1\n"))
    assert run.exit_code == 1
    assert "no column of labels found; name it with --gold" in run.output
    votes = write(tmp_path, VOTES)
    run = ropoll("pivotal", votes, "--signal", "nobody")
    assert run.exit_code == 1
    assert "no judge 'nobody'" in run.output
    run = ropoll("pivotal", votes, "-o", tmp_path / "x.txt")
    assert run.exit_code == 2
    assert not (tmp_path / "x.txt").exists()
    run = ropoll("pivotal", write(tmp_path, VOTES.replace("q0,a,1", "q0,a,0.5")))
    assert run.exit_code == 1
    assert "0.5" in run.output
    assert "line 2" in run.output


def test_text_votes_are_mapped_by_a_documented_table(tmp_path):
    """true / "False" / 1 / no are ballots, an empty cell is missing, 0.5 is refused."""
    rows = "q,a,true,1\nq,b,False,1\nq,c,True,1\nq,d,1,1\nq,e,,1\nq,f,no,1\n"
    out = tmp_path / "items.csv"
    run = ropoll("pivotal", write(tmp_path, "item,judge,vote,label\n" + rows), "-o", out)
    assert run.exit_code == 0, run.output
    with open(out, newline="") as file:
        (row,) = csv.DictReader(file)
    assert (row["ones"], row["n_valid"], row["margin"]) == ("3", "5", "1")
    assert row["decision"] == "1"


def test_results_do_not_depend_on_workers(votes):
    runs = [
        ropoll("pivotal", votes, "--signal", "t", "--json", "--workers", n).output for n in (1, 2)
    ]
    assert runs[0] == runs[1]


def test_demo_of_votes(tmp_path):
    run = ropoll("demo", tmp_path, "--votes")
    assert run.exit_code == 0, run.output
    assert "pivotal items   16.2%" in run.output
    assert "+11.21 [" in run.output
    assert "+14.57 points on pivotal items, 95% within [+13.06, +16.00]" in run.output
    report = json.loads(
        ropoll("pivotal", tmp_path / "votes.csv", "--signal", "tests", "--json").output
    )
    panel = demo_panel(1)
    expected = substitution(panel.votes, panel.signal, panel.labels)
    assert report["n"] == expected.n.tolist()
    assert report["n_tasks"] == 463
    assert report["rules"][0]["pivotal_gain"]["value"] == pytest.approx(expected.pivotal_gain)
    again = ropoll("demo", tmp_path, "--votes")
    assert again.exit_code == 1
    assert "is there already" in again.output


def test_llmbar_with_gpt4_as_the_signal(real_data):
    run = ropoll(
        "pivotal", real_data / "llmbar_votes.csv", "--gold", "label", "--signal", "GPT-4",
        "--task", "task", "--positive", "1", "--where", "order=original", "--complete", "--json",
    )  # fmt: skip
    assert run.exit_code == 0, run.output
    report = json.loads(run.output)
    assert report["n_queries"] == 414
    assert report["stratum"] == [1, 3, 5]
    assert report["n"] == [114, 150, 150]
    accuracy = dict(zip(report["policies"]["policy"], report["policies"]["accuracy"], strict=True))
    expected = {
        "panel": 0.4976,
        "substitute uniform": 0.5657,
        "substitute majority": 0.6111,
        "signal": 0.8285,
        "best judge (PaLM2)": 0.6884,
    }
    assert {name: round(accuracy[name], 4) for name in expected} == expected
    gain = {rule["rule"]: rule["pivotal_gain"]["value"] for rule in report["rules"]}
    assert round(gain["uniform"] / gain["majority"], 4) == 0.6
    assert round(report["effective_votes"]["mean_phi"], 4) == 0.4020
    assert round(report["n_eff"]["value"], 3) == 1.917
    for rule in report["rules"]:
        for estimate in (rule["gain"], rule["pivotal_gain"], *rule["stratum_gain"]):
            assert estimate["low"] <= estimate["value"] <= estimate["high"]
    assert np.isfinite(report["n_eff_change"]["low"])


@pytest.mark.parametrize(
    ("rows", "options"),
    [("q,a,,1\n", []), ("q,a,1,\n", []), ("q,a,1,1\np,b,1,0\n", ["--complete"])],
)
def test_no_item_is_left(tmp_path, rows, options):
    run = ropoll("pivotal", write(tmp_path, "item,judge,vote,label\n" + rows), *options)
    assert run.exit_code == 1
    assert "no item with a label and a ballot is left" in run.output


def test_tab_as_delimiter(tmp_path):
    path = write(tmp_path, VOTES.replace(",", "\t"))
    run = ropoll("pivotal", path, "--gold", "label", "--delimiter", r"\t")
    assert run.exit_code == 0, run.output
