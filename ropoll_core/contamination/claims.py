"""The qualitative claims of arXiv 2606.30931, each held against a sweep."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ropoll_core._results.study import Claim, Sweep

__all__ = ["check_claims", "knee"]

_NEEDED = ("geometric_median", "mean", "coordinatewise_median")
_CORRUPTIONS = ("cauchy-far", "bimodal-random", "noisy-gt")
_RATE = 0.3


def check_claims(sweep: Sweep, sizes: Sweep | None = None) -> tuple[Claim, ...]:
    """Hold the paper's qualitative claims against every committee of a sweep.

    Parameters
    ----------
    sweep : Sweep
        With baseline "mean", the methods geometric_median, mean and coordinatewise_median, the
        corruptions cauchy-far, bimodal-random and noisy-gt, and rates 0 and 0.3.
    sizes : Sweep, optional
        Over committees of the sizes 1, 3, 5, ..., with a rate of 0: where the knee is.

    Returns
    -------
    tuple of Claim
        What was claimed, what was measured, and whether it holds there.

    Raises
    ------
    ValueError
        If `sweep` lacks one of those.

    Examples
    --------
    >>> from ropoll_core import contamination
    >>> jury = contamination.simulate_jury(
    ...     300, 13, 5, scale=(0, 4), sigma=0.7, correlation=0.5, rng=1
    ... )
    >>> result = contamination.sweep(
    ...     jury.truth, jury.scores, scale=(0, 4), rates=[0, 0.3], rng=2, n_replicates=5
    ... )
    >>> all(claim.holds for claim in contamination.check_claims(result))
    True
    """
    for wanted, axis, name in (
        (_NEEDED, sweep.methods, "methods"),
        (_CORRUPTIONS, sweep.corruptions, "corruptions"),
        ((0.0, _RATE), sweep.rates.tolist(), "rates"),
        (("mean",), (sweep.baseline,), "baseline"),
    ):
        lacking = [entry for entry in wanted if entry not in axis]
        if lacking:
            raise ValueError(f"sweep must have {lacking[0]!r} among its {name}, got {list(axis)}")
    claims = [
        claim
        for seat in range(len(sweep.committees))
        for claim in (
            _diverges(sweep, seat),
            _stays(sweep, seat),
            _beats(sweep, seat),
            _premium(sweep, seat),
            _control(sweep, seat),
        )
    ]
    if sizes is not None:
        claims.append(_knee(sizes))
    return tuple(claims)


def _rmse(sweep: Sweep, seat: int, corruption: str, rate: float, method: str) -> float:
    k = sweep.corruptions.index(corruption)
    r = sweep.rates.tolist().index(rate)
    return float(sweep.rmse[seat, k, r, sweep.methods.index(method)])


def _short(value: float) -> str:
    return f"{value:,.0f}" if value >= 100 else f"{value:.3g}"


def _diverges(sweep: Sweep, seat: int) -> Claim:
    clean = _rmse(sweep, seat, "cauchy-far", 0.0, "mean")
    hit = _rmse(sweep, seat, "cauchy-far", _RATE, "mean")
    return Claim(
        "Under 30 % cauchy-far the mean's error grows by one to three orders of magnitude or more",
        sweep.committees[seat],
        f"mean {clean:.3g} to {_short(hit)}, {_short(hit / clean)} times",
        hit > 10 * clean,
    )


def _stays(sweep: Sweep, seat: int) -> Claim:
    clean = _rmse(sweep, seat, "cauchy-far", 0.0, "geometric_median")
    hit = _rmse(sweep, seat, "cauchy-far", _RATE, "geometric_median")
    return Claim(
        "Under 30 % cauchy-far the geometric median stays (its error at most doubles)",
        sweep.committees[seat],
        f"geometric median {clean:.3g} to {_short(hit)}, {_short(hit / clean)} times",
        hit < 2 * clean,
    )


def _beats(sweep: Sweep, seat: int) -> Claim:
    mean, median, by_coordinate = (
        _rmse(sweep, seat, "bimodal-random", _RATE, method)
        for method in ("mean", "geometric_median", "coordinatewise_median")
    )
    return Claim(
        "At 30 % bimodal-random the geometric median beats the mean by 10 %, "
        "the coordinate-wise median does not",
        sweep.committees[seat],
        f"geometric median {median / mean - 1:+.1%}, "
        f"coordinate-wise median {by_coordinate / mean - 1:+.1%} against the mean",
        median <= 0.9 * mean and by_coordinate > 0.9 * mean,
    )


def _premium(sweep: Sweep, seat: int) -> Claim:
    premium = float(sweep.premium[seat, sweep.methods.index("geometric_median")])
    return Claim(
        "The premium of the geometric median at rate 0 is at most 7 %",
        sweep.committees[seat],
        f"{premium:+.1%}",
        premium <= 0.07,
    )


def _control(sweep: Sweep, seat: int) -> Claim:
    mean = _rmse(sweep, seat, "noisy-gt", _RATE, "mean")
    median = _rmse(sweep, seat, "noisy-gt", _RATE, "geometric_median")
    return Claim(
        "Under noisy-gt, the benign control, the mean is the better one",
        sweep.committees[seat],
        f"geometric median {median / mean - 1:+.1%} against the mean",
        mean < median,
    )


def knee(n_judges: NDArray[np.int64], rmse: NDArray[np.float64]) -> int:
    """Size after which further judges help little.

    Parameters
    ----------
    n_judges : ndarray of shape (n_sizes,)
        Increasing.
    rmse : ndarray of shape (n_sizes,)

    Returns
    -------
    int
        The size whose error lies farthest below the chord from the first point to the last,
        both axes scaled to it.

    Examples
    --------
    >>> import numpy as np
    >>> from ropoll_core.contamination import knee
    >>> knee(np.array([1, 3, 5, 7]), np.array([1.0, 0.7, 0.65, 0.63]))
    3
    """
    along = (n_judges - n_judges[0]) / (n_judges[-1] - n_judges[0])
    down = (rmse[0] - rmse) / (rmse[0] - rmse[-1])
    return int(n_judges[int(np.argmax(down - along))])


def _knee(sizes: Sweep) -> Claim:
    odd = np.flatnonzero(sizes.n_judges % 2 == 1)
    odd = odd[np.argsort(sizes.n_judges[odd])]
    clean = sizes.rates.tolist().index(0.0)
    rmse = sizes.rmse[odd, 0, clean, sizes.methods.index("mean")]
    at = knee(sizes.n_judges[odd], rmse)
    steps = ", ".join(
        f"{n}: {value:.3f}" for n, value in zip(sizes.n_judges[odd], rmse, strict=True)
    )
    return Claim(
        "The curve of the mean's error over odd sizes of a clean jury has its knee at 3",
        "all sizes",
        f"knee at {at}; {steps}",
        at == 3,
    )
