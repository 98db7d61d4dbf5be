"""Score tables: layouts, formats, ids exactly as written, and a reader that favours the obvious."""

import csv
import decimal
import json

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from reference.tables import read_semi_wide

from ropoll_core.tables import TableError, read_scores

NAN = np.nan


def write(folder, name, content):
    path = folder / name
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


def same(panel, items, judges, attributes, scores):
    assert list(panel.items) == items
    assert list(panel.judges) == judges
    assert list(panel.attributes) == attributes
    np.testing.assert_array_equal(panel.scores, np.asarray(scores, dtype=float))


def test_byte_order_mark_and_crlf(tmp_path):
    path = write(tmp_path, "bom.csv", b'\xef\xbb\xbf"item","judge","score"\r\nq1,a,3\r\nq1,b,5\r\n')
    same(read_scores(path), ["q1"], ["a", "b"], ["score"], [[[3], [5]]])
    path = write(
        tmp_path,
        "bom.jsonl",
        b'\xef\xbb\xbf{"item":"q1","judge":"a","score":3}\n{"item":"q1","judge":"b","score":5}\n',
    )
    same(read_scores(path), ["q1"], ["a", "b"], ["score"], [[[3], [5]]])


def test_ids_that_look_missing_are_ids(tmp_path):
    path = write(
        tmp_path,
        "na.csv",
        "item,judge,score\nNA,null,3\nNA,None,5\nnan,null,1\nq1,NaN,2\nq1,b,\nq1,c,NA\n",
    )
    panel = read_scores(path)
    same(
        panel,
        ["NA", "nan", "q1"],
        ["null", "None", "NaN", "b", "c"],
        ["score"],
        [
            [[3], [5], [NAN], [NAN], [NAN]],
            [[1], [NAN], [NAN], [NAN], [NAN]],
            [[NAN], [NAN], [2], [NAN], [NAN]],
        ],
    )
    assert (panel.left_out.empty, panel.left_out.no_row) == (2, 9)


def test_ids_that_look_like_numbers_stay_apart(tmp_path):
    rows = "007,01,3\n7,01,5\n007,1,4\n7.0,1,2\n1e3,1,9\n1000,1,8\n"
    panel = read_scores(write(tmp_path, "ids.csv", "item,judge,score\n" + rows))
    same(
        panel,
        ["007", "7", "7.0", "1e3", "1000"],
        ["01", "1"],
        ["score"],
        [[[3], [4]], [[5], [NAN]], [[NAN], [2]], [[NAN], [9]], [[NAN], [8]]],
    )


@pytest.mark.parametrize("big", [2**53 + 1, 2**63 - 1, 2**64 - 1, 10**30 + 1])
def test_large_ids_are_exact(tmp_path, big):
    expected = [str(big), str(big - 1)]
    rows = [{"item": big - i, "judge": "a", "score": i} for i in (0, 1)]
    text = "".join(f"{r['item']},a,{r['score']}\n" for r in rows)
    assert (
        list(read_scores(write(tmp_path, "a.csv", "item,judge,score\n" + text)).items) == expected
    )
    lines = "\n".join(json.dumps(row) for row in rows)
    assert list(read_scores(write(tmp_path, "a.jsonl", lines)).items) == expected
    if big < 2**64:
        column = pa.array([row["item"] for row in rows], type=pa.uint64())
        table = pa.table({"item": column, "judge": ["a", "a"], "score": [0, 1]})
        assert list(read_scores(table).items) == expected


def test_quoted_line_breaks_delimiters_and_quotes(tmp_path):
    text = 'item,judge,score\n"q\n1","b ""x"", y",1\n"q\r\n2","b ""x"", y",2\n'
    panel = read_scores(write(tmp_path, "a.csv", text))
    same(panel, ["q\n1", "q\r\n2"], ['b "x", y'], ["score"], [[[1]], [[2]]])


@pytest.mark.parametrize("ending", ["\n", "\r\n", "\r", "\n\n", "mixed"])
def test_line_endings(tmp_path, ending):
    rows = ["item,judge,score", "q1,a,1", "q1,b,2", "q2,a,3"]
    text = (
        "item,judge,score\r\nq1,a,1\nq1,b,2\r\nq2,a,3" if ending == "mixed" else ending.join(rows)
    )
    panel = read_scores(write(tmp_path, "a.csv", text))
    same(panel, ["q1", "q2"], ["a", "b"], ["score"], [[[1], [2]], [[3], [NAN]]])


