"""Vote and answer tables."""

import json

import numpy as np
import pandas as pd
import pytest

from ropoll_core.tables import TableError, read_answers, read_votes


def write(folder, text, name="a.csv"):
    path = folder / name
    path.write_text(text)
    return path


def test_booleans_by_table_and_never_by_truth(tmp_path):
    votes = [True, "False", "True", 1, None, "no", 0.5]
    rows = [{"item": "q1", "judge": j, "pass": v} for j, v in zip("abcdefg", votes, strict=True)]
    path = write(tmp_path, "\n".join(map(json.dumps, rows)), "a.jsonl")
    with pytest.raises(
        TableError, match=r"(?s)1 cells are not votes.*line 7, column 'pass': '0.5'"
    ):
        read_votes(path)
    table = read_votes(path, on_bad="missing")
    np.testing.assert_array_equal(table.votes, [[1, 0, 1, 1, -1, 0, -1]])
    assert (table.left_out.empty, table.left_out.bad) == (1, 1)
    assert table.votes.dtype == np.int8


@pytest.mark.parametrize(
    "values", [[1, 0, None], [1.0, 0.0, np.nan], [True, False, None], ["Yes", "NO", "NA"]]
)
def test_typed_votes(values):
    frame = pd.DataFrame({"item": ["q"] * 3, "judge": ["a", "b", "c"], "vote": values})
    np.testing.assert_array_equal(read_votes(frame).votes, [[1, 0, -1]])


def test_positive_class(tmp_path):
    path = write(tmp_path, "item,judge,vote,label\nq,a,A,B\nq,b,B,B\np,b,B,A\n")
    table = read_votes(path, positive="B")
    np.testing.assert_array_equal(table.votes, [[0, 1], [-1, 1]])
    np.testing.assert_array_equal(table.labels, [1, 0])
    assert table.classes == ("A", "B")
    with pytest.raises(TableError, match="3 cells are not votes"):
        read_votes(path)
    with pytest.raises(TableError, match="one other class, got 'A', 'B'"):
        read_votes(path, positive="b")
    path = write(tmp_path, "item,judge,vote,label\nq,a,1,B\n")
    with pytest.raises(TableError, match="line 2, column 'label': the label of item 'q' is 'B'"):
        read_votes(path)


def test_missing_labels_and_tables_without(tmp_path):
    path = write(tmp_path, "item,judge,vote,label\nq,a,1,\np,a,0,1\n")
    np.testing.assert_array_equal(read_votes(path).labels, [-1, 1])
    table = read_votes(write(tmp_path, "task,judge,vote\nq,a,1\n"))
    assert list(table.items) == ["q"]
    assert table.labels is None
    assert table.tasks is None
    assert table.signal is None


def test_the_signal_is_a_judge(tmp_path):
    path = write(tmp_path, "item,judge,vote\nq,a,1\nq,s,0\nq,b,0\np,a,1\n")
    table = read_votes(path, signal="s")
    assert list(table.judges) == ["a", "b"]
    np.testing.assert_array_equal(table.votes, [[1, 0], [1, -1]])
    np.testing.assert_array_equal(table.signal, [0, -1])
    with pytest.raises(TableError, match="no judge 'x'"):
        read_votes(path, signal="x")
    with pytest.raises(TableError, match="is the only judge"):
        read_votes(write(tmp_path, "item,judge,vote\nq,a,1\n"), signal="a")


def test_answers_gold_and_groups(tmp_path):
    text = (
        "item,judge,answer,gold,task,set\n1,a,C,D,t,x\n1,b,,D,t,x\n2,a,NA,C,t,y\n2,b,C,C,t,y\n"
        "3,b,B,,u,y\n"
    )
    path = write(tmp_path, text)
    table = read_answers(path, groups="set")
    assert list(table.categories) == ["C", "NA", "B", "D"]
    np.testing.assert_array_equal(table.answers, [[0, -1], [1, 0], [-1, 2]])
    np.testing.assert_array_equal(table.gold, [3, 0, -1])
    assert list(table.tasks) == ["t", "t", "u"]
    assert list(table.groups) == ["x", "y", "y"]
    assert (table.left_out.empty, table.left_out.no_row) == (1, 1)
    table = read_answers(path, empty="category", missing_values=["NA"])
    assert list(table.categories) == ["C", "", "B", "D"]
    np.testing.assert_array_equal(table.answers, [[0, 1], [-1, 0], [-1, 2]])
    np.testing.assert_array_equal(table.gold, [3, 0, 1])
    assert table.left_out.declared == 1


def test_preference_votes(real_data):
    table = read_votes(
        real_data / "llmbar_votes.csv", positive="1", signal="GPT-4", where={"order": "original"}
    )
    whole = (table.votes >= 0).all(axis=1) & (table.signal >= 0)
    assert whole.sum() == 414
    margin = np.abs(2 * table.votes[whole].sum(axis=1, dtype=int) - 5)
    np.testing.assert_array_equal(
        np.unique(margin, return_counts=True), [[1, 3, 5], [114, 150, 150]]
    )
    assert np.mean(table.signal[whole] == table.labels[whole]) == pytest.approx(0.8285, abs=5e-5)
    assert len(set(table.tasks)) == 5
    with pytest.raises(TableError, match="2514 rows repeat a key"):
        read_votes(real_data / "llmbar_votes.csv", positive="1")


def test_multiple_choice_answers(real_data):
    table = read_answers(real_data / "mmlu_pro_answers.csv", empty="category")
    errors = (table.answers != table.gold[:, None]).astype(float)
    phi = np.corrcoef(errors.T)
    mean_phi = (phi.sum() - 6) / 30
    assert mean_phi == pytest.approx(0.4175, abs=5e-5)
    assert 6 / (1 + 5 * mean_phi) == pytest.approx(1.943, abs=5e-4)
    assert read_answers(real_data / "mmlu_pro_answers.csv").left_out.empty == 2702
