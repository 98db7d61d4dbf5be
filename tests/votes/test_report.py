"""The report in one call says what the functions say one by one."""

import numpy as np
import pytest
from reference.votes import random_panel

from ropoll_core import effective_votes, pivotal_report, substitution
from ropoll_core.votes import effective_votes_change


@pytest.mark.parametrize("missing", [0.0, 0.05])
@pytest.mark.parametrize("k", [1, 4, 5])
def test_estimates(k, missing):
    votes, signal, labels = random_panel(k, 500, k, missing)
    tasks = np.arange(500) // 10
    report = pivotal_report(votes, signal, labels, tasks=tasks, n_resamples=300, rng=2)
    for rule, got in zip(["uniform", "majority", *range(k)], report.rules, strict=True):
        one = substitution(votes, signal, labels, rule=rule)
        assert got.gain.value == pytest.approx(one.gain, abs=1e-12)
        assert got.pivotal_gain.value == pytest.approx(one.pivotal_gain, abs=1e-12)
        pivotal = one.stratum_gain[one.stratum_pivotal]
        assert [e.value for e in got.stratum_gain] == pytest.approx(pivotal.tolist(), abs=1e-12)
        assert got.gain.low <= got.gain.value <= got.gain.high
    np.testing.assert_array_equal(report.n, one.n)
    np.testing.assert_array_equal(report.n_errors, one.n_errors)
    rates = [e.value for e in report.error_rate]
    assert rates == pytest.approx((one.n_errors / one.n).tolist(), abs=1e-12)
    assert report.panel_accuracy.value == pytest.approx(one.panel_accuracy, abs=1e-12)
    assert report.pivotal_share.value == pytest.approx(one.pivotal_share, abs=1e-12)
    assert report.signal_accuracy.value == pytest.approx(one.signal_accuracy, abs=1e-12)
    assert (report.n_scored, report.n_tasks) == (one.n_scored, 50)
    if k > 1:
        scored = (labels >= 0) & (votes >= 0).any(axis=1)
        errors = np.where(votes < 0, -1, votes != labels[:, None])[scored]
        assert report.n_eff.value == pytest.approx(effective_votes(errors).n_eff, abs=1e-12)
        change = effective_votes_change(votes[scored], signal[scored], labels[scored]).change
        assert report.n_eff_change.value == pytest.approx(change, abs=1e-12)
        after = report.n_eff.value + report.n_eff_change.value
        assert report.n_eff_after.value == pytest.approx(after, abs=1e-12)
    else:
        assert np.isnan(report.n_eff.value)


def test_the_same_every_time():
    votes, signal, labels = random_panel(1, 300, 5)
    one = pivotal_report(votes, signal, labels, n_resamples=200, rng=5)
    two = pivotal_report(votes, signal, labels, n_resamples=200, rng=5, workers=2)
    assert one.rules[0].gain == two.rules[0].gain
    assert one.n_eff_change == two.n_eff_change


def test_many_sizes_of_panel_have_no_common_unit():
    votes, signal, labels = random_panel(1, 2000, 50, missing=0.4)
    report = pivotal_report(votes, signal, labels, n_resamples=50, rng=0)
    one = substitution(votes, signal, labels)
    assert report.rules[0].gain.value == pytest.approx(one.gain, abs=1e-12)
    assert not report.permutation.exact


def test_without_a_signal_and_without_a_scored_query():
    votes, signal, labels = random_panel(3, 60, 3)
    report = pivotal_report(votes, None, labels, n_resamples=50, rng=0)
    assert report.rules == ()
    assert report.permutation is None
    assert report.signal_accuracy is None
    with pytest.raises(ValueError, match="a query with a label and a ballot, got none"):
        pivotal_report(votes, signal, np.full(60, -1), n_resamples=50)
