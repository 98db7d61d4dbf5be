"""Inputs on which a geometric median has failed in public, with the right values."""

import csv

import numpy as np
import pytest
from reference.exact_median import exact_median

from ropoll_core._results.scores import Status
from ropoll_core.scores import geometric_median

NAN = np.nan

# Seven judges, four attributes; medians by Newton's method in sixty digits.
BATCH = np.array(
    [
        [
            [6.55, 3.23, 4.82, 0.05],
            [4.36, 4.62, 5.07, 6.82],
            [8.04, 9.12, 9.01, 6.0],
            [7.38, 3.82, 6.76, 7.28],
            [3.59, 7.04, 1.02, 4.12],
            [0.6, 8.54, 5.74, 2.43],
            [0.84, 1.63, 3.91, 7.14],
        ],
        [
            [8.5, 5.32, 8.07, 8.43],
            [3.67, 8.95, 9.22, 2.7],
            [1.9, 6.16, 2.01, 9.32],
            [2.57, 7.46, 1.89, 4.71],
            [9.2, 3.16, 7.28, 6.27],
            [5.63, 5.0, 5.53, 1.86],
            [5.97, 7.81, 6.5, 7.56],
        ],
        [
            [3.5, 6.37, 9.78, 5.37],
            [9.41, 8.36, 3.78, 9.83],
            [0.52, 8.71, 2.21, 6.5],
            [1.84, 9.87, 6.79, 4.16],
            [1.23, 2.7, 5.63, 1.84],
            [0.36, 0.21, 1.46, 4.62],
            [9.25, 6.65, 3.28, 6.53],
        ],
    ]
)
BATCH_MEDIAN = np.array(
    [
        [4.489397031791067, 5.059675716542795, 5.088659249166822, 5.59248180870895],
        [5.655529427108693, 6.4464187287086645, 6.0347500871905195, 6.080583662286064],
        [3.3863170241046365, 6.521433746791476, 5.061401960195641, 5.362268931498607],
    ]
)


def certified(scores, **options):
    """The median, once the result has been seen to claim a proof for every query."""
    result = geometric_median(scores, full_output=True, **options)
    valid = np.asarray(result.n_valid) > 0
    assert np.asarray(result.certified)[valid].all()
    assert (np.asarray(result.gap)[valid] <= 1e-12 * np.asarray(result.objective)[valid]).all()
    return result.median


def column(values, dtype=float):
    """A panel of one attribute, a judge each value."""
    return np.array(values, dtype=dtype)[:, None]


def test_judges_who_all_agree():
    scores = np.array([[[4, 2, 7]] * 5, [[0, 0, 0]] * 5])
    result = geometric_median(scores, full_output=True)
    assert result.median.tolist() == [[4, 2, 7], [0, 0, 0]]
    assert result.objective.tolist() == [0, 0]
    assert result.gap.tolist() == [0, 0]


def test_median_at_a_judge_with_the_condition_tight():
    # The others pull at (3, 3) with exactly its weight: iteration alone needs for ever.
    scores = [[3, 3], [0, 3], [6, 3], [3, 5]]
    result = geometric_median(scores, full_output=True)
    assert result.median.tolist() == [3, 3]
    assert result.objective == 8
    assert result.gap <= 1e-12


def test_no_progress_from_the_start_is_not_a_failure():
    h = 0.8660254037844386
    hexagon = [[1.0, 0.0], [-0.5, h], [-0.5, -h], [-1.0, 0.0], [0.5, h], [0.5, -h]]
    result = geometric_median(hexagon, full_output=True)
    np.testing.assert_allclose(result.median, [0, 0], atol=1e-12)
    np.testing.assert_allclose(result.objective, 6, rtol=1e-15)


def test_iteration_from_the_mean_stops_at_the_wrong_judge():
    assert certified(column([-3, 0, 1, 1, 1])).tolist() == [1]
    line = np.array([[-3, 0], [0, 0], [1, 0], [1, 0], [1, 0]])
    assert certified(line).tolist() == [1, 0]


