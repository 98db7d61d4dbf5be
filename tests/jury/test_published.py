"""Published tables of "LLMs as a Jury" (arXiv 2607.10139v3), and real answers.

Numbers are printed to three digits; a test takes all that they determine, no more.
"""

import csv

import numpy as np
import pytest
from scipy import optimize

from ropoll_core import ConsensusLaw, jury

M = 4
RULES = ("correct", "uniform", "strict")
HALF_DIGIT = 0.00051

# Table 11 (dial of four judges) and the measured floor of tables 2 and 7.
# n, answer all, coverage and accuracy at unanimity and at three of four, floor
DIAL = {
    "GSM8K": (1319, 0.973, 0.935, 0.985, 0.988, 0.979, 0.014),
    "MATH-500": (500, 0.956, 0.850, 0.995, 0.942, 0.985, 0.004),
    "OlympiadBench": (674, 0.734, 0.534, 0.925, 0.718, 0.888, 0.040),
    "AIME-2024": (30, 0.700, 0.333, 1.0, 0.5, 1.0, 0.000),
    "AIME-2025": (30, 0.433, 0.2, 1.0, 0.4, 1.0, 0.000),
    "GPQA": (198, 0.369, 0.131, 0.769, 0.313, 0.694, 0.030),
    "MMLU-Pro": (1000, 0.458, 0.480, 0.702, 0.777, 0.559, 0.143),
}


def answers_of_row(n, answer_all, unanimous, right_4, three, right_3):
    """Answers of four judges to n queries with the counts that a row of table 11 states."""
    accepted_4, accepted_3 = round(unanimous * n), round(three * n)
    right = [round(right_4 * accepted_4), round(right_3 * accepted_3), round(answer_all * n)]
    kinds = [
        ("RRRR", right[0]), ("WWWW", accepted_4 - right[0]),
        ("RRRW", right[1] - right[0]),
        ("WWWR", accepted_3 - accepted_4 - (right[1] - right[0])),
        ("RRWV", right[2] - right[1]), ("WWRV", n - accepted_3 - (right[2] - right[1])),
    ]  # fmt: skip
    assert min(count for _, count in kinds) >= 0
    return np.array([list(kind) for kind, count in kinds for _ in range(count)])


@pytest.mark.parametrize("name", DIAL)
def test_dial_and_floor_of_every_published_row(name):
    n, answer_all, unanimous, right_4, three, right_3, floor = DIAL[name]
    answers = answers_of_row(n, answer_all, unanimous, right_4, three, right_3)
    gold = ["R"] * n
    dial = jury.selective_accuracy(answers, gold, n_resamples=100, rng=1)
    assert dial.agreement.tolist() == [1.0, 0.75, 0.5]
    printed = [(unanimous, right_4), (three, right_3), (1.0, answer_all)]
    for at, (coverage, accuracy) in enumerate(printed):
        assert dial.coverage.value[at] == pytest.approx(coverage, abs=HALF_DIGIT)
        # An accuracy of few accepted queries is known to the nearest count.
        unit = max(HALF_DIGIT, 0.51 / dial.n_accepted[at])
        assert dial.accuracy.value[at] == pytest.approx(accuracy, abs=unit)
    measured = dial.coverage.value[0] * (1 - dial.accuracy.value[0])
    assert measured == pytest.approx(floor, abs=max(HALF_DIGIT, 0.51 / n))
    fit = ConsensusLaw.fit(answers, gold, n_resamples=100, rng=1)
    assert fit.measured_floor.value == pytest.approx(measured, abs=1e-12)
    assert fit.measured_floor.low <= measured <= fit.measured_floor.high


def test_six_events_in_198_leave_the_floor_of_gpqa_wide_open():
    answers = answers_of_row(*DIAL["GPQA"][:-1])
    fit = ConsensusLaw.fit(answers, ["R"] * 198, n_resamples=100, rng=1)
    assert fit.floor_events == 6
    assert fit.measured_floor.low == pytest.approx(0.011, abs=0.0005)
    assert fit.measured_floor.high == pytest.approx(0.0648, abs=0.0005)


# Leading profiles; closed form and simulation of accuracy and floor (table 5).
CLOSED = {
    "GSM8K": ((0.94, 0.06), 0.975, 0.975, 0.010, 0.010),
    "MATH-500": ((0.78, 0.18, 0.04), 0.958, 0.959, 0.006, 0.006),
    "GPQA": ((0.49, 0.25, 0.17, 0.09), 0.382, 0.380, 0.031, 0.031),
    "MMLU-Pro": ((0.75, 0.21, 0.04), 0.461, 0.461, 0.155, 0.154),
}


def back_solve(accuracy, floor, masses):
    """The member accuracy and correlation at which four judges have this accuracy and floor."""

    def miss(logits):
        a, rho = 1 / (1 + np.exp(-logits))
        law = ConsensusLaw(a, rho, masses)
        return law.accuracy(M) - accuracy, law.floor(M) - floor

    found = optimize.root(miss, [0.0, 0.0])
    assert found.success
    a, rho = 1 / (1 + np.exp(-found.x))
    return ConsensusLaw(a, rho, masses)


