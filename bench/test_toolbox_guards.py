"""Aggregators must stay faster than their NumPy twins, with room for a noisy machine."""

import pytest
from scores_toolbox import cases, check, panels
from timing import interleave

N, D = 7, 5


@pytest.mark.parametrize("method", cases(N))
def test_faster_than_the_twin(method):
    ours, twin, least, agreement = cases(N)[method]
    x = panels(N, D)[:20_000]
    check(x, ours, twin, agreement)
    timings = interleave({"ours": lambda: ours(x), "twin": lambda: twin(x)}, rounds=9, burst=0.005)
    ratio = timings["twin"].best / timings["ours"].best
    assert ratio >= least, f"{method}: {ratio:.1f} times faster than NumPy, at least {least} asked"