@pytest.mark.parametrize("factor", [1, 1e-7, 1e-150, 1e-300, 1e7, 1e150, 1e300])
def test_scale_does_not_matter(factor):
    base = np.array(
        [[2.0, 8.0, 5.0], [3.0, 7.0, 5.5], [2.5, 7.5, 4.0], [9.0, 1.0, 9.5], [3.5, 8.5, 6.0]]
    )
    expected = [2.9721041516769438, 7.267387879499667, 5.385365125050197]
    np.testing.assert_allclose(certified(base * factor) / factor, expected, rtol=1e-11)


def test_duplicates_keep_their_weight():
    assert certified([[2, 2], [2, 2], [2, 2], [9, 4], [5, 9]]).tolist() == [2, 2]
    alone = certified([[2, 2], [9, 4], [5, 9]])
    np.testing.assert_allclose(alone, [5.709406480124812, 5.166311678249493], rtol=1e-14)


def test_nobody_scored():
    scores = np.array([[[NAN, NAN]] * 3, [[6, 3], [6, 3], [NAN, NAN]]])
    result = geometric_median(scores, full_output=True)
    assert np.isnan(result.median[0]).all()
    assert result.median[1].tolist() == [6, 3]
    assert result.n_valid.tolist() == [0, 2]
    assert result.status.tolist() == [Status.ALL_MISSING, Status.CERTIFIED]


def test_a_judge_with_one_attribute_missing_is_missing():
    scores = np.array(
        [
            [[1, 2], [NAN, NAN], [1, 2]],
            [[NAN, NAN], [NAN, NAN], [NAN, NAN]],
            [[5, 5], [5, 5], [NAN, 5]],
        ]
    )
    result = geometric_median(scores, full_output=True)
    np.testing.assert_array_equal(result.median, [[1, 2], [NAN, NAN], [5, 5]])
    assert result.n_valid.tolist() == [2, 0, 2]


def test_a_failed_parse_is_not_a_zero():
    # 7 and 8 with the third reply unreadable, 9 alone, and a real zero beside a six.
    scores = np.array([[[7], [8], [NAN]], [[9], [NAN], [NAN]], [[0], [6], [NAN]]])
    assert geometric_median(scores).tolist() == [[7.5], [9], [3]]


def test_all_weight_on_missing_judges():
    scores = np.array([[[NAN], [3], [5]], [[1], [3], [5]]])
    result = geometric_median(scores, weights=[1, 0, 0], full_output=True)
    np.testing.assert_array_equal(result.median, [[NAN], [1]])
    assert result.status.tolist() == [Status.ALL_MISSING, Status.CERTIFIED]
    assert result.n_valid.tolist() == [0, 1]


WEIGHTED = np.array([[1, 1], [2, 5], [8, 3], [4, 9], [6, 7]], dtype=float)
WEIGHTED_MEDIAN = [3.9291038410937675, 4.5120300321386555]


@pytest.mark.parametrize(
    "weights", [[2, 0, 1, 1.5, 0.5], [4, 0, 2, 3, 1], [2e-12, 0, 1e-12, 1.5e-12, 5e-13]]
)
def test_weights_count_by_their_ratios_and_zero_is_omitted(weights):
    found = certified(WEIGHTED, weights=weights)
    np.testing.assert_allclose(found, WEIGHTED_MEDIAN, rtol=1e-11)
    kept = np.array(weights) > 0
    alone = certified(WEIGHTED[kept], weights=np.array(weights)[kept])
    np.testing.assert_allclose(found, alone, rtol=1e-11)


@pytest.mark.parametrize(
    ("weights", "message"),
    [
        (
            [1, -0.5, 1, 1, 1],
            r"weights must be finite and not negative, got .*-0\.5.* index \(1,\)",
        ),
        ([0, 0, 0, 0, 0], "weights must not all be zero"),
        ([1, NAN, 1, 1, 1], r"weights must be finite and not negative, got .*nan.* index \(1,\)"),
        ([1, 1, 1], r"weights must have shape \(5,\).*, got \(3,\)"),
    ],
)
def test_bad_weights(weights, message):
    with pytest.raises(ValueError, match=message):
        geometric_median(WEIGHTED, weights=weights)