@pytest.mark.parametrize("name", CLOSED)
def test_closed_form_against_simulation_at_the_published_points(name):
    masses, accuracy, simulated, floor, simulated_floor = CLOSED[name]
    law = back_solve(accuracy, floor, masses)
    n = 200_000
    answers = law.simulate(M, n, rng=7)
    right = (answers == 0).sum(axis=1)
    panel = jury.consensus(answers)
    ours = (right == panel.count).mean()
    ours_floor = ((panel.count == M) & (right == 0)).mean()
    error = np.sqrt(accuracy * (1 - accuracy) / n)
    assert abs(ours - law.accuracy(M)) < 4 * error
    assert abs(ours_floor - law.floor(M)) < 4 * np.sqrt(floor / n)
    # Their simulation, to their digits.
    assert ours == pytest.approx(simulated, abs=0.003)
    assert ours_floor == pytest.approx(simulated_floor, abs=0.0015)


def test_gpqa_under_three_tie_rules():
    # From accuracy .381 and floor .030 (table 2): the rule moves accuracy by nine points.
    law = back_solve(0.381, 0.030, CLOSED["GPQA"][0])
    assert [round(law.accuracy(M, ties=rule), 3) for rule in RULES] == [0.381, 0.322, 0.288]
    assert float(law.member_accuracy) == pytest.approx(0.287, abs=0.0005)
    assert float(law.correlation) == pytest.approx(0.427, abs=0.0005)


# Table 12: escalation and average cost of the cascade.
COST = {"GSM8K": (0.03, 2.07), "MATH-500": (0.11, 2.22), "GPQA": (0.70, 3.40),
        "AIME-24": (0.60, 3.20), "AIME-25": (0.63, 3.27)}  # fmt: skip


@pytest.mark.parametrize("name", COST)
def test_cost_of_the_published_cascades(name):
    escalation, cost = COST[name]
    n = 300
    answers = np.zeros((n, M), dtype=int)
    answers[: round(escalation * n)] = np.arange(M)
    result = jury.cascade(answers, np.zeros(n, dtype=int), n_resamples=50, rng=1)
    assert result.escalation.value == pytest.approx(escalation)
    assert result.mean_calls.value == pytest.approx(cost, abs=2 * 0.005 + 0.005)


def test_distinct_printed_cases_of_the_law():
    law = ConsensusLaw(0.7, 0.47, 0.3)
    assert round(law.accuracy(M), 4) == 0.8626
    assert round(law.accuracy(M, ties="uniform"), 4) == 0.7936


FOUR = ["gemini-1.5-pro-002", "Meta-Llama-3_1-70B-Instruct", "DeepSeek-Coder-V2", "jamba-1.5-large"]


@pytest.fixture(scope="module")
def mmlu_pro(real_data):
    """Answers (10342, 6) as text, the empty one included, gold, and the judges' names."""
    with (real_data / "mmlu_pro_answers.csv").open(encoding="utf-8", newline="") as lines:
        rows = list(csv.DictReader(lines))
    judges = sorted({row["judge"] for row in rows})
    place = {item: at for at, item in enumerate(dict.fromkeys(row["item"] for row in rows))}
    answers = np.full((len(place), len(judges)), None, dtype=object)
    gold = np.full(len(place), None, dtype=object)
    for row in rows:
        at = place[row["item"]]
        answers[at, judges.index(row["judge"])] = row["answer"]
        gold[at] = row["gold"]
    return answers, gold, judges


def test_mmlu_pro_four_judges(mmlu_pro):
    answers, gold, judges = mmlu_pro
    part = answers[:, [judges.index(name) for name in FOUR]]
    fit = ConsensusLaw.fit(part, gold, n_resamples=500, rng=1)
    assert (fit.n_evaluation, fit.n_incomplete, fit.n_no_gold) == (10342, 0, 0)
    got = [fit.member_accuracy.value, fit.correlation.value, fit.measured_floor.value,
           fit.predicted_floor.value, fit.measured_accuracy["correct"].value,
           fit.predicted_accuracy["correct"].value, fit.measured_accuracy["uniform"].value,
           fit.predicted_accuracy["uniform"].value]  # fmt: skip
    wanted = [0.6319, 0.4291, 0.0402, 0.0405, 0.7658, 0.7298, 0.7074, 0.6798]
    assert [round(x, 4) for x in got] == wanted
    assert fit.attractors.value.round(3).tolist() == [0.730, 0.207, 0.055, 0.008]
    panel = jury.consensus(part)
    assert round(panel.accuracy(gold), 4) == 0.7074
    assert fit.measured_floor.low < fit.predicted_floor.value < fit.measured_floor.high


def test_mmlu_pro_all_judges(mmlu_pro):
    answers, gold, _ = mmlu_pro
    fit = ConsensusLaw.fit(answers, gold, n_resamples=500, rng=1)
    assert round(fit.correlation.value, 4) == 0.4175
    assert round(6 / (1 + 5 * fit.correlation.value), 3) == 1.943
    result = jury.best_panel(answers, gold, 4, rng=1)
    assert len(result.members) == 15
    assert result.cross_fitted["measured_accuracy"] <= result.apparent["measured_accuracy"]
