"""Consensus: values worked out by hand, a plain twin, every kind of table, bad input."""

import itertools

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from reference.jury import credit, modal_classes

from ropoll_core import consensus

POLICIES = ("expected", "none", "first", "frequency", "random")


def test_tied_answers_are_flagged_and_keep_their_agreement():
    rows = [["A", "A", "B", "B", "C"], ["C", "B", "B", "A", "A"], ["x", "y", "z", None, None]]
    result = consensus(rows)
    assert result.tie.tolist() == [True, True, True]
    np.testing.assert_allclose(result.agreement, [0.4, 0.4, 1 / 3])
    assert result.answer.tolist() == [None, None, None]
    assert result.n_tied.tolist() == [2, 2, 3]
    assert result.n_ties == 3


def test_order_of_the_judges_changes_nothing_by_default():
    for policy in ("expected", "none"):
        seen = {
            (tuple(r.answer), tuple(r.agreement), tuple(r.n_tied))
            for order in itertools.permutations(["A", "A", "B", "B", "C"])
            for r in [consensus([list(order)], ties=policy)]
        }
        assert len(seen) == 1


def test_missing_answers_do_not_vote_and_are_not_a_class():
    result = consensus([[None, None, None], ["B", None, None], [None, None, "C"]])
    assert result.answer.tolist() == [None, "B", "C"]
    assert np.isnan(result.agreement[0])
    assert result.agreement[1:].tolist() == [1.0, 1.0]
    assert result.n_valid.tolist() == [0, 1, 1]
    assert result.judge.tolist() == [-1, 0, 2]
    assert result.n_unanswered == 1
    assert result.n_ties == 0


VERDICTS = [None, None, False, False, True]


@pytest.mark.parametrize(
    "row",
    [
        np.array([[np.nan, np.nan, 0, 0, 1]]),
        np.array([[np.nan, np.nan, 0, 0, 1]], dtype=np.float32),
        [VERDICTS],
        pd.DataFrame([[pd.NA, pd.NA, False, False, True]], dtype="boolean"),
        pa.table({str(j): pa.array([v], pa.bool_()) for j, v in enumerate(VERDICTS)}),
    ],
    ids=["float64", "float32", "objects", "pandas boolean", "arrow"],
)
def test_a_missing_verdict_is_not_a_yes(row):
    result = consensus(row)
    assert result.answer.tolist() == [0]
    assert result.n_valid.tolist() == [3]
    np.testing.assert_allclose(result.agreement, [2 / 3])


def test_policies_on_one_tie():
    rows = [["B", "A", "A", "B"], ["A", "A", "A", "C"], ["A", "B", "C", "C"]]
    assert consensus(rows, ties="first").answer.tolist() == ["B", "A", "C"]
    assert consensus(rows, ties="frequency").answer.tolist() == ["A", "A", "C"]
    assert consensus(rows, ties="none").answer.tolist() == [None, "A", "C"]
    gold = ["A", "A", "A"]
    assert consensus(rows).accuracy(gold) == 0.5
    assert consensus(rows).credit(gold).tolist() == [0.5, 1.0, 0.0]
    assert consensus(rows, ties="none").accuracy(gold) == pytest.approx(1 / 3)
    assert consensus(rows, ties="first").accuracy(gold) == pytest.approx(1 / 3)
    assert consensus(rows, ties="frequency").accuracy(gold) == pytest.approx(2 / 3)


def test_equal_frequencies_fall_to_the_first_listed():
    assert consensus([["B", "A"], ["A", "B"]], ties="frequency").answer.tolist() == ["B", "A"]


def test_random_ties_are_fair_reproducible_and_by_row():
    rows = np.tile([[0, 1, 2, 0, 1, 2, 3]], (30_000, 1))
    chosen = consensus(rows, ties="random", rng=5).answer.astype(int)
    counts = np.bincount(chosen, minlength=4)
    assert counts[3] == 0
    assert np.abs(counts[:3] - 10_000).max() < 5 * np.sqrt(30_000 * 2 / 9)
    for workers in (1, 2, 3):
        again = consensus(rows, ties="random", rng=5, workers=workers).answer
        assert (again == chosen).all()
    assert (consensus(rows[:100], ties="random", rng=5).answer == chosen[:100]).all()
    assert (consensus(rows, ties="random", rng=6).answer != chosen).any()
    state = np.random.get_state()[1].copy()  # noqa: NPY002
    consensus(rows, ties="random")
    assert (np.random.get_state()[1] == state).all()  # noqa: NPY002


