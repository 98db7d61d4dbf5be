"""A table aggregated whole and in parts: the same to the bit, and right against plain NumPy."""

import dataclasses

import numpy as np
import polars as pl
import pytest

from ropoll_core.scores import coordinatewise_median, geometric_median, mean
from ropoll_core.tables import (
    TableError,
    aggregate_panel,
    aggregate_table,
    read_score_parts,
    read_scores,
)

N_ITEMS = 150_000


@pytest.fixture(scope="module")
def large(tmp_path_factory):
    """Three parts of at least 65,536 items, semi-wide; some rows and cells missing."""
    rng = np.random.default_rng(8)
    item, judge = np.divmod(np.arange(N_ITEMS * 3), 3)
    keep = rng.random(item.size) > 0.05
    item, judge = item[keep], judge[keep]
    x, y = rng.normal(size=(2, item.size)).round(2)
    frame = pl.DataFrame({"item": item, "judge": judge, "x": x, "y": y})
    frame = frame.with_columns(y=pl.when(pl.col("y") > 2).then(None).otherwise(pl.col("y")))
    path = tmp_path_factory.mktemp("large") / "panel.parquet"
    frame.sample(fraction=1.0, shuffle=True, seed=4).write_parquet(path)
    return path


def test_parts_are_the_panel_cut(large):
    whole = read_scores(large)
    parts = list(read_score_parts(large, max_bytes=1))
    assert [len(part.items) for part in parts] == [
        65_536,
        65_536,
        len(whole.items) - 2 * 65_536,
    ]
    np.testing.assert_array_equal(np.concatenate([p.scores for p in parts]), whole.scores)
    assert np.concatenate([p.items for p in parts]).tolist() == whole.items.tolist()
    assert sum(p.n_rows for p in parts) == whole.n_rows
    for name in ("no_row", "empty"):
        assert sum(getattr(p.left_out, name) for p in parts) == getattr(whole.left_out, name)
    assert len(list(read_score_parts(large))) == 1


def test_result_does_not_depend_on_parts_or_workers(large):
    expected = aggregate_panel(read_scores(large))
    for options in ({"max_bytes": 1}, {"max_bytes": 1, "workers": 2}, {"workers": 2}):
        result = aggregate_table(large, **options)
        for field in dataclasses.fields(expected):
            got, wanted = getattr(result, field.name), getattr(expected, field.name)
            np.testing.assert_array_equal(got, wanted, err_msg=field.name)


def test_long_form_in_parts_with_chosen_attributes(large, tmp_path):
    frame = pl.read_parquet(large).unpivot(index=["item", "judge"], variable_name="attribute",
                                           value_name="score")  # fmt: skip
    frame.write_csv(tmp_path / "long.csv")
    for attributes in (["y", "x"], ["y"]):
        whole = read_scores(tmp_path / "long.csv", attributes=attributes)
        parts = list(read_score_parts(tmp_path / "long.csv", attributes=attributes, max_bytes=1))
        assert len(parts) > 1
        np.testing.assert_array_equal(np.concatenate([p.scores for p in parts]), whole.scores)
        assert sum(p.left_out.rows for p in parts) == whole.left_out.rows


def test_faults_in_a_later_part(large, tmp_path):
    frame = pl.read_parquet(large).with_columns(pl.col("x").cast(pl.String))
    last = frame.tail(1)
    frame = pl.concat([frame, last.with_columns(x=pl.lit("4/5"), judge=pl.lit(7, pl.Int64))])
    frame.write_parquet(tmp_path / "bad.parquet")
    with pytest.raises(TableError, match=r"1 cells cannot be read.*\n.*column 'x'.*'4/5'"):
        list(read_score_parts(tmp_path / "bad.parquet", max_bytes=1))
    result = aggregate_table(tmp_path / "bad.parquet", max_bytes=1, on_bad="missing")
    assert result.left_out.bad == 1
    assert len(result.left_out.examples) == 1
    pl.concat([frame.head(-1), last]).write_parquet(tmp_path / "twice.parquet")
    with pytest.raises(TableError, match="1 rows repeat a key"):
        aggregate_table(tmp_path / "twice.parquet", max_bytes=1)
    parts = read_score_parts(large, max_bytes=1)
    next(parts)
    parts.close()  # and the scratch folder is gone: a warning here would be an error


def test_summary_against_plain_numpy(tmp_path):
    rng = np.random.default_rng(2)
    scores = rng.integers(0, 6, size=(300, 4, 3)).astype(float)
    scores[rng.random((300, 4)) < 0.2] = np.nan
    scores[5] = np.nan
    scores[:, 3][scores[:, 3, 0] > 2] = 0
    item, judge = np.nonzero(~np.isnan(scores[..., 0]))
    columns = {name: scores[item, judge, a] for a, name in enumerate("xyz")}
    frame = pl.DataFrame({"item": item, "judge": judge, **columns})
    extra = pl.DataFrame({"item": [5], "judge": [0], "x": [None], "y": [None], "z": [1.0]})
    result = aggregate_table(pl.concat([frame, extra], how="vertical_relaxed"))
    order = result.items.astype(int)
    scores = scores[order]
    exact = geometric_median(scores, full_output=True)
    np.testing.assert_array_equal(result.consensus, exact.median)
    np.testing.assert_array_equal(result.status, exact.status)
    valid = ~np.isnan(scores).any(axis=2)
    np.testing.assert_array_equal(result.n_valid, valid.sum(axis=1))
    np.testing.assert_allclose(result.coverage, valid.mean(axis=0), rtol=1e-13)
    column = {name: j for j, name in enumerate(result.judges)}
    for j in range(4):
        rows = valid[:, j]
        away = np.linalg.norm(scores[rows, j] - exact.median[rows], axis=1).mean()
        got = column[str(j)]
        assert result.mean_distance[got] == pytest.approx(away, rel=1e-12)
        share = exact.influence[rows, j].mean()
        assert result.mean_influence[got] == pytest.approx(share, rel=1e-12)
    moved = np.linalg.norm(mean(scores) - exact.median, axis=1)
    np.testing.assert_allclose(result.moved, moved, rtol=1e-12)
    middle = coordinatewise_median(scores)
    for i, panel in enumerate(scores):
        if not valid[i].any():
            assert not result.unsupported[i]
            continue
        nearest = np.linalg.norm(panel[valid[i]] - middle[i], axis=1).min()
        typical = np.linalg.norm(panel[valid[i]] - exact.median[i], axis=1).mean()
        assert result.unsupported[i] == (nearest > typical)
