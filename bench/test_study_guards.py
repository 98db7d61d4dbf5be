"""The sweep must stay far ahead of its NumPy twin; room for a noisy machine."""

import study
from timing import interleave


def test_sweep_against_numpy_without_its_slow_median():
    # Seven methods and the intervals against three of NumPy's cheapest: a lost compiled path,
    # or panels generated once for each method, costs more than the room left here.
    made = study.jury(200)
    timings = interleave(
        {
            "ours": lambda: study.our_sweep(made, 10),
            "NumPy": lambda: study.numpy_sweep(
                made.truth, made.scores, ["mean", "coordinatewise_median", "medoid"], 2
            ),
        },
        rounds=3,
    )
    assert timings["ours"].best < 5 * timings["NumPy"].best


def test_corrupting_costs_less_than_numpy():
    import numpy as np

    from ropoll_core import contamination

    made = study.jury(20_000)
    rng = np.random.default_rng(0)
    timings = interleave(
        {
            "ours": lambda: contamination.corrupt(
                made.truth, made.scores, "cauchy-far", rate=0.3, scale=study.SCALE, rng=1
            ),
            "NumPy": lambda: study.corrupt(rng, made.truth, made.scores, "cauchy-far", 0.3),
        }
    )
    assert timings["ours"].best < 1.2 * timings["NumPy"].best
