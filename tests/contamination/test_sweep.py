"""Sweeps: each cell against a plain twin, to the bit under threads and resumption."""

import functools
import itertools
import tracemalloc

import numpy as np
import pytest
from reference.study import MEMBER, Draws

from ropoll_core import contamination, resampling, scores

SCALE = (0.0, 4.0)


def mean(panels):
    return np.nanmean(panels, axis=1)


def middle(panels):
    return np.nanmedian(panels, axis=1)


METHODS = {"mean": mean, "middle": middle}


@pytest.fixture(scope="module")
def jury():
    return contamination.simulate_jury(
        70, 6, 3, scale=SCALE, sigma=0.5, correlation=0.4, failure_rate=0.02, rng=9
    )


def run(jury, **changes):
    options = {
        "scale": SCALE,
        "methods": METHODS,
        "corruptions": ["zeros", "cauchy-far"],
        "rates": [0.0, 0.3],
        "n_replicates": 4,
        "n_resamples": 50,
        "rng": 3,
    }
    return contamination.sweep(jury.truth, jury.scores, **(options | changes))


def same(first, second):
    for name in ("rmse", "rmse_low", "rmse_high", "ratio", "ratio_low", "ratio_high"):
        np.testing.assert_array_equal(getattr(first, name), getattr(second, name))
    np.testing.assert_array_equal(first.n_undefined, second.n_undefined)


def drawn(rng, replicate, item, wanted, n_judges):
    """Which judges sit: selection sampling."""
    chosen, draws = [], Draws(rng)
    for judge in range(n_judges):
        left = n_judges - judge
        if left * draws.uniform(replicate, MEMBER, item, judge, 0) < wanted - len(chosen):
            chosen.append(judge)
    return chosen


def test_every_cell_equals_twin(jury):
    committees = {"all": 6, "pair": [4, 1], "any": 3}
    rates = [0.1, 0.6]
    result = run(jury, committees=committees, rates=rates)
    for (seat, name), (k, kind), (r, rate) in itertools.product(
        enumerate(committees), enumerate(["zeros", "cauchy-far"]), enumerate(rates)
    ):
        panels = []
        for replicate in range(4):
            scores = contamination.corrupt(
                jury.truth, jury.scores, kind, rate=rate, scale=SCALE, replicate=replicate, rng=3
            ).scores
            for item in range(70):
                judges = {"all": range(6), "pair": [4, 1]}.get(
                    name, drawn(3, replicate, item, 3, 6)
                )
                panels.append(scores[item, list(judges)])
        truth = np.tile(jury.truth, (4, 1))
        errors = np.array([np.nanmean(panel, axis=0) for panel in panels]) - truth
        expected = np.sqrt((errors**2).mean())
        assert result.rmse[seat, k, r, 0] == pytest.approx(expected, rel=1e-12)
        errors = np.array([np.nanmedian(panel, axis=0) for panel in panels]) - truth
        assert result.rmse[seat, k, r, 1] == pytest.approx(np.sqrt((errors**2).mean()), rel=1e-12)
    np.testing.assert_allclose(result.ratio, result.rmse / result.rmse[..., :1], rtol=1e-14)
    assert result.n_judges.tolist() == [6, 2, 3]
    assert result.n_panels == 280


