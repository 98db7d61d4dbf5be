"""No argument loses a mask: a masked array is refused by name, wherever arrays are taken."""

import numpy as np
import pytest

from ropoll_core import contamination, jury, resampling, scores, votes

PANEL = np.ones((2, 3, 2))
VOTES = np.array([[1, 0, 1], [0, 0, 1]])
HIDDEN = [True, False, False]


def masked(values):
    return np.ma.masked_array(values, [HIDDEN[i] for i in range(len(values))])


CALLS = {
    "scores": lambda: scores.mean(np.ma.masked_array(PANEL, PANEL > 3)),
    "weights": lambda: scores.geometric_median(PANEL, weights=masked([1.0, 1.0, 1.0])),
    "votes": lambda: votes.tally(np.ma.masked_array(VOTES, VOTES > 0)),
    "weights of votes": lambda: votes.tally(VOTES, weights=masked([1.0, 1.0, 1.0])),
    "labels": lambda: votes.substitution(VOTES, [1, 0], masked([1, 1])),
    "answers": lambda: jury.consensus(np.ma.masked_array(VOTES, VOTES > 0)),
    "accuracy": lambda: jury.ConsensusLaw(masked([0.7, 0.8]), 0.2, [1.0]),
    "truth": lambda: contamination.sweep(
        np.ma.masked_array(np.zeros((2, 2)), True), PANEL, scale=(0, 1)
    ),
    "data": lambda: resampling.bootstrap(resampling.Mean(0), masked([1.0, 2.0])),
    "tasks": lambda: resampling.bootstrap(resampling.Mean(0), [1.0, 2.0], tasks=masked([1, 2])),
}


@pytest.mark.parametrize("case", CALLS)
def test_refused_by_name(case):
    with pytest.raises(TypeError, match=f"{case.split()[0]} must be .*would lose its mask"):
        CALLS[case]()
