"""`ropoll jury`: what it prints is what the library computes, and what it refuses."""

import csv
import json

import numpy as np
import pytest
from typer.testing import CliRunner

from ropoll_core.cli._app import app
from ropoll_core.jury import ConsensusLaw, cascade, selective_accuracy, shared_blind_spot
from ropoll_core.votes import effective_votes

JUDGES = ["alpha", "beta", "gamma", "007"]
FAST = ["--resamples", "200", "--workers", "1"]


def ropoll(*arguments):
    return CliRunner().invoke(app, ["jury", *map(str, arguments)])


@pytest.fixture(scope="module")
def data():
    """Answers of four judges to 120 items, some empty, gold missing for three, and groups."""
    answers = ConsensusLaw(0.6, 0.3, (0.5, 0.3)).simulate(4, 120, rng=3)
    words = np.array(["right", "wrong", "worse", "x", "y", "z", "w"], dtype=object)[answers]
    words[5, 2] = words[40, 0] = ""
    gold = np.full(120, "right", dtype=object)
    gold[:3] = ""
    return words, gold, np.array(["maths", "law", "NA"])[np.arange(120) % 3]


@pytest.fixture(scope="module")
def table(tmp_path_factory, data):
    words, gold, groups = data
    path = tmp_path_factory.mktemp("jury") / "answers.csv"
    with path.open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["item", "judge", "answer", "gold", "subject"])
        for q in range(120):
            for j, name in enumerate(JUDGES):
                writer.writerow([f"q{q}", name, words[q, j], gold[q], groups[q]])
    return path


def test_json_is_what_the_library_computes(table, data):
    run = ropoll(table, "--json", "--group", "subject", "--blind-spots", *FAST)
    assert run.exit_code == 0, run.output
    got = json.loads(run.stdout)
    words, gold, groups = data
    words = np.where(words == "", None, words)
    gold = np.where(gold == "", None, gold)
    options = {"n_resamples": 200, "rng": 0}
    fit = ConsensusLaw.fit(words, gold, groups=groups, **options)
    assert got["judges"] == JUDGES
    assert got["n_items"] == 120
    assert (got["fit"]["n_no_gold"], got["fit"]["n_incomplete"]) == (3, 2)
    for name in ("member_accuracy", "correlation", "predicted_floor", "measured_floor"):
        wanted = getattr(fit, name)
        assert got["fit"][name] == {
            "value": wanted.value, "low": wanted.low, "high": wanted.high
        }  # fmt: skip
    for rule, wanted in fit.accuracy_gap.items():
        assert got["fit"]["accuracy_gap"][rule]["low"] == wanted.low
    assert got["fit"]["law"]["attractors"] == fit.law.attractors.tolist()
    assert set(got["fit"]["held_out"]) == {"maths", "law", "NA"}
    law = got["fit"]["held_out"]["law"]["predicted_accuracy"]["uniform"]
    assert law["value"] == fit.held_out["law"].predicted_accuracy["uniform"].value
    half = ConsensusLaw.fit(words, gold, split=0.5, **options)
    assert got["held_out"]["n_calibration"] == half.n_calibration
    assert got["held_out"]["predicted_floor"]["value"] == half.predicted_floor.value
    dial = selective_accuracy(words, gold, **options)
    assert got["dial"]["agreement"] == dial.agreement.tolist()
    assert got["dial"]["accuracy"]["low"] == dial.accuracy.low.tolist()
    assert got["cascade"]["accuracy"]["high"] == cascade(words, gold, **options).accuracy.high
    spot = shared_blind_spot(words, gold, **options)
    assert got["blind_spot"]["error_excess"]["low"] == spot.error_excess.low
    kept = words[3:]
    errors = np.where(kept == None, -1, kept != "right").astype(np.int8)  # noqa: E711
    assert got["effective_votes"]["n_eff"] == pytest.approx(effective_votes(errors).n_eff)


def test_report_for_people(table):
    run = ropoll(table, "--group", "subject", "--blind-spots", *FAST)
    assert run.exit_code == 0, run.output
    text = run.output
    for part in (
        "120 items x 4 judges; 3 items without a right answer, 2 left out",
        "error correlation", "profile of wrong answers", "effective votes", "held-out law",
        "floor: all judges agree and are wrong", "100% and up", "two, rest if they differ",
        "group left out", "maths", "shared errors above the law", "007",
    ):  # fmt: skip
        assert part in " ".join(text.split()), part
    assert len(ropoll(table, *FAST).output.splitlines()) < 45


def test_seed_fixes_every_digit(table):
    first, again, other = (ropoll(table, "--json", "--seed", s, *FAST).stdout for s in (1, 1, 2))
    assert first == again
    assert first != other
    threads = ropoll(table, "--json", "--seed", 1, "--resamples", "200", "--workers", "2").stdout
    assert threads == first