ANSWERS = st.one_of(
    st.none(), st.integers(-2, 3), st.sampled_from(["", "a", "A", "7", "nan"]), st.just((1, 2))
)
TABLES = st.integers(1, 7).flatmap(
    lambda k: st.lists(st.lists(ANSWERS, min_size=k, max_size=k), min_size=1, max_size=12)
)


@settings(deadline=None, max_examples=150)
@given(TABLES)
def test_agrees_with_the_plain_twin(rows):
    for policy in POLICIES:
        result = consensus(rows, ties=policy, rng=1)
        for q, row in enumerate(rows):
            modal, count, n_valid = modal_classes(row)
            assert (result.count[q], result.n_valid[q]) == (count, n_valid)
            assert result.n_tied[q] == len(modal)
            assert (
                result.agreement[q] == count / n_valid if modal else np.isnan(result.agreement[q])
            )
            if len(modal) == 1 or (modal and policy == "first"):
                assert result.answer[q] == modal[0]
            elif not modal or policy in ("expected", "none"):
                assert result.answer[q] is None
            else:
                assert result.answer[q] in modal
    gold = [row[0] for row in rows]
    for policy, rule in (("expected", "uniform"), ("none", "strict")):
        wanted = [
            np.nan if g is None else credit(r, g, rule) for r, g in zip(rows, gold, strict=True)
        ]
        np.testing.assert_allclose(consensus(rows, ties=policy).credit(gold), wanted)


@pytest.mark.parametrize("k", [1, 2, 15, 16, 17, 40])
@pytest.mark.parametrize("n", [1, 63, 64, 65, 200])
def test_panels_and_batches_of_every_size(k, n):
    rng = np.random.default_rng(k * n)
    table = rng.integers(-2, 6, (n, k))
    rows = [[None if x < 0 else int(x) for x in row] for row in table]
    for policy in POLICIES:
        result = consensus(rows, ties=policy, rng=3)
        modal = [modal_classes(row) for row in rows]
        assert result.count.tolist() == [m[1] for m in modal]
        assert result.n_valid.tolist() == [m[2] for m in modal]
        assert result.n_tied.tolist() == [len(m[0]) for m in modal]
        for answer, (classes, _, _) in zip(result.answer, modal, strict=True):
            if len(classes) == 1 or (classes and policy == "first"):
                assert answer == classes[0]
            elif not classes or policy in ("none", "expected"):
                assert answer is None
            else:
                assert answer in classes


def table_forms(words):
    """The same table of text in every container that is taken."""
    frame = pd.DataFrame(words, columns=["p", "q", "r"])
    table = pa.Table.from_pandas(frame, preserve_index=False)
    text = {c: pa.array(list(words[:, j]), pa.string()) for j, c in enumerate("pqr")}
    return {
        "objects": words,
        "columns": {j: list(words[:, j]) for j in range(3)},
        "pandas": frame,
        "pandas str": frame.astype("str"),
        "pandas category": frame.astype("category"),
        "arrow": table,
        "arrow dictionary": pa.table({c: v.dictionary_encode() for c, v in text.items()}),
        "arrow batch": pa.RecordBatch.from_pandas(frame, preserve_index=False),
        "arrow chunked": pa.concat_tables([table.slice(0, 3), table.slice(3)]),
        "polars": pl.DataFrame({c: list(words[:, j]) for j, c in enumerate("pqr")}),
    }


def test_every_container_gives_the_same():
    rng = np.random.default_rng(3)
    words = rng.choice(np.array(["A", "B", "", None], dtype=object), size=(40, 3))
    gold = rng.choice(np.array(["A", "B", None], dtype=object), size=40)
    wanted = consensus([list(row) for row in words], ties="first")
    assert wanted.n_unanswered > 0
    for name, form in table_forms(words).items():
        result = consensus(form, ties="first")
        assert result.answer.tolist() == wanted.answer.tolist(), name
        assert (result.count == wanted.count).all(), name
        for column in (gold, list(gold), pd.Series(gold), pa.array(gold), pl.Series(list(gold))):
            np.testing.assert_array_equal(result.credit(column), wanted.credit(list(gold)))


