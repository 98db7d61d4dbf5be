"""Ragged arrays, and integers that no float64 holds, are named by their argument everywhere."""

import numpy as np
import pytest

from ropoll_core import contamination, theory
from ropoll_core.jury import ConsensusLaw, consensus, select_candidate
from ropoll_core.scores import geometric_median

RAGGED = [[1.0, 2.0], [3.0]]
ANSWERS, GOLD = [["A", "B"], ["B", "B"]], ["A", "B"]
TRUTH, SCORES = np.zeros((6, 2)), np.zeros((6, 4, 2))
SCALE = {"scale": (0.0, 1.0)}


@pytest.mark.parametrize(
    ("argument", "call"),
    [
        ("scores", lambda u: geometric_median(u)),
        ("key", lambda u: consensus(ANSWERS, key=u)),
        ("split", lambda u: ConsensusLaw.fit(ANSWERS, GOLD, split=u)),
        ("scores", lambda u: select_candidate(ANSWERS, ANSWERS, scores=u)),
        ("accuracy", lambda u: ConsensusLaw(u, 0.3, [0.5])),
        ("correlation", lambda u: ConsensusLaw(0.5, u, [0.5])),
        ("attractors", lambda u: ConsensusLaw(0.5, 0.3, u)),
        ("truth", lambda u: contamination.corrupt(u, SCORES, "zeros", rate=0.1, **SCALE)),
        ("scores", lambda u: contamination.corrupt(TRUTH, u, "zeros", rate=0.1, **SCALE)),
        ("rate", lambda u: contamination.corrupt(TRUTH, SCORES, "zeros", rate=u, **SCALE)),
        ("rates", lambda u: contamination.sweep(TRUTH, SCORES, rates=u, **SCALE)),
        ("truth", lambda u: theory.judge_correlation(SCORES, truth=u)),
        ("truth", lambda u: theory.indicator_correlation(SCORES, u)),
        ("alpha", lambda u: theory.geometric_constant(u)),
    ],
)
def test_ragged(argument, call):
    with pytest.raises(ValueError, match=f"^{argument} must be a rectangular array"):
        call(RAGGED)


def test_integers_that_no_float_holds():
    message = r"a float64 holds, got an integer of 1329 bits at index \(0, 0\)"
    with pytest.raises(ValueError, match=message):
        geometric_median([[10**400, 1], [2, 3]])
    with pytest.raises(ValueError, match=message):
        theory.judge_correlation([[10**400, 1], [2, 3]])
