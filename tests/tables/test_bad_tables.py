"""Every fault in a table is one error that names the file, the place, the column and the value."""

import json
import subprocess
import sys

import pandas as pd
import pyarrow as pa
import pytest

from ropoll_core.tables import (
    BatchSpec,
    TableError,
    aggregate_panel,
    aggregate_table,
    consensus_columns,
    read_answers,
    read_scores,
    read_votes,
)

HEAD = b"item,judge,score\n"

FAULTS = {
    "empty file": (b"", "the file is empty"),
    "header only": (HEAD, "a header and no rows"),
    "blank lines after the header": (HEAD + b"\n\n", "a header and no rows"),
    "repeated header": (b"item,judge,judge\nq,a,1\n", "line 1: the column 'judge' is there more"),
    "unnamed column": (b"item,judge,score,\nq,a,1,\n", "line 1: column 4 of the header is empty"),
    "short row": (HEAD + b"q,a,1\nq,b\n", "line 3: 2 cells where the header has 3: 'q,b'"),
    "long row": (HEAD + b"q,a,1\n\nq,b,1,2\n", "line 4: 4 cells where the header has 3"),
    "trailing commas": (HEAD + b"q,a,1,\nq,b,2,\n", "line 2: 4 cells where the header has 3"),
    "open quote": (HEAD + b'q,a,1\nq,"b,2\n', "line 3: a quote that is not closed"),
    "text after a quote": (HEAD + b'q,"a"x,1\n', "line 2: ',' expected after '\"'"),
    "short row, mixed endings": (HEAD + b"q,a,1\r\nq,b\n", "line 3: 2 cells where the header"),
    "NUL byte": (HEAD + b"q,a,1\nq,b\0,2\n", "line 3: a NUL byte"),
    "not UTF-8": (HEAD + b"q,a,1\nq,b\xe9,2\n", "line 3: the byte 0xe9 is not UTF-8"),
    "cut in a character": (HEAD + b"q,a,1\nq,\xc3", "ends inside a UTF-8 character"),
    "repeated key": (
        HEAD + b"q1,a,1\nq1,b,4\nq1,a,5\nq2,a,2\nq2,b,2\nq2,b,2\n",
        "item 'q1', judge 'a': line 2 and line 4\n  item 'q2', judge 'b': line 6 and line 7",
    ),
    "no item": (HEAD + b"q,a,1\n,b,1\n", "line 3, column 'item': the item is empty"),
    "no judge": (HEAD + b"q,a,1\nq,,1\n", "line 3, column 'judge': the judge is empty"),
    "infinite": (HEAD + b"q,a,1\nq,b,inf\n", "line 3, column 'score': not a number: 'inf'"),
    "overflow": (HEAD + b"q,a,-1e999\n", "line 2, column 'score': not a number: '-1e999'"),
    "two judges": (b"item,judge,model,score\nq,a,b,1\n", "'judge', 'model' could each be"),
    "no judge column": (b"item,score\nq,1\n", "no column for the judge"),
    "no score column": (b"item,judge\nq,a\n", "no column for the score"),
}  # fmt: skip


@pytest.mark.parametrize("name", FAULTS)
def test_delimited_faults(tmp_path, name):
    content, message = FAULTS[name]
    path = tmp_path / "panel.csv"
    path.write_bytes(content)
    with pytest.raises(TableError) as caught:
        read_scores(path)
    assert message in str(caught.value)
    assert str(path) in str(caught.value)


@pytest.mark.parametrize(
    "text",
    ["4/5", "4.1 out of 5", "[[7]]", "8 (of 10)", "80%", "four", "5 stars", "3-4", "~4", "4,5",
     " 4", "4 ", "1_000", "1,000", "0x10", "nan(1)", "infinity", "True", "\u0664", "1e", "--1"],
)  # fmt: skip
@pytest.mark.parametrize("ending", ["csv", "jsonl", "table"])
def test_no_number_is_guessed_from_text(tmp_path, text, ending):
    rows = [{"item": "q", "judge": "a", "score": "3"}, {"item": "q", "judge": "b", "score": text}]
    source = tmp_path / f"panel.{ending}"
    if ending == "csv":
        pd.DataFrame(rows).to_csv(source, index=False)
    elif ending == "jsonl":
        source.write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    else:
        source = pa.Table.from_pylist(rows)
    place = {"csv": "line 3", "jsonl": "line 2", "table": "row 2"}[ending]
    with pytest.raises(TableError) as caught:
        read_scores(source)
    assert f"{place}, column 'score': not a number: {text!r}" in str(caught.value)
    panel = read_scores(source, on_bad="missing")
    assert panel.left_out.bad == 1
    assert panel.scores[0, 0, 0] == 3
    panel = read_scores(source, missing_values=[text])
    assert panel.left_out.declared == 1