@pytest.mark.parametrize(
    "dtype",
    ["i1", "u1", "i2", ">i4", "i8", "u8", "f4", ">f8", "f2", "U3", ">U3", "S3", "?", "M8[s]"],
)
def test_array_types_strides_and_read_only(dtype):
    rng = np.random.default_rng(4)
    whole = rng.integers(0, 3, (50, 8)).astype(dtype)
    table = whole[::2, ::-2]
    table.flags.writeable = False
    wanted = consensus([row.tolist() for row in table], ties="first")
    result = consensus(table, ties="first")
    assert result.answer.tolist() == wanted.answer.tolist()
    assert (result.n_tied == wanted.n_tied).all()
    assert result.accuracy(table[:, 1]) == wanted.accuracy(table[:, 1].tolist())


def test_values_that_look_alike():
    assert consensus([["7", 7, 7]]).answer.tolist() == [7]
    assert consensus([[7, 7.0, "7"]]).count.tolist() == [2]
    assert consensus(np.array([[0.0, -0.0, 1.0]])).count.tolist() == [2]
    assert consensus([["", "", None]]).answer.tolist() == [""]
    big = 2**53
    assert consensus(np.array([[big, big + 1, big + 1]])).answer.tolist() == [big + 1]
    assert consensus(np.array([[2**64 - 1, 2**64 - 1, 1]], dtype=np.uint64)).answer[0] == 2**64 - 1
    assert consensus([["nan", "nan", "NA"]]).answer.tolist() == ["nan"]
    assert consensus(np.array([[np.inf, np.inf, -np.inf]])).answer.tolist() == [np.inf]
    assert consensus([[pd.NaT, np.float64("nan"), "x"]]).n_valid.tolist() == [1]
    integers = pa.table({"a": pa.array([big, None]), "b": pa.array([big + 1, 1])})
    assert consensus(integers).n_tied.tolist() == [2, 1]
    assert consensus(pl.DataFrame(integers.to_pydict())).n_tied.tolist() == [2, 1]
    nullable = pd.DataFrame(integers.to_pydict(), dtype="Int64")
    assert consensus(nullable).n_tied.tolist() == [2, 1]


def test_many_distinct_answers_outgrow_the_first_table():
    rng = np.random.default_rng(5)
    table = rng.permutation(60_000).reshape(20_000, 3)
    table[:, 2] = table[:, 0]
    for form in (table, table.astype("U8"), table.astype(object)):
        result = consensus(form)
        assert (result.count == 2).all()
        assert (result.judge == 0).all()
        assert result.answer.astype(int).tolist() == table[:, 0].tolist()


def test_key_makes_classes_and_the_answer_stays_as_written():
    rows = [["1/2", "0.5", "2"], ["x", "?", "X"], ["?", "?", "?"]]
    asked = []

    def key(text):
        asked.append(text)
        return {"1/2": 0.5, "0.5": 0.5, "?": None}.get(text, text.lower())

    result = consensus(rows, key=key)
    assert sorted(asked) == sorted({x for row in rows for x in row})
    assert result.answer.tolist() == ["1/2", "x", None]
    assert result.count.tolist() == [2, 2, 0]
    assert result.credit(["0.5", "X", "X"]).tolist() == [1.0, 1.0, 0.0]
    assert np.isnan(result.credit(["?", "x", "y"])[0])


def test_key_array_holds_classes_numbered_within_each_query():
    rows = [["1/2", "0.5", "2"], ["a", "b", "B"]]
    result = consensus(rows, key=np.array([[7, 7, 0], [0, 1, 1]]))
    assert result.answer.tolist() == ["1/2", "b"]
    np.testing.assert_array_equal(result.credit([7, 0]), [1.0, 0.0])
    np.testing.assert_array_equal(result.credit([-1, 1]), [np.nan, 1.0])
    np.testing.assert_array_equal(result.credit([None, 9]), [np.nan, 0.0])
    with pytest.raises(TypeError, match=r"gold must hold integers, .* got 'a' at query 1"):
        result.credit([7, "a"])
    missing = consensus(rows, key=np.array([[-1, -1, 0], [-1, -1, -1]]))
    assert missing.answer.tolist() == ["2", None]
    assert consensus([[None, "a"]], key=np.array([[3, 3]])).n_valid.tolist() == [1]


