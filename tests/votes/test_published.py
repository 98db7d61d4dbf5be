"""Published figures, as arithmetic identities on a panel generated to the printed counts."""

import csv

import numpy as np
import pytest

from ropoll_core import (
    effective_votes,
    permutation_control,
    policy_table,
    substitution,
    tally,
)
from ropoll_core.votes import MarginCell, demo_panel, judge_metrics, panel_with_margins


@pytest.fixture(scope="module", params=[1, 2])
def panel(request):
    return demo_panel(request.param)


def test_counts_by_margin(panel):
    result = substitution(panel.votes, panel.signal, panel.labels)
    assert result.n_queries == 3241
    assert result.stratum.tolist() == [1, 3, 5, 7]
    assert result.n.tolist() == [525, 740, 1026, 950]
    assert result.n_errors[0] == 199
    assert result.n_errors.sum() == 569
    assert np.unique(panel.tasks).size == 463


def test_gains(panel):
    """+11.21 points on pivotal queries, +1.816 overall under uniform, +3.178 majority side."""
    uniform = substitution(panel.votes, panel.signal, panel.labels)
    side = substitution(panel.votes, panel.signal, panel.labels, rule="majority")
    assert round(100 * uniform.pivotal_gain, 2) == 11.21
    assert round(100 * uniform.gain, 3) == 1.816
    assert round(100 * side.gain, 3) == 3.178
    assert uniform.total_gain * 14 == side.total_gain * 8
    assert side.total_gain == 199 - 96


def test_groups_mix_to_the_whole(panel):
    """236 queries at +16.95 points and 289 at +6.52 make 525 at +11.2."""
    parts = {}
    for group in ("first", "second"):
        inside = panel.groups == group
        parts[group] = substitution(panel.votes[inside], panel.signal[inside], panel.labels[inside])
    assert (parts["first"].n_pivotal, parts["second"].n_pivotal) == (236, 289)
    assert round(100 * parts["first"].pivotal_gain, 2) == 16.95
    assert round(100 * parts["second"].pivotal_gain, 2) == 6.52
    whole = substitution(panel.votes, panel.signal, panel.labels)
    assert sum(part.total_gain for part in parts.values()) == whole.total_gain
    assert round((236 * 16.95 + 289 * 6.52) / 525, 1) == round(100 * whole.pivotal_gain, 1) == 11.2


def test_permutation_control(panel):
    """Errors placed at random: +14.57 points on average, 95 % within [13.06, 16.00]."""
    result = permutation_control(panel.votes, panel.signal, panel.labels)
    assert (result.n_queries, result.n_pivotal) == (3241, 525)
    assert (result.n_signal_errors, result.n_pivotal_errors) == (402, 199)
    assert result.exact
    assert round(100 * result.observed, 2) == 11.21
    assert round(100 * result.mean, 2) == 14.57
    assert [round(100 * end, 2) for end in result.interval] == [13.06, 16.00]
    assert result.p_lower < 1e-4


def test_generated_margins_are_exact_and_seeded():
    cells = [MarginCell(1, 30, 7, 3), MarginCell(5, 20, 4, 20)]
    panel = panel_with_margins(cells, n_judges=5, task_size=4, rng=3)
    counted = tally(panel.votes)
    for cell in cells:
        inside = counted.margin == cell.margin
        assert inside.sum() == cell.n
        assert (counted.decision != panel.labels)[inside].sum() == cell.n_errors
        assert (panel.signal != panel.labels)[inside].sum() == cell.n_signal_errors
    again = panel_with_margins(cells, n_judges=5, task_size=4, rng=3)
    np.testing.assert_array_equal(panel.votes, again.votes)
    with pytest.raises(ValueError, match="n_judges must be odd, got 4"):
        panel_with_margins(cells, n_judges=4)
    with pytest.raises(ValueError, match="odd margins up to 3, got 5 at 1"):
        panel_with_margins(cells, n_judges=3)
    with pytest.raises(ValueError, match="more errors than queries"):
        panel_with_margins([MarginCell(1, 2, 3, 0)], n_judges=3)


JUDGES = ["ChatGPT", "ChatGPT-0301", "Falcon", "LLaMA2", "PaLM2"]


@pytest.fixture(scope="module")
def llmbar(real_data):
    """Ballots, signal and labels of the items on which all six judges voted."""
    items = {}
    with (real_data / "llmbar_votes.csv").open(newline="") as file:
        for row in csv.DictReader(file):
            if row["order"] == "original":
                item = items.setdefault(row["item"], {"label": row["label"]})
                item[row["judge"]] = row["vote"]
    whole = [item for item in items.values() if all(item[j] for j in [*JUDGES, "GPT-4"])]
    assert len(whole) == 414
    votes = np.array([[int(item[j]) - 1 for j in JUDGES] for item in whole])
    signal = np.array([int(item["GPT-4"]) - 1 for item in whole])
    return votes, signal, np.array([int(item["label"]) - 1 for item in whole])


def test_llmbar_gpt4_as_the_signal(llmbar):
    votes, signal, labels = llmbar
    uniform = substitution(votes, signal, labels)
    side = substitution(votes, signal, labels, rule="majority")
    assert uniform.stratum.tolist() == [1, 3, 5]
    assert uniform.n.tolist() == [114, 150, 150]
    assert round(uniform.panel_accuracy, 4) == 0.4976
    assert round(uniform.accuracy, 4) == 0.5657
    assert round(side.accuracy, 4) == 0.6111
    assert round(uniform.signal_accuracy, 4) == 0.8285
    assert round(uniform.pivotal_gain / side.pivotal_gain, 4) == 0.6
    assert round(judge_metrics(votes, labels).accuracy.max(), 4) == 0.6884
    errors = effective_votes(votes != labels[:, None])
    assert round(errors.mean_phi, 4) == 0.4020
    assert round(errors.n_eff, 3) == 1.917
    table = policy_table(votes, signal, labels, judges=JUDGES)
    accuracy = dict(zip(table.policy, table.accuracy.round(4), strict=True))
    assert accuracy["signal"] == 0.8285
    assert accuracy["substitute majority"] == 0.6111