def test_unsorted_rows_go_by_name_not_position(tmp_path):
    text = (
        "judge,item,style,fact\nc,q2,3,9\na,q1,7,1\nb,q2,4,8\nd,q1,9,9\nb,q1,8,2\na,q2,5,7\n"
        "c,q1,6,3\na,q3,1,1\n"
    )
    panel = read_scores(write(tmp_path, "a.csv", text), attributes=["style", "fact"])
    assert list(panel.items) == ["q2", "q1", "q3"]
    order = [list(panel.judges).index(j) for j in "abcd"]
    expected = [
        [[5, 7], [4, 8], [3, 9], [NAN, NAN]],
        [[7, 1], [8, 2], [6, 3], [9, 9]],
        [[1, 1], [NAN, NAN], [NAN, NAN], [NAN, NAN]],
    ]
    np.testing.assert_array_equal(panel.scores[:, order], expected)
    assert list(read_scores(tmp_path / "a.csv", attributes=["fact"]).attributes) == ["fact"]
    assert read_scores(tmp_path / "a.csv", attributes=["fact"]).unused == ("style",)


def test_a_failed_parse_is_missing_and_a_zero_is_a_zero(tmp_path):
    rows = [
        ("q1", "a", 8), ("q1", "b", None), ("q1", "c", 7), ("q2", "a", None), ("q2", "b", None),
        ("q2", "c", 9), ("q3", "a", 0), ("q3", "b", 6),
    ]  # fmt: skip
    lines = "\n".join(
        json.dumps(dict(zip(("item", "judge", "score"), r, strict=True))) for r in rows
    )
    panel = read_scores(write(tmp_path, "a.jsonl", lines))
    np.testing.assert_array_equal(np.nanmean(panel.scores[..., 0], axis=1), [7.5, 9, 3])
    np.testing.assert_array_equal((~np.isnan(panel.scores[..., 0])).sum(axis=1), [2, 1, 2])
    assert (panel.left_out.empty, panel.left_out.no_row) == (3, 1)


def test_declared_missing_values_compare_numbers_by_value(tmp_path):
    text = "item,judge,score\n" + "".join(
        f"q,{j},{s}\n" for j, s in zip("abcde", ["7", "-1", "9", "-1.0", "8"], strict=True)
    )
    path = write(tmp_path, "a.csv", text)
    panel = read_scores(path, missing_values=[-1])
    assert np.nanmean(panel.scores) == 8
    assert panel.left_out.declared == 2
    assert np.nanmean(read_scores(path, missing_values=["-1"]).scores) == 8
    assert read_scores(path).scores.mean() == pytest.approx(4.4)
    with pytest.raises(TableError, match=r"(?s)line 3, .*off the scale: '-1'.*line 5, .*'-1.0'"):
        read_scores(path, scale=(1, 10))
    panel = read_scores(path, scale=(1, 10), on_bad="missing")
    assert panel.left_out.off_scale == 2
    assert len(panel.left_out.examples) == 2


def test_typed_columns(tmp_path):
    table = pa.table(
        {
            "item": ["q1", "q1", "q2", "q2"],
            "judge": pa.array(["a", "b", "a", "b"]).dictionary_encode(),
            "score": pa.array([100, 100, 100, None], type=pa.int8()),
            "extra": pa.array(
                [decimal.Decimal("1.10"), None, decimal.Decimal("2.20"), decimal.Decimal("3.30")],
                type=pa.decimal128(6, 2),
            ),
            "ok": [True, False, None, True],
        }
    )
    path = tmp_path / "a.parquet"
    pq.write_table(table, path)
    expected = [[[100, 1.1, 1], [100, NAN, 0]], [[100, 2.2, NAN], [NAN, 3.3, 1]]]
    names = ["score", "extra", "ok"]
    for source in (path, table, table.to_pandas(types_mapper=None), pl.from_arrow(table)):
        same(read_scores(source, attributes=names), ["q1", "q2"], ["a", "b"], names, expected)


def test_text_column_in_parquet(tmp_path):
    table = pa.table({"item": ["q1"] * 3, "judge": ["a", "b", "c"], "score": ["4", "4.0", "n/a"]})
    path = tmp_path / "a.parquet"
    pq.write_table(table, path)
    same(read_scores(path), ["q1"], ["a", "b", "c"], ["score"], [[[4], [4], [NAN]]])
    pq.write_table(table.set_column(2, "score", pa.array(["4", "4 of 5", ""])), path)
    with pytest.raises(TableError, match=r"row 2, column 'score': not a number: '4 of 5'"):
        read_scores(path)


