"""`ropoll simulate`: generated juries and a user's own scores, what it writes and refuses."""

import csv
import json
import re
import sys

import numpy as np
import pyarrow.parquet as pq
import pytest
from typer.testing import CliRunner

from ropoll_core import contamination
from ropoll_core.cli._app import app

SMALL = ("--items", 30, "--judges", 5, "--replicates", 2, "--rate", 0, "--rate", 0.3, "--seed", 4)


def ropoll(*arguments):
    return CliRunner().invoke(app, ["simulate", *(str(argument) for argument in arguments)])


@pytest.fixture(scope="module")
def scores_file(tmp_path_factory):
    """Four judges and the truth of 25 items, in semi-wide form."""
    jury = contamination.simulate_jury(
        25, 4, 2, scale=(0, 4), sigma=0.5, correlation=0.3, failure_rate=0.1, rng=2
    )
    scores = np.clip(jury.scores, 0, 4)
    path = tmp_path_factory.mktemp("scores") / "scores.csv"
    with path.open("w", newline="") as file:
        rows = csv.writer(file)
        rows.writerow(["item", "judge", "clear", "right"])
        for i in range(25):
            rows.writerow([f"{i:03d}", "human", *jury.truth[i]])
            for j in range(4):
                if not np.isnan(scores[i, j, 0]):
                    rows.writerow([f"{i:03d}", f"model-{j}", *scores[i, j]])
    return path, jury.truth, scores


def test_what_it_prints_and_writes(tmp_path):
    out = tmp_path / "cells.parquet"
    run = ropoll(*SMALL, "-o", out)
    assert run.exit_code == 0, run.output
    text = " ".join(run.output.split())
    assert "generated jury: 30 items, 5 judges, 5 attributes, scale 0 to 4" in text
    assert "60 panels a cell" in text
    assert "RMSE at corruption rate 0.3, all 5 judges" in text
    assert "trimmed_mean does not apply to 3 of 5 judges: nothing trimmed" in text
    assert "Claims of the paper" in text
    table = pq.read_table(out).to_pydict()
    assert set(table["part"]) == {"grid", "sizes"}
    grid = [i for i, part in enumerate(table["part"]) if part == "grid"]
    assert len(grid) == 2 * 6 * 2 * 7
    assert sorted({n for n, p in zip(table["n_judges"], table["part"], strict=True)
                   if p == "sizes"}) == [1, 2, 3, 4, 5]  # fmt: skip
    jury = contamination.simulate_jury(
        30, 5, 5, scale=(0, 4), sigma=0.7, correlation=0.5, failure_rate=0.02, rng=4
    )
    sweep = contamination.sweep(
        jury.truth, jury.scores, scale=(0, 4), committees=[3, 5], rates=[0, 0.3],
        n_replicates=2, rng=4, methods=list(dict.fromkeys(table["method"])),
    )  # fmt: skip
    written = [np.nan if table["rmse"][i] is None else table["rmse"][i] for i in grid]
    np.testing.assert_array_equal(written, sweep.rmse.ravel())


def test_same_seed_same_numbers_on_any_number_of_threads():
    one, two = (json.loads(ropoll(*SMALL, "--json", "--workers", n).output) for n in (1, 2))
    assert one == two
    other = json.loads(ropoll(*SMALL, "--json", "--seed", 5).output)
    assert other["cells"]["rmse"] != one["cells"]["rmse"]
    assert one["error_gamma"] == pytest.approx(0.5, abs=0.15)
    assert len(one["indicator_gamma"]) == 3
    assert {"statement", "committee", "measured", "holds"} == set(one["claims"][0])


def test_own_scores(scores_file):
    path, truth, scores = scores_file
    run = ropoll(
        path, "--gold", "human", "--scale", 0, 4, "--method", "mean", "--size", 4,
        "--rate", 0.2, "--corruption", "inverted", "--replicates", 3, "--json",
    )  # fmt: skip
    assert run.exit_code == 0, run.output
    result = json.loads(run.stdout)
    assert result["source"] == "scores.csv: 25 items, 4 judges besides human"
    assert result["claims"] == []
    sweep = contamination.sweep(
        truth, scores, scale=(0, 4), methods=["mean"], corruptions=["inverted"],
        rates=[0.2], n_replicates=3, rng=0,
    )  # fmt: skip
    assert result["cells"]["rmse"][0] == pytest.approx(sweep.rmse[0, 0, 0, 0], rel=1e-12)
    assert result["cells"]["part"] == ["grid"] + ["sizes"] * 8