@pytest.mark.parametrize("tasks", [None, np.arange(70) // 7])
def test_intervals_are_the_task_bootstrap(jury, tasks):
    result = run(jury, rates=[0.3], n_resamples=4000, tasks=tasks, corruptions=["zeros"])
    squares = np.zeros((70, 2))
    for replicate in range(4):
        scores = contamination.corrupt(
            jury.truth, jury.scores, "zeros", rate=0.3, scale=SCALE, replicate=replicate, rng=3
        ).scores
        for m, method in enumerate((mean, middle)):
            squares[:, m] += ((method(scores) - jury.truth) ** 2).mean(axis=1)
    direct = resampling.bootstrap(
        resampling.OfTotals(lambda t: np.sqrt(t[:2] / (4 * t[2]))),
        np.column_stack([squares, np.ones(70)]),
        tasks=tasks,
        n_resamples=20_000,
        rng=1,
    )
    cell = result.rmse_low[0, 0, 0], result.rmse_high[0, 0, 0]
    width = direct.high - direct.low
    # Other draws: ends of intervals agree within their Monte Carlo error.
    assert (np.abs(cell[0] - direct.low) < 0.06 * width).all()
    assert (np.abs(cell[1] - direct.high) < 0.06 * width).all()
    # Paired: the ratio's interval is far narrower than the methods' own would allow.
    assert result.ratio_low[0, 0, 0, 0] == result.ratio_high[0, 0, 0, 0] == 1.0
    assert result.ratio_low[0, 0, 0, 1] < result.ratio[0, 0, 0, 1] < result.ratio_high[0, 0, 0, 1]


@pytest.mark.parametrize("workers", [2, 5])
def test_bits_do_not_depend_on_workers(jury, workers):
    big = contamination.simulate_jury(1500, 5, 3, scale=SCALE, sigma=0.5, rng=1)
    options = {"committees": [3, 5], "n_replicates": 33}
    same(run(big, **options), run(big, **options, workers=workers))


def test_nobody_is_corrupted_at_rate_0(jury):
    calls = []

    def counted(panels):
        calls.append(len(panels))
        return mean(panels)

    result = run(jury, methods={"mean": counted}, rates=[0, 0], corruptions=["zeros", "inverted"])
    assert (result.rmse == result.rmse[0, 0, 0, 0]).all()
    assert sum(calls) == 2 * 280 + 1  # one probe; the second corruption is not computed again


def test_curves_are_paired_over_committees(jury):
    whole = run(jury, committees=[[0, 1, 2, 3, 4, 5]])
    again = run(jury, committees={"x": [2, 3, 4], "same": range(6)})
    np.testing.assert_array_equal(whole.rmse[0], again.rmse[1])


def test_interrupted_run_goes_on_to_the_same_result(jury, tmp_path, monkeypatch):
    monkeypatch.setattr("ropoll_core.contamination.state._SECONDS_BETWEEN_SAVES", 0.0)
    path = tmp_path / "sweep.npz"
    options = {"committees": [2, 4], "state": path}
    seen = []

    def stop_at_third(done, total):
        seen.append((done, total))
        if done == 3:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run(jury, **options, progress=stop_at_third)
    assert [p.name for p in tmp_path.iterdir()] == ["sweep.npz"]
    again = []
    resumed = run(jury, **options, progress=lambda done, total: again.append(done))
    assert again == list(range(3, 9))
    same(resumed, run(jury, committees=[2, 4]))
    # Complete: nothing is computed again.
    calls = []
    same(resumed, run(jury, **options, progress=lambda done, total: calls.append(done)))
    assert set(calls) == {8}


def test_state_of_another_sweep_is_refused_and_kept(jury, tmp_path):
    path = tmp_path / "sweep.npz"
    run(jury, state=path)
    before = path.read_bytes()
    changes = [
        {"rng": 4},
        {"rates": [0.0, 0.31]},
        {"n_replicates": 5},
        {"scale": (0, 5)},
        {"colluding": True},
        {"methods": {"mean": mean, "middle": mean}},
        {"baseline": None},
        {"tasks": np.arange(70) // 2},
    ]
    for change in changes:
        with pytest.raises(ValueError, match="other data or options"):
            run(jury, state=path, **change)
    assert path.read_bytes() == before
    path.write_bytes(before[:100])
    with pytest.raises(ValueError, match="state must be a file that a sweep wrote"):
        run(jury, state=path)
    with pytest.raises(ValueError, match="state needs a fixed rng"):
        run(jury, state=path, rng=None)


def test_failed_save_leaves_nothing(jury, tmp_path, monkeypatch):
    def broken(*args, **kwargs):
        raise OSError("disk full")

    monkeypatch.setattr(np, "savez", broken)
    with pytest.raises(OSError, match="disk full"):
        run(jury, state=tmp_path / "sweep.npz")
    assert not list(tmp_path.iterdir())


def test_missing_judges_stay_missing_and_undefined_panels_are_counted(jury):
    scores = jury.scores.copy()
    scores[:5] = np.nan
    scores[5:10, :5] = np.nan

    def quiet_mean(panels):
        found = ~np.isnan(panels)
        with np.errstate(invalid="ignore"):
            return np.where(found, panels, 0).sum(axis=1) / found.sum(axis=1)

    result = contamination.sweep(
        jury.truth, scores, scale=SCALE, methods={"mean": quiet_mean}, corruptions=["zeros"],
        rates=[0.0, 0.5], n_replicates=3, rng=1,
    )  # fmt: skip
    assert result.n_undefined.ravel().tolist() == [15, 15]
    assert np.isfinite(result.rmse).all()
    assert result.natural_failure_rate[0] == pytest.approx(
        np.isnan(scores[:, 0, 0]).mean(), rel=1e-14
    )
    natural = result.natural_failure_rate
    np.testing.assert_allclose(
        result.effective_rate, [[natural.mean(), (natural + (1 - natural) * 0.5).mean()]]
    )


def test_unknown_truth_is_left_out_and_counted(jury):
    truth = jury.truth.copy()
    truth[60:] = np.nan
    result = contamination.sweep(
        truth, jury.scores, scale=SCALE, methods=METHODS, rates=[0.2], rng=3
    )
    rest = contamination.sweep(
        truth[:60], jury.scores[:60], scale=SCALE, methods=METHODS, rates=[0.2], rng=3
    )
    assert (result.n_unknown, result.n_panels) == (10, 1200)
    same(result, rest)


def test_methods_that_refuse_a_size_are_named(jury):
    def picky(panels):
        if panels.shape[1] < 4:
            raise ValueError("needs four judges")
        return mean(panels)

    result = run(jury, methods={"mean": mean, "picky": picky}, committees=[3, 5])
    assert result.not_applicable == {("picky", "3 of 6"): "needs four judges"}
    assert np.isnan(result.rmse[0, ..., 1]).all()
    np.testing.assert_array_equal(result.rmse[1, ..., 1], result.rmse[1, ..., 0])
    refused = run(jury, methods={"mean": picky}, committees=[3])
    assert np.isnan(refused.rmse).all()


def test_rates_by_judge(jury):
    result = run(jury, rates=[[0, 0, 0, 0, 0, 0], [0, 0, 0, 0, 0, 1]], corruptions=["inverted"])
    np.testing.assert_allclose(result.rates, [0, 1 / 6])
    without = run(jury, rates=[0.0], committees=[range(5)], corruptions=["inverted"])
    only_good = run(
        jury, rates=[[0, 0, 0, 0, 0, 1]], committees=[range(5)], corruptions=["inverted"]
    )
    assert without.rmse[0, 0, 0, 0] == only_good.rmse[0, 0, 0, 0]
    assert result.rmse[0, 0, 1, 0] > result.rmse[0, 0, 0, 0]


@pytest.mark.parametrize("committee", [[0, 3, 5], 3])
def test_a_users_corruption_in_a_sweep_equals_the_built_in(jury, committee):
    def by_cells(cells):
        return contamination.cauchy_far(cells)

    options = {"committees": [committee], "rates": [0.4], "n_replicates": 7, "colluding": True}
    built_in = run(jury, corruptions=["cauchy-far"], **options)
    users = run(jury, corruptions={"mine": by_cells}, **options)
    np.testing.assert_array_equal(users.rmse, built_in.rmse)
    assert users.corruptions == ("mine",)


def test_premium_and_table(jury):
    result = run(jury, committees=[2, 6])
    np.testing.assert_array_equal(result.premium, result.ratio[:, 0, 0] - 1)
    table = result.table()
    assert {len(column) for column in table.values()} == {2 * 2 * 2 * 2}
    row = [i for i in range(16) if table["method"][i] == "middle" and table["rate"][i] == 0.3][1]
    assert table["committee"][row] == "2 of 6"
    assert table["corruption"][row] == "cauchy-far"
    assert table["rmse"][row] == result.rmse[0, 1, 1, 1]
    assert np.isnan(run(jury, rates=[0.5]).premium).all()
    without = run(jury, baseline=None)
    assert np.isnan(without.ratio).all()
    assert "baseline              None" in repr(without)


def test_no_resamples_no_intervals(jury):
    result = run(jury, n_resamples=0)
    np.testing.assert_array_equal(result.rmse, run(jury).rmse)
    assert np.isnan(result.rmse_low).all()


@pytest.mark.parametrize(
    ("change", "error", "message"),
    [
        ({"methods": "mean"}, TypeError, "methods must be a sequence of names or a mapping"),
        ({"methods": ["nonsense"]}, ValueError, "method must be one of"),
        ({"methods": ["huber_mean"]}, TypeError, "'huber_mean' needs threshold: map a label"),
        ({"methods": [mean]}, TypeError, "methods must hold names, or be a mapping"),
        ({"methods": {"mean": 3}}, TypeError, "methods must map to names or functions"),
        ({"methods": {}}, ValueError, "methods must not be empty"),
        ({"methods": ["mean", "mean"]}, ValueError, "must not repeat a name"),
        ({"methods": {"mean": lambda p: p[:, 0, :1]}}, ValueError, "method mean must give shape"),
        ({"methods": {"mean": lambda p: p[:, 0] + np.inf}}, ValueError, "must give finite"),
        ({"methods": {"mean": lambda p: p.sort() or p[:, 0]}}, ValueError, "read-only"),
        ({"corruptions": ["nonsense"]}, ValueError, "corruption must be one of"),
        ({"baseline": "median"}, ValueError, "baseline must be None or one of the methods mean"),
        ({"rates": []}, ValueError, "rates must have shape"),
        ({"rates": [[0.1, 0.2]]}, ValueError, r"rates must have shape .n_rates,. or .n_rates, 6"),
        ({"rates": [1.5]}, ValueError, "rates must hold"),
        ({"committees": []}, ValueError, "committees must not be empty"),
        ({"committees": [7]}, ValueError, "committees must be from 1 to 6, got 7"),
        ({"committees": [[0, 0]]}, ValueError, "must list different judges"),
        ({"committees": [[0, 6]]}, ValueError, "committees must be from 0 to 5, got 6"),
        ({"committees": [3, 3]}, ValueError, "committees must differ"),
        ({"committees": 3}, TypeError, "committees must be a sequence"),
        ({"n_replicates": 0}, ValueError, "n_replicates must be"),
        ({"confidence_level": 1.0}, ValueError, "confidence_level"),
        ({"tasks": np.arange(3)}, ValueError, "tasks must"),
        ({"workers": 0}, ValueError, "workers must be"),
    ],
)
def test_refuses(jury, change, error, message):
    with pytest.raises(error, match=message):
        run(jury, **change)


def test_truth_must_be_known_somewhere(jury):
    with pytest.raises(ValueError, match="known for at least one item"):
        contamination.sweep(np.full((70, 3), np.nan), jury.scores, scale=SCALE, methods=METHODS)


def test_error_in_a_worker_surfaces(jury):
    calls = itertools.count()

    def breaks(panels):
        if next(calls) > 2:
            raise ZeroDivisionError("from the method")
        return mean(panels)

    with pytest.raises(ZeroDivisionError, match="from the method"):
        run(jury, methods={"mean": breaks}, workers=3)


def test_memory_does_not_grow_with_replicates_or_cells():
    big = contamination.simulate_jury(500, 5, 3, scale=SCALE, sigma=0.5, rng=1)

    def peak(**options):
        tracemalloc.start()
        run(big, methods={"mean": lambda p: p.mean(axis=1)}, n_resamples=0, **options)
        size = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        return size

    once = peak(n_replicates=10)
    # All panels at once would take 500 x 400 x 5 x 3 x 8 bytes = 24 MB a cell.
    assert peak(n_replicates=400, rates=[0.0, 0.1, 0.2, 0.3]) < once + 1_000_000


def test_every_method_of_the_toolbox_that_needs_nothing_more(jury):
    names = [name for name in scores.METHODS if name != "huber_mean"]
    huber = functools.partial(scores.huber_mean, threshold=0.5, max_iter=10_000)
    methods = {name: name for name in names} | {"huber": huber}
    result = run(jury, methods=methods, committees=[3, 6], corruptions=["zeros"], workers=2)
    refused = {name for name, seat in result.not_applicable if seat == "3 of 6"}
    assert refused == {"trimmed_mean", "coordinatewise_trimmed_mean"}
    assert {name for name, seat in result.not_applicable if seat == "all 6"} == set()
    applied = [name not in refused for name in result.methods]
    assert np.isfinite(result.rmse[0][..., applied]).all()
    assert np.isfinite(result.rmse[1]).all()
    # Two of three judges are too few for Krum: those panels are counted, not guessed.
    assert result.n_undefined[0, 0, 0, result.methods.index("krum")] > 0
    single = run(jury, methods={"medoid": "medoid"}, baseline=None, committees=[6],
                 corruptions=["zeros"])  # fmt: skip
    np.testing.assert_array_equal(
        single.rmse[0, ..., 0], result.rmse[1, ..., result.methods.index("medoid")]
    )