def test_shape_is_kept_for_one_attribute_one_judge_two_judges_no_query():
    assert geometric_median([[[3], [9], [4]]]).tolist() == [[4]]
    assert geometric_median([[[5, 1, 2]]]).tolist() == [[5, 1, 2]]
    two = geometric_median([[[0, 0], [2, 4]]], full_output=True)
    assert two.median.tolist() == [[1, 2]]
    np.testing.assert_allclose(two.objective, [20**0.5], rtol=1e-15)
    empty = geometric_median(np.empty((0, 3, 2)))
    assert empty.shape == (0, 2)
    assert empty.dtype == np.float64


@pytest.mark.parametrize("n_attributes", [1, 2, 8, 31, 32, 33, 64, 96])
def test_two_judges_of_any_length(n_attributes):
    scores = np.random.default_rng(2).normal(size=(5, 2, n_attributes))
    np.testing.assert_array_equal(certified(scores), (scores[:, 0] + scores[:, 1]) / 2)
    np.testing.assert_array_equal(certified(scores, weights=[1, 3]), scores[:, 1])
    scores[:, 0, -1] = NAN
    np.testing.assert_array_equal(certified(scores), scores[:, 1])


def layouts(scores):
    """The same numbers in other clothes."""
    yield "C order", scores
    yield "Fortran order", np.asfortranarray(scores)
    wide = np.full((scores.shape[0], 2 * scores.shape[1], scores.shape[2]), NAN)
    wide[:, ::2] = scores
    yield "every second judge", wide[:, ::2]
    yield "backwards", scores[:, :, ::-1].copy()[:, :, ::-1]
    frozen = scores.copy()
    frozen.setflags(write=False)
    yield "read-only", frozen
    yield "big-endian", scores.astype(">f8")
    packed = np.zeros(scores.shape, dtype=[("pad", "u1"), ("score", "f8")])
    packed["score"] = scores
    yield "unaligned", packed["score"]
    yield "nested lists", scores.tolist()


def test_a_batch_in_every_layout():
    plain = geometric_median(BATCH)
    np.testing.assert_allclose(plain, BATCH_MEDIAN, rtol=0, atol=1e-11)
    for name, scores in layouts(BATCH):
        before = scores.tobytes() if isinstance(scores, np.ndarray) else repr(scores)
        np.testing.assert_array_equal(geometric_median(scores), plain, err_msg=name)
        after = scores.tobytes() if isinstance(scores, np.ndarray) else repr(scores)
        assert before == after, name
    single = geometric_median(BATCH.astype(np.float32))
    assert single.dtype == np.float32
    np.testing.assert_allclose(single, BATCH_MEDIAN, rtol=0, atol=1e-5)
    for k, scores in enumerate(BATCH):
        np.testing.assert_array_equal(geometric_median(scores), plain[k])
    np.testing.assert_allclose(geometric_median(BATCH[:, ::-1]), BATCH_MEDIAN, rtol=0, atol=1e-11)
    np.testing.assert_allclose(
        geometric_median(BATCH[..., [2, 0, 3, 1]]), BATCH_MEDIAN[:, [2, 0, 3, 1]], atol=1e-11
    )


def test_input_and_weights_are_left_alone():
    scores = np.array([[[5, 1], [NAN, 9], [2, 2]], [[8, 8], [7, 6], [1, 0]]])
    scores.view(np.uint64)[0, 1, 0] = 0x7FF8_0000_0000_BEEF  # a NaN with a payload
    weights = np.array([0.0, 1.0, 2.0])
    kept, kept_weights = scores.tobytes(), weights.tobytes()
    for view in (scores, scores[::-1], scores[:, 1:], scores[..., ::-1]):
        w = weights[3 - view.shape[1] :]
        geometric_median(view, weights=w)
        geometric_median(view, weights=w, full_output=True, solver="weiszfeld")
    assert scores.tobytes() == kept
    assert weights.tobytes() == kept_weights
    assert scores.flags.writeable


@pytest.mark.parametrize(
    ("dtype", "values", "median"),
    [
        ("int16", [14, 15, 3, 20], 14.5),
        ("int8", [100, 101, 102, 103], 101.5),
        ("uint8", [0, 1], 0.5),
        ("uint8", [255, 254], 254.5),
        ("bool", [True, False, True, True], 1.0),
        ("int64", [9007199254740993, 9007199254740993], 9007199254740992.0),
        ("int64", [2**62, 2**62, -(2**62)], 2.0**62),
    ],
)
def test_integers_become_float64(dtype, values, median):
    found = geometric_median(column(values, dtype))
    assert found.dtype == np.float64
    assert found.tolist() == [median]