OWN = ("--scale", 0, 4, "--method", "mean", "--size", 4, "--rate", 0.2, "--corruption", "inverted",
       "--replicates", 3, "--json")  # fmt: skip


@pytest.fixture
def two_files(tmp_path, scores_file):
    """The same scores, and the truth in a table of its own: an item more, no judge, reversed."""
    lines = scores_file[0].read_text().splitlines()
    gold = [line.replace(",human", "") for line in lines if ",human," in line]
    scores, truth = tmp_path / "scores.csv", tmp_path / "gold.csv"
    scores.write_text("\n".join(line for line in lines if ",human," not in line))
    truth.write_text("\n".join(["item,clear,right", "extra,1,1", *reversed(gold)]))
    return scores, truth


def test_gold_of_another_file(scores_file, two_files):
    whole = ropoll(scores_file[0], "--gold", "human", *OWN)
    apart = ropoll(two_files[0], "--gold-file", two_files[1], *OWN)
    assert apart.exit_code == 0, apart.output
    result = json.loads(apart.stdout)
    assert result["source"] == "scores.csv: 25 items, 4 judges"
    assert result["cells"]["rmse"] == json.loads(whole.stdout)["cells"]["rmse"]


def test_gold_of_another_file_long_and_in_part(scores_file, two_files):
    scores, truth = two_files
    rows = [line.split(",") for line in truth.read_text().splitlines()[1:]]
    long = ["item,attribute,score"]
    long += [f"{i},{a},{v}" for i, *vs in rows if i != "003"
             for a, v in zip(("right", "clear"), reversed(vs), strict=True)]  # fmt: skip
    truth.write_text("\n".join(long))
    run = ropoll(scores, "--gold-file", truth, *OWN[:-1])
    assert run.exit_code == 0, run.output
    assert "1 items without truth left out" in run.output
    _, known, given = scores_file
    known = known.copy()
    known[3] = np.nan
    sweep = contamination.sweep(
        known, given, scale=(0, 4), methods=["mean"], corruptions=["inverted"],
        rates=[0.2], n_replicates=3, rng=0,
    )  # fmt: skip
    cells = json.loads(ropoll(scores, "--gold-file", truth, *OWN).stdout)["cells"]
    assert cells["rmse"][0] == pytest.approx(sweep.rmse[0, 0, 0, 0], rel=1e-12)


def test_gold_of_another_file_that_does_not_fit(two_files, tmp_path):
    scores, truth = two_files
    other = tmp_path / "other.csv"
    for content, code, message in (
        (None, 1, "other.csv: no such file"),
        ("item,clear\n001,1\n", 1, "other.csv: no column 'right'"),
        ("item,clear,right\n1,1,1\n", 1, "other.csv: no item of"),
        ("item,clear,right\n001,1,x\n", 1, "line 2, column 'right': not a number: 'x'"),
        ("item,clear,right\n001,1,9\n", 1, "line 2, column 'right': off the scale: '9'"),
        ("item,clear,right\n001,1,2\n001,1,2\n", 1, "item '001', judge 'gold': line 2 and line 3"),
    ):
        if content is not None:
            other.write_text(content)
        run = ropoll(scores, "--gold-file", other, *OWN)
        assert run.exit_code == code, run.output
        assert message in run.output
    run = ropoll(scores, "--gold-file", truth, "--gold", "model-0", *OWN)
    assert run.exit_code == 2
    assert "give one" in run.output
    before = truth.read_bytes()
    for option in ("--out", "--report", "--state"):
        run = ropoll(scores, "--gold-file", truth, *OWN, option, truth)
        assert run.exit_code == 1
        assert "gold.csv: is the input; write to another file" in run.output
    assert truth.read_bytes() == before


