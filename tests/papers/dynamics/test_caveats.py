"""What limits the use of a history is said where it holds, and not elsewhere."""

import fake_histories
import numpy as np
import pytest

from glasshead.papers.dynamics import interval_for_curves, interval_for_terms, loss_plateau, stop_step
from glasshead.papers.dynamics.findings import LARGEST_PART, gap_finding
from glasshead.papers.results import History
from glasshead.results import TOO_MUCH_LEFT, TOO_SPARSE, Verdict


def with_loss(first, last):
    history = fake_histories.history()
    loss = history.curves["quantity"] == "loss"
    ends = np.where(history.curves["step"] == history.steps[-1], last, first)
    curves = history.curves | {"mean": np.where(loss, ends, history.curves["mean"])}
    return History(history.facts, curves, history.products, history.tokens)


def test_a_loss_that_hardly_falls_is_a_plateau():
    assert loss_plateau(with_loss(0.7, 0.69)) == (0.7, 0.69)
    assert loss_plateau(with_loss(0.7, 0.2)) is None
    assert loss_plateau(fake_histories.layered()) is None


@pytest.mark.parametrize(("best", "expected"), [(40, None), (20, 20)])
def test_the_best_step_is_named_where_it_is_not_the_last(best, expected):
    assert stop_step(fake_histories.history(best_step=best)) == expected


def test_too_few_snapshots_for_a_curve():
    few = fake_histories.history(every=20)
    assert len(few.steps) < 5
    assert interval_for_curves(few) == 1
    assert interval_for_curves(fake_histories.history(every=1)) is None


@pytest.mark.parametrize(
    ("verdict", "expected"), [(TOO_SPARSE, 10), (TOO_MUCH_LEFT, 10), (Verdict(LARGEST_PART), None)]
)
def test_terms_may_need_closer_snapshots(verdict, expected):
    findings = [gap_finding("added to score", "D", "positive", 1.0, None, 12, verdict)]
    assert interval_for_terms(fake_histories.history(every=100), findings) == expected
    assert interval_for_terms(fake_histories.history(every=1), findings) is None