@pytest.mark.parametrize(
    ("lines", "message"),
    [
        (['{"item":"q","judge":"a","score":3}', '{"item":"q"}{}', '{"item":"q2","sco'],
         "line 2: not one JSON object a line (Extra data at character 13); also line 3"),
        (['{"item":"q","judge":"a","score":3}', "", "[1, 2]"], "line 3: not a JSON object"),
        (['{"item":"q","judge":"a","score":3}', "7"], "line 2: not a JSON object"),
        (['{"item":"q","item":"p","judge":"a","score":3}'], "line 1: a key is there twice"),
        (['{"item":"q","judge":"a","score":3}', '{"item":"q","judge":"b"}'],
         "line 2, column 'score': the key is not there"),
        (['{"item":"q","judge":"a","score":3}', '{"item":"q","score":3}'],
         "line 2, column 'judge': the judge is empty or not there"),
        (['{"item":"q","judge":"a","score":3}', '{"item":null,"judge":"a","score":3}'],
         "line 2, column 'item': the item is empty or not there"),
        (['{"item":"7","judge":"a","score":3}', '{"item":7,"judge":"a","score":3}'],
         "line 2, column 'item': the item is a number here and text elsewhere"),
        (['{"item":7,"judge":"a","score":3}', '{"item":7.5,"judge":"a","score":3}'],
         "line 2, column 'item': the item is neither text nor an integer: '7.5'"),
        (['{"item":true,"judge":"a","score":3}'], "the item is neither text nor an integer"),
        (['{"item":"q","judge":"a","score":3}', r'{"item":"\ud800","judge":"a","score":3}'],
         "line 2: not one JSON object a line ('utf-8' codec"),
        (["", '{"item":"q","judge":"a","score":3}', " \t", "\r",
          '{"item":"q","judge":"b","score":"x"}'],
         "line 5, column 'score': not a number: 'x'"),
        (['{"item":"q","judge":"a","score":Infinity}'], "not a number: 'Infinity'"),
        (['{"item":"q","judge":"a","score":1e999}'], "not a number: '1e999'"),
        (['{"item":"q","judge":"a","score":[4]}'], "not a number: '[4]'"),
    ],
)  # fmt: skip
def test_json_faults(tmp_path, lines, message):
    path = tmp_path / "panel.jsonl"
    path.write_text("\n".join(lines), encoding="utf-8")
    with pytest.raises(TableError) as caught:
        read_scores(path)
    assert message in str(caught.value)
    assert str(path) in str(caught.value)


GOOD, BAD = '{"item":"q{[,","judge":"a","score":3}', '{"item":"q","judge":"b","score":"4/5"}'


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (f"[\n{GOOD},\n\n{BAD}]", "record 2, line 4, column 'score': not a number: '4/5'"),
        (f"\ufeff [{GOOD},{BAD}]", "record 2, line 1, column 'score': not a number: '4/5'"),
        (f"[\n{GOOD}\n,{GOOD}]", "judge 'a': record 1, line 2 and record 2, line 3"),
        (f"[{GOOD},\n[7, {{}}],\n{GOOD}]", "record 2, line 2: not a JSON object"),
        (f'[{GOOD},\n{{"item":"\\\\\\"]","judge":"a","score":[1,\n2]}},\n{BAD}]',
         "record 2, line 2, column 'score': not a number: '[1,2]'\n  record 3, line 4"),
        (f"[\n{GOOD},\n{GOOD}", "line 3: not a JSON array of objects (Expecting ',' delimiter at"),
        (f"[\n{GOOD},]", "line 2: not a JSON array of objects ("),
        (f"[{GOOD}]\n7", "line 2: not a JSON array of objects (Extra data at character 1)"),
    ],
)  # fmt: skip
def test_faults_of_json_arrays(tmp_path, text, message):
    path = tmp_path / "panel.json"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(TableError) as caught:
        read_scores(path)
    assert message in str(caught.value)
    assert str(path) in str(caught.value)


def test_columns_that_are_not_there(tmp_path):
    path = tmp_path / "panel.csv"
    path.write_bytes(HEAD + b"q,a,1\n")
    for option in ("item", "judge", "attribute", "score"):
        with pytest.raises(
            TableError, match=rf"no column 'x'; the columns are 'item'.*; it was given by {option}="
        ):
            read_scores(path, **{option: "x"})
    with pytest.raises(TableError, match=r"no column 'x'; .* by attributes="):
        read_scores(path, attributes=["x"])
    with pytest.raises(TableError, match=r"no column 'x'; .* by where="):
        read_scores(path, where={"x": "1"})


