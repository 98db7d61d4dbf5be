"""Figures: what is drawn where, on axes that show it."""

import sys

import numpy as np
import pytest

from ropoll_core import contamination

pytest.importorskip("matplotlib")
from ropoll_core.contamination import figures

METHODS = ["geometric_median", "mean", "trimmed_mean"]


@pytest.fixture(scope="module")
def sweep():
    jury = contamination.simulate_jury(40, 5, 3, scale=(0, 4), sigma=0.5, rng=1)
    return contamination.sweep(
        jury.truth, jury.scores, scale=(0, 4), methods=METHODS, rates=[0.0, 0.2, 0.4],
        committees=[3, 5], n_replicates=3, n_resamples=100, rng=2,
    )  # fmt: skip


def labels(axes):
    return axes.get_legend_handles_labels()[1]


def test_breakdown(sweep, tmp_path):
    figure = figures.breakdown_figure(sweep)
    panels = {axes.get_title(): axes for axes in figure.axes}
    assert tuple(panels) == sweep.corruptions
    assert panels["cauchy-far"].get_yscale() == "log"
    assert panels["zeros"].get_yscale() == "linear"
    line = panels["zeros"].get_lines()[0]
    np.testing.assert_array_equal(line.get_xdata(), sweep.rates)
    np.testing.assert_array_equal(line.get_ydata(), sweep.rmse[1, 0, :, 0])
    assert labels(panels["zeros"]) == ["geometric median", "mean", "trimmed mean"]
    # Three judges are too few to trim: that curve is left out, not drawn as zero.
    small = figures.breakdown_figure(sweep, committee="3 of 5")
    assert labels(small.axes[0]) == ["geometric median", "mean"]
    figure.savefig(tmp_path / "figure.png")
    assert (tmp_path / "figure.png").read_bytes()[:4] == b"\x89PNG"


def test_spare_panels_are_hidden(sweep):
    jury = contamination.simulate_jury(10, 3, 2, scale=(0, 4), sigma=0.5, rng=1)
    four = contamination.sweep(
        jury.truth, jury.scores, scale=(0, 4), methods=["mean"], rng=1, n_resamples=0,
        corruptions=["zeros", "inverted", "sycophantic", "noisy-gt"], rates=[0.0, 0.5],
    )  # fmt: skip
    visible = [axes.get_visible() for axes in figures.breakdown_figure(four).axes]
    assert visible == [True] * 4 + [False] * 2


def test_jury_size(sweep):
    figure = figures.jury_size_figure(sweep, corruption="zeros")
    assert [axes.get_title() for axes in figure.axes] == [
        "nobody corrupted", "20% zeros", "40% zeros",
    ]  # fmt: skip
    line = figure.axes[1].get_lines()[1]
    np.testing.assert_array_equal(line.get_xdata(), [3, 5])
    np.testing.assert_array_equal(line.get_ydata(), sweep.rmse[:, 0, 1, 1])


def test_legend_fits_the_figure(sweep):
    for figure in (figures.jury_size_figure(sweep), figures.premium_figure(sweep)):
        figure.draw_without_rendering()
        box = figure.legends[0].get_window_extent()
        assert box.x0 >= 0
        assert box.x1 <= figure.bbox.width


def test_premium(sweep):
    axes = figures.premium_figure(sweep).axes[0]
    heights = [bar.get_height() for bar in axes.patches]
    expected = 100 * sweep.premium[:, [0, 2]].T.ravel()
    np.testing.assert_allclose(heights, expected, rtol=1e-9)


def test_gallery():
    figure = figures.gallery_figure(rng=3)
    assert [axes.get_title() for axes in figure.axes] == list(contamination.CORRUPTIONS)[:6]
    for axes in figure.axes:
        assert labels(axes) == [
            "clean judges", "corrupted judges", "truth", "mean", "geometric median",
        ]  # fmt: skip
        truth = axes.collections[2].get_offsets()[0]
        mean, median = (axes.collections[k].get_offsets()[0] for k in (3, 4))
        if axes.get_title() != "noisy-gt":
            assert np.linalg.norm(median - truth) < np.linalg.norm(mean - truth)


@pytest.mark.parametrize(
    ("draw", "message"),
    [
        (lambda s: figures.breakdown_figure(s, committee="7"), "committee must be one of 3 of 5"),
        (lambda s: figures.jury_size_figure(s, corruption="x"), "corruption must be one of zeros"),
    ],
)
def test_refuses(sweep, draw, message):
    with pytest.raises(ValueError, match=message):
        draw(sweep)


def test_premium_needs_a_clean_rate_and_a_baseline():
    jury = contamination.simulate_jury(10, 3, 2, scale=(0, 4), sigma=0.5, rng=1)
    options = {"scale": (0, 4), "methods": ["mean"], "rng": 1, "n_resamples": 0}
    for change in ({"rates": [0.5]}, {"rates": [0.0], "baseline": None}):
        sweep = contamination.sweep(jury.truth, jury.scores, **options, **change)
        with pytest.raises(ValueError, match="must have a baseline and a rate of 0"):
            figures.premium_figure(sweep)


def test_without_matplotlib_the_extra_is_named(sweep, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    with pytest.raises(ImportError, match=r"ropoll-core\[plot\]"):
        figures.breakdown_figure(sweep)