def test_position_workers_and_neighbours_change_nothing():
    rng = np.random.default_rng(6)
    table = rng.integers(0, 4, (50_001, 5))
    whole = consensus(table, ties="first")
    for workers in (2, 3, -1):
        assert (consensus(table, ties="first", workers=workers).judge == whole.judge).all()
    part = consensus(table[777:1000], ties="first")
    assert (part.judge == whole.judge[777:1000]).all()
    assert (part.answer == whole.answer[777:1000]).all()


def test_input_is_not_modified_and_empty_tables_pass():
    table = np.array([[0.0, -0.0, np.nan]])
    before = table.tobytes()
    consensus(table)
    assert table.tobytes() == before
    for empty in (np.empty((0, 3)), np.empty((0, 3), dtype="U1"), {"a": [], "b": []}):
        result = consensus(empty)
        assert result.answer.shape == (0,)
        assert np.isnan(result.accuracy([]))


def test_gold_missing_or_never_answered():
    result = consensus([["A", "A"], ["B", "B"], ["C", "C"]])
    np.testing.assert_array_equal(result.credit(["A", None, "Z"]), [1.0, np.nan, 0.0])
    assert result.accuracy(["A", None, "Z"]) == 0.5
    assert np.isnan(result.accuracy([None, None, None]))
    with pytest.raises(ValueError, match=r"gold must have shape \(3,\), got \(2,\)"):
        result.accuracy(["A", "B"])
    with pytest.raises(TypeError, match=r"gold must be hashable .* got list at query 1"):
        result.accuracy(["A", [1], "B"])


@pytest.mark.parametrize(
    ("answers", "options", "error", "message"),
    [
        ("ABC", {}, TypeError, "answers must be a table of answers .* got str"),
        (3, {}, TypeError, "got int"),
        (["AB", "CD"], {}, TypeError, "got str as row 0"),
        ([], {}, ValueError, "answers has no rows"),
        ([[], []], {}, ValueError, "at least one judge"),
        (np.array(["A"]), {}, ValueError, r"2 axes .* got shape \(1,\)"),
        ([["A"], ["A", "B"]], {}, ValueError, "got 2 answers in row 1 against 1 in row 0"),
        ([["A", ["B"]]], {}, TypeError, "got list at query 0, judge 1"),
        ({"a": ["A"], "b": ["A", "B"]}, {}, ValueError, "got 2 in column 1 against 1 in column 0"),
        ({"a": "A"}, {}, TypeError, "column 0.* got str"),
        (np.ma.array([[1, 2]], mask=[[0, 1]]), {}, TypeError, "masked"),
        (
            [["A"]],
            {"ties": "incorrect"},
            ValueError,
            "ties must be one of first, .* got 'incorrect'",
        ),
        ([["A"]], {"ties": None}, TypeError, "ties must be a string"),
        ([["A"]], {"key": "lower"}, TypeError, "key must be a callable or an integer array"),
        ([["A"]], {"key": np.zeros((1, 2), int)}, ValueError, r"the shape of answers, \(1, 1\)"),
        ([["A"]], {"key": lambda x: [x]}, TypeError, "hashable values, got list for .* 'A'"),
        ([["A"]], {"ties": "random", "rng": "x"}, TypeError, "rng must be None"),
        ([["A"]], {"workers": 0}, ValueError, "workers"),
    ],
)
def test_bad_input(answers, options, error, message):
    with pytest.raises(error, match=message):
        consensus(answers, **options)


def test_an_error_in_key_names_the_answer():
    with pytest.raises(ZeroDivisionError) as info:
        consensus([["A", "B"]], key=lambda text: 1 / 0)
    assert "key= for the answer 'A'" in info.value.__notes__[0]
    with pytest.raises(TypeError, match="unsupported operand"):
        consensus([["A", "B"]], key=lambda text: text - 1)


def test_repr_is_one_screen():
    text = repr(consensus(np.zeros((1000, 3))))
    assert text.startswith("Consensus\n")
    assert len(text.splitlines()) < 20