def test_tables_in_memory(tmp_path):
    with pytest.raises(TableError, match=r"column 'item' .* must hold text or integers, got mixed"):
        read_scores(pd.DataFrame({"item": [7, "7"], "judge": ["a", "b"], "score": [1, 2]}))
    with pytest.raises(TableError, match="must hold text or integers, got float"):
        read_scores(pd.DataFrame({"item": [7.0, None], "judge": ["a", "b"], "score": [1, 2]}))
    with pytest.raises(TableError, match="table, row 2, column 'item': the item is empty"):
        read_scores(pa.table({"item": ["q", None], "judge": ["a", "b"], "score": [1, 2]}))
    with pytest.raises(
        TableError, match=r"(?s)table: 1 cells .*row 1, column 'score': not a number: '900719"
    ):
        read_scores(pa.table({"item": ["q"], "judge": ["a"], "score": [2**53 + 1]}))
    with pytest.raises(TableError, match="row 1, column 'score': not a number: '-inf'"):
        read_scores(pa.table({"item": ["q"], "judge": ["a"], "score": [float("-inf")]}))
    with pytest.raises(TypeError, match="expected a path, an Arrow table"):
        read_scores({"item": ["q"]})


def test_files_that_are_not_there_or_not_tables(tmp_path):
    with pytest.raises(FileNotFoundError):
        read_scores(tmp_path / "none.csv")
    with pytest.raises(IsADirectoryError):
        read_scores(tmp_path)
    path = tmp_path / "panel.xlsx"
    path.write_bytes(b"x")
    with pytest.raises(TableError, match=r"cannot tell the format from the ending '.xlsx'"):
        read_scores(path)
    path = tmp_path / "panel.parquet"
    path.write_bytes(b"item,judge,score")
    with pytest.raises(TableError, match="not a Parquet file"):
        read_scores(path)


@pytest.mark.parametrize(
    ("option", "value", "error"),
    [
        ("scale", (5, 1), ValueError), ("scale", 5, TypeError), ("on_bad", "drop", ValueError),
        ("missing_values", "NA", TypeError), ("missing_values", [None], TypeError),
        ("attributes", "x", TypeError), ("attributes", ["x", "x"], ValueError),
        ("attributes", [], ValueError), ("where", [("a", "b")], TypeError),
        ("where", {"judge": 1}, TypeError), ("decimal", ";", ValueError),
        ("delimiter", "ab", ValueError), ("workers", 0, ValueError),
    ],
)  # fmt: skip
def test_options_out_of_range(tmp_path, option, value, error):
    path = tmp_path / "panel.csv"
    path.write_bytes(HEAD + b"q,a,1\n")
    with pytest.raises(error, match=option):
        read_scores(path, **{option: value})


@pytest.mark.parametrize("read", [read_scores, read_votes, read_answers])
def test_names_of_columns_are_strings(read):
    table = pa.table({"item": ["q"], "judge": ["a"], "score": [1], "vote": [1], "answer": [1]})
    for wrong in (3, ["item"], {"item": "q"}):
        with pytest.raises(TypeError, match="item must be the name of a column, got"):
            read(table, item=wrong)


def test_arguments_that_are_something_else_altogether():
    table = pa.table({"item": ["q"], "judge": ["a"], "score": [1]})
    with pytest.raises(TypeError, match="progress must be callable, got int"):
        read_scores(table, progress=3)
    with pytest.raises(TypeError, match="panel must be what read_scores returns, got Table"):
        aggregate_panel(table)
    with pytest.raises(TypeError, match="result must be what aggregate_panel returns, got Panel"):
        consensus_columns(read_scores(table))
    with pytest.raises(TypeError, match="scores must be the name of a column or a list"):
        BatchSpec(None, ["x"])
    with pytest.raises(TypeError, match="options must be a mapping, got list"):
        BatchSpec("s", ["x"], options=[("tol", 1)])
    with pytest.raises(ValueError, match="method must be one of"):
        aggregate_table("no such file.csv", method="average")


def test_what_varies_within_an_item_is_named(tmp_path):
    path = tmp_path / "votes.csv"
    path.write_text("item,judge,vote,label,task\nq,a,1,1,s\nq,b,0,1,s\np,a,1,0,s\np,b,1,1,s\n")
    message = r"column 'label': item 'p' has '0' \(line 4\) and '1' \(line 5\)"
    with pytest.raises(TableError, match=message):
        read_votes(path)
    with pytest.raises(TableError, match=message):
        read_answers(path, answer="vote")
    path.write_text("item,judge,vote,task\nq,a,1,s\nq,b,0,t\n")
    with pytest.raises(TableError, match=r"column 'task': item 'q' has 's' .* and 't' "):
        read_votes(path)


def test_without_the_extra_the_error_names_it(tmp_path):
    path = tmp_path / "panel.csv"
    path.write_bytes(HEAD + b"q,a,1\n")
    code = (
        "import sys; sys.modules['duckdb'] = None\n"
        "import ropoll_core.tables as tables\n"
        f"try: tables.read_scores({str(path)!r})\n"
        "except ImportError as error: print(error)\n"
    )
    run = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert "pip install 'ropoll-core[cli]'" in run.stdout