def test_report_and_figures(tmp_path, monkeypatch):
    pytest.importorskip("matplotlib")
    page, folder = tmp_path / "study.md", tmp_path / "figures"
    arguments = [*SMALL, "--report", page, "--plot", folder]
    monkeypatch.setattr(sys, "argv", ["ropoll", "simulate", *map(str, arguments)])
    run = ropoll(*arguments)
    assert run.exit_code == 0, run.output
    text = page.read_text()
    assert (
        f"    ropoll simulate --items 30 --judges 5 {' '.join(map(str, arguments[4:]))}\n" in text
    )
    assert re.search(r"20\d\d-\d\d-\d\d, .* cores, Python 3", text)
    assert "## Where the paper's claims hold, and where they do not" in text
    names = re.findall(r"!\[.*?\]\((.*?)\)", text)
    assert names == [
        f"figures/{p}.png" for p in ("rmse_by_rate", "jury_size", "premium", "gallery")
    ]
    assert all((tmp_path / name).stat().st_size > 5000 for name in names)
    rows = [line for line in text.splitlines() if line.startswith("| zeros | ")]
    assert len(rows) == 4  # worse than the mean, and RMSE, for each of two committees
    assert {line.count("|") for line in rows} == {5, 9}


def test_state_is_kept_and_belongs_to_the_options(tmp_path):
    state = tmp_path / "state.npz"
    first = ropoll(*SMALL, "--state", state, "--json")
    assert first.exit_code == 0, first.output
    assert sorted(p.name for p in tmp_path.iterdir()) == ["state.npz", "state.npz.sizes"]
    assert ropoll(*SMALL, "--state", state, "--json").output == first.output
    other = ropoll(*SMALL, "--state", state, "--colluding")
    assert other.exit_code == 2
    assert "was written by one with other data or options" in other.output


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (["--preset", "huge"], 2, "--preset must be one of quick, paper; got 'huge'"),
        (["--method", "best"], 2, "method must be one of geometric_median"),
        (["--corruption", "worst"], 2, "corruption must be one of zeros"),
        (["--rate", "1.5"], 2, "--rate must hold finite numbers in [0, 1]"),
        (["--size", "20"], 2, "--size must be from 1 to 13, got 20"),
        (["--gold", "human"], 2, "--gold and --gold-file go with a FILE, and none"),
        (["--seed", "-1"], 2, "--seed must not be negative"),
        (["-o", "cells.xlsx"], 2, "cannot tell the format"),
        (["--report", "nowhere/study.md"], 1, "nowhere: no such folder"),
        (["nothing.csv", "--gold", "human"], 1, "nothing.csv"),
    ],
)
def test_one_clear_message(arguments, code, message, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    run = ropoll(*arguments)
    assert run.exit_code == code
    assert message in run.output
    assert run.output.startswith("ropoll: ")
    assert not list(tmp_path.iterdir())


def test_own_scores_need_gold_and_scale(scores_file):
    path, _, _ = scores_file
    for arguments, message in [
        ([], "--gold must name the judge whose scores are the truth"),
        (["--gold", "nobody", "--scale", 0, 4], "model-3; got 'nobody'"),
        (["--gold", "human"], "--scale LOW HIGH"),
        (["--gold", "human", "--sigma", 1], "sigma: of generated juries, not of a FILE"),
    ]:
        run = ropoll(path, *arguments)
        assert run.exit_code == 2
        assert message in run.output


def test_human_ratings(real_data):
    run = ropoll(
        real_data / "fed_scores.csv", "--gold", "rater-0", "--scale", 0, 3, "--on-bad", "missing",
        "--attributes", "Interesting,Engaging,Specific,Relevant", "--seed", 1, "--json",
    )  # fmt: skip
    assert run.exit_code == 0, run.output
    result = json.loads(run.stdout)
    assert result["source"] == "fed_scores.csv: 375 items, 4 judges besides rater-0"
    # Raters share little beyond the item, and their errors share the gold rater's own noise.
    assert 0 < result["gamma"] < 0.3 < result["error_gamma"] < 0.7
    cells = result["cells"]
    errors = {
        (c, m): e
        for p, n, c, r, m, e in zip(
            *(cells[k] for k in ("part", "n_judges", "corruption", "rate", "method", "rmse")),
            strict=True,
        )
        if (p, n, r) == ("grid", 4, 0.3)
    }
    assert errors["cauchy-far", "mean"] > 3 * errors["cauchy-far", "geometric_median"]
    assert errors["noisy-gt", "mean"] < errors["noisy-gt", "geometric_median"]