@pytest.mark.parametrize(
    ("values", "weights", "median"),
    [
        ([1, 4], None, 2.5),
        ([4, 1, 3, 2], None, 2.5),
        ([1, 4], [2, 2], 2.5),
        ([8, 1, 6, 9, 2], [1, 7, 1, 7, 1], 6),
        ([0, 1, 0, 1], None, 0.5),
        ([1, 2, 3, 4], [1, 1, 1, 3], 3.5),
        ([5, 1, 9], [2, 1, 1], 5),
    ],
)
def test_even_counts_and_weights_agree_on_the_middle(values, weights, median):
    assert certified(column(values), weights=weights).tolist() == [median]
    # On a slanted line just the same.
    line = column(values) * np.array([[3.0, 4.0]])
    found = certified(line, weights=weights)
    np.testing.assert_allclose(found, [3 * median, 4 * median], rtol=1e-15)


def test_one_attribute_is_numpy_median():
    scores = np.random.default_rng(3).normal(size=(200, 8, 1))
    np.testing.assert_array_equal(geometric_median(scores), np.median(scores, axis=1))
    np.testing.assert_array_equal(geometric_median(scores[:, :7]), np.median(scores[:, :7], axis=1))


def test_three_judges_whose_coordinatewise_median_nobody_gave():
    scores = [[5, 5, 1], [5, 1, 5], [1, 5, 5]]
    assert np.median(scores, axis=0).tolist() == [5, 5, 5]
    np.testing.assert_allclose(certified(scores), [11 / 3] * 3, rtol=1e-15)


def test_segment_of_minimisers_gives_its_midpoint():
    # Duplicates at one end must not pull the midpoint.
    assert certified([[0, 0], [1, 2], [1, 2], [3, 6], [4, 8], [4, 8]]).tolist() == [2, 4]
    assert certified([[0, 0], [0, 0], [2, 4], [2, 4]]).tolist() == [1, 2]


def test_infinity_is_refused_by_place():
    scores = np.zeros((2, 3, 4))
    scores[1, 2, 3] = -np.inf
    with pytest.raises(ValueError, match=r"-inf at query 1, judge 2, attribute 3"):
        geometric_median(scores)


def test_satellite_pixel(real_data):
    """One pixel, thirteen bands, eighty-two dates, of which clouds leave forty-nine."""
    lines = (real_data / "s2_pixel.txt").read_text().split("\n")
    bands = np.array([[float(v) for v in line.split()[1:]] for line in lines if line])
    assert bands.shape == (13, 82)
    dates = bands.T
    result = geometric_median(dates, full_output=True)
    assert result.n_valid == 49
    assert result.gap <= 1e-12 * result.objective
    exact = exact_median(dates)
    assert exact.distance(result.median) <= 1e-14
    single = geometric_median(dates.astype(np.float32), full_output=True)
    assert single.gap <= 1e-5 * single.objective
    assert exact.distance(single.median) <= 1e-6


def test_dialogue_scores(real_data):
    """375 turns, five raters, nine attributes; text in a number column counts as missing."""

    def number(text):
        try:
            return float(text)
        except ValueError:
            return NAN

    with open(real_data / "fed_scores.csv", newline="") as file:
        rows = list(csv.reader(file))
    header, rows = rows[0], rows[1:]
    attributes = slice(len(header) - 9, len(header))
    items = sorted({row[0] for row in rows})
    assert len(items) == 375
    panels = np.full((375, 5, 9), NAN)
    judges: dict[str, int] = dict.fromkeys(items, 0)
    place = {item: k for k, item in enumerate(items)}
    for row in rows:
        panels[place[row[0]], judges[row[0]]] = [number(v) for v in row[attributes]]
        judges[row[0]] += 1
    result = geometric_median(panels, full_output=True)
    assert (result.n_valid > 0).all()
    assert (result.gap <= 1e-12 * result.objective).all()
    for panel, median in zip(panels[::25], result.median[::25], strict=True):
        exact = exact_median(panel)
        assert exact.distance(median) <= 1e-10 * exact.spread