def test_members_missing_and_empty(table):
    part = json.loads(ropoll(table, "--json", "--member", "007", "--member", "beta", *FAST).stdout)
    assert part["judges"] == ["007", "beta"]
    assert part["fit"]["n_members"] == 2
    wrong = json.loads(ropoll(table, "--json", "--missing", "wrong", *FAST).stdout)
    assert (wrong["fit"]["n_incomplete"], wrong["fit"]["n_evaluation"]) == (0, 117)
    strict = json.loads(ropoll(table, "--json", "--ties", "strict", *FAST).stdout)
    assert strict["dial"]["ties"] == "strict"
    assert strict["cascade"]["ties"] == "strict"


def test_an_empty_answer_may_be_an_answer(tmp_path):
    path = tmp_path / "answers.csv"
    rows = ["item,judge,answer,gold"]
    for q in range(20):
        for j in range(3):
            rows.append(f"q{q},j{j},{'' if (q + j) % 4 == 0 else 'A'},A")
    path.write_text("\n".join(rows) + "\n")
    as_answer = json.loads(ropoll(path, "--json", "--empty", "category", *FAST).stdout)
    assert as_answer["fit"]["n_evaluation"] == 20
    missing = json.loads(ropoll(path, "--json", "--missing", "wrong", *FAST).stdout)
    assert missing["fit"]["member_accuracy"] == as_answer["fit"]["member_accuracy"]


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (
            ["--member", "delta"],
            2,
            "--member names 'delta'; the judges are alpha, beta, gamma, 007",
        ),
        (["--member", "beta", "--member", "beta"], 2, "--member names a judge twice"),
        (["--member", "beta"], 1, "answers.csv: a jury has 2 to 64 judges, got 1: beta"),
        (["--gold", "truth"], 1, "truth"),
        (["--split", "1"], 2, "split must be a finite number in (0, 1)"),
        (["--confidence", "2"], 2, "--confidence must be"),
        (["--where", "subject=history"], 1, "no rows are left to read"),
    ],
)
def test_refusals(table, arguments, code, message):
    run = ropoll(table, *arguments, *FAST)
    assert run.exit_code == code, run.output
    assert message in " ".join(run.output.split())
    assert "Traceback" not in run.output


def write(tmp_path, *rows):
    path = tmp_path / "answers.csv"
    path.write_text("\n".join(["item,judge,answer,gold", *rows]) + "\n")
    return path


def test_without_a_law_all_the_rest_is_printed(tmp_path):
    rows = [
        f"q{q},{j},{a},A" for q in range(6) for j, a in zip("abc", ("A", "B", "A"), strict=True)
    ]
    path = write(tmp_path, *rows)
    run = ropoll(path, *FAST)
    assert run.exit_code == 0, run.output
    lines = run.output.splitlines()
    assert [line for line in lines if line.startswith("no law: ")] == [
        "no law: the correlation of errors is undefined: no two judges are both sometimes right "
        "and sometimes wrong; errors of the judges: [0 6 0] of 6"
    ]
    for part in ("a 100.0%", "strict 100.0% [100.0, 100.0] -", "67% and up 100.0%", "all judges"):
        assert part in " ".join(run.output.split()), part
    assert "nan" not in run.output.lower()
    result = json.loads(ropoll(path, "--json", *FAST).stdout)
    assert result["fit"]["law"] is None
    assert result["held_out"]["law"] is None
    assert result["fit"]["measured_accuracy"]["uniform"]["value"] == 1.0


def test_without_a_held_out_law_one_line_says_why(tmp_path):
    rows = [f"q{q},{j},{'AB'[(q + (j == 'b')) % 2]},A" for q in range(6) for j in "ab"]
    run = ropoll(write(tmp_path, *rows), "--split", "0.2", *FAST)
    assert run.exit_code == 0, run.output
    assert "no law" not in run.output
    line = "no held-out law, fitted to 1 items (--split): the correlation of errors is undefined"
    assert run.output.count(line) == 1
    run = ropoll(write(tmp_path, "q,a,A,A", "q,b,A,A"), *FAST)
    assert run.exit_code == 0, run.output
    assert "no held-out law: there is one task, and none to hold out" in run.output
    assert json.loads(ropoll(tmp_path / "answers.csv", "--json", *FAST).stdout)["held_out"] is None


def test_nothing_to_measure_on(tmp_path):
    run = ropoll(write(tmp_path, "q,a,A,", "q,b,A,", "p,a,A,A"), *FAST)
    assert run.exit_code == 1
    assert "answers.csv: no item with a right answer" in run.output
    assert "left of 2: 1 have no right answer, 1 lack an answer (--missing wrong)" in run.output


def test_a_table_without_gold(tmp_path):
    path = tmp_path / "answers.csv"
    path.write_text("item,judge,answer\nq,a,1\nq,b,1\n")
    run = ropoll(path, *FAST)
    assert run.exit_code == 1
    assert "name it with --gold" in run.output