def test_long_form_and_the_choice_of_attributes(tmp_path):
    text = "id,rater,criterion,rating\nq1,a,x,1\nq1,a,y,2\nq2,a,y,3\nq1,b,x,4\n"
    path = write(tmp_path, "a.tsv", text.replace(",", "\t"))
    panel = read_scores(path)
    same(
        panel, ["q1", "q2"], ["a", "b"], ["x", "y"],
        [[[1, 2], [4, NAN]], [[NAN, 3], [NAN, NAN]]],
    )  # fmt: skip
    panel = read_scores(path, attributes=["y"])
    same(panel, ["q1", "q2"], ["a"], ["y"], [[[2]], [[3]]])
    assert panel.left_out.rows == 2
    panel = read_scores(path, attributes=["y", "x"])
    np.testing.assert_array_equal(panel.scores[0], [[2, 1], [NAN, 4]])
    with pytest.raises(TableError, match="no row has the attribute 'z'"):
        read_scores(path, attributes=["x", "z"])


def test_rows_chosen_by_where(tmp_path):
    text = "item,judge,pass no,score\nq1,a,1,5\nq1,a,2,6\nq2,a,1,7\n"
    path = write(tmp_path, "a.csv", text)
    panel = read_scores(path, score="score", where={"pass no": "1"})
    same(panel, ["q1", "q2"], ["a"], ["score"], [[[5]], [[7]]])
    assert panel.left_out.rows == 1
    with pytest.raises(TableError, match="no rows are left"):
        read_scores(path, score="score", where={"pass no": "3"})


def test_decimal_comma_by_option_only(tmp_path):
    path = write(tmp_path, "a.csv", "item;judge;score\nq1;a;3,5\nq1;b;4,5\n")
    with pytest.raises(TableError, match=r"no column for the item.*'item;judge;score'"):
        read_scores(path)
    with pytest.raises(TableError, match="line 2, column 'score': not a number: '3,5'"):
        read_scores(path, delimiter=";")
    panel = read_scores(path, delimiter=";", decimal=",")
    same(panel, ["q1"], ["a", "b"], ["score"], [[[3.5], [4.5]]])


def test_json_array_sparse_keys_and_keys_by_case(tmp_path):
    rows = [{"item": "q1", "judge": "a", "score": 3}, {"item": "q1", "judge": "b", "score": 5}]
    path = write(tmp_path, "a.json", json.dumps(rows))
    same(read_scores(path), ["q1"], ["a", "b"], ["score"], [[[3], [5]]])
    rows[0]["Score"] = 7  # another key, and one that the second record lacks
    path = write(tmp_path, "a.jsonl", "\n\n".join(map(json.dumps, rows)))
    panel = read_scores(path, attributes=["score"])
    same(panel, ["q1"], ["a", "b"], ["score"], [[[3], [5]]])
    with pytest.raises(TableError, match="line 3, column 'Score': the key is not there"):
        read_scores(path, attributes=["Score"])
    panel = read_scores(path, attributes=["Score"], on_bad="missing")
    assert panel.left_out.bad == 1


def test_names_with_quotes_blanks_and_keywords(tmp_path):
    names = ["select", 'a "b" c', "it's", "verbose", "x/y~z", " d "]
    rows = [{"item": "q", "judge": "j", **{name: i for i, name in enumerate(names)}}]
    path = write(tmp_path, "a.jsonl", json.dumps(rows[0]))
    same(read_scores(path), ["q"], ["j"], names, [[range(len(names))]])
    frame = pd.DataFrame(rows)
    same(read_scores(frame), ["q"], ["j"], names, [[range(len(names))]])
    path = tmp_path / "odd [1]*'?.csv"
    frame.to_csv(path, index=False)
    same(read_scores(path), ["q"], ["j"], names, [[range(len(names))]])


def test_text_columns_beside_the_scores(tmp_path):
    path = write(tmp_path, "a.csv", "item,system,judge,x\nq1,S,a,1\nq1,S,b,2\nq2,T,a,3\n")
    panel = read_scores(path)
    assert panel.metadata == ("system",)
    assert list(panel.attributes) == ["x"]
    path = write(tmp_path, "b.csv", "item,judge,x,y\nq1,a,1,4/5\nq1,b,2,3/5\n")
    with pytest.raises(TableError, match="column 'y' is text that differs within an item"):
        read_scores(path)
    path = write(tmp_path, "c.csv", "item,judge,score,why\nq1,a,1,good\nq1,b,2,bad\n")
    assert read_scores(path).unused == ("why",)
    path = write(tmp_path, "d.csv", "item,judge,score,seconds\nq1,a,1,3\n")
    with pytest.raises(TableError, match="'seconds' hold numbers too"):
        read_scores(path)


IDS = st.text(
    st.characters(blacklist_categories=("Cs",), blacklist_characters="\0\r\n"),
    min_size=1,
    max_size=4,
)
CELLS = st.one_of(
    st.integers(-5, 5).map(str),
    st.floats(allow_nan=False, allow_infinity=False).map(repr),
    st.sampled_from(["", "NA", "null", "1.", ".5", "+2", "1E2"]),
)


@settings(max_examples=25, deadline=None)
@given(
    keys=st.lists(st.tuples(IDS, IDS), min_size=1, max_size=12, unique=True),
    data=st.data(),
    crlf=st.booleans(),
)
def test_any_table_reads_as_the_obvious_reader_does(tmp_path_factory, keys, data, crlf):
    path = tmp_path_factory.mktemp("any") / "a.csv"
    attributes = ["x", "y z"]
    with open(path, "w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\r\n" if crlf else "\n")
        writer.writerow(["item", *attributes, "judge"])
        for item, judge in keys:
            writer.writerow([item, data.draw(CELLS), data.draw(CELLS), judge])
    items, judges, cells = read_semi_wide(path, attributes)
    panel = read_scores(path, attributes=attributes)
    assert list(panel.items) == items
    assert list(panel.judges) == judges
    for i, item in enumerate(items):
        for j, judge in enumerate(judges):
            row = cells.get((item, judge), dict.fromkeys(attributes))
            expected = [NAN if row[a] is None else row[a] for a in attributes]
            np.testing.assert_array_equal(panel.scores[i, j], expected)


@pytest.mark.parametrize("workers", [1, 2, -1])
def test_result_does_not_depend_on_workers(tmp_path, workers):
    rng = np.random.default_rng(5)
    keys = rng.permutation(40_000)
    frame = pl.DataFrame(
        {"item": [f"q{k // 8}" for k in keys], "judge": [f"j{k % 8}" for k in keys], "x": keys / 7}
    )
    frame.write_csv(tmp_path / "a.csv")
    panel = read_scores(tmp_path / "a.csv", workers=workers)
    first = list(dict.fromkeys(f"q{k // 8}" for k in keys))
    assert list(panel.items) == first
    code = {name: i for i, name in enumerate(panel.items)}
    judge = {name: i for i, name in enumerate(panel.judges)}
    expected = np.empty((5000, 8))
    for k in keys:
        expected[code[f"q{k // 8}"], judge[f"j{k % 8}"]] = k / 7
    np.testing.assert_array_equal(panel.scores[..., 0], expected)


def test_dialogue_ratings(real_data):
    path = real_data / "fed_scores.csv"
    with pytest.raises(TableError, match=r"(?s)12 cells.*line 44, column 'Correct'.*and 7 more"):
        read_scores(path)
    panel = read_scores(path, on_bad="missing")
    assert panel.scores.shape == (375, 5, 9)
    assert panel.left_out.bad == 12
    assert panel.metadata == ("system",)
    assert int(np.isnan(panel.scores).sum()) == 12


def test_a_table_of_one_judge(tmp_path):
    path = write(tmp_path, "gold.csv", "item,x,y\nq,1,2\np,3,\n")
    panel = read_scores(path, only_judge="gold")
    assert list(panel.judges) == ["gold"]
    np.testing.assert_array_equal(panel.scores, [[[1, 2]], [[3, np.nan]]])
    path = write(tmp_path, "long.csv", "item,judge,attribute,score\nq,a,x,1\nq,b,y,2\n")
    panel = read_scores(path, only_judge="gold")
    assert panel.unused == ("judge",)
    np.testing.assert_array_equal(panel.scores, [[[1, 2]]])
    repeated = pa.table({"item": ["q", "q"], "judge": ["a", "b"], "score": [1, 2]})
    with pytest.raises(TableError, match="item 'q', judge 'gold': row 1 and row 2"):
        read_scores(repeated, only_judge="gold")
    with pytest.raises(ValueError, match="give judge or only_judge, not both"):
        read_scores(repeated, only_judge="gold", judge="judge")
    for wrong in ("", 3):
        with pytest.raises(TypeError, match="only_judge must be a name"):
            read_scores(repeated, only_judge=wrong)
