"""Agreement with marks: numbers of the code of ferret's and ERASER's authors, and scikit-learn's curve."""

import json
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import auc, precision_recall_curve

from glasshead.statistics import intersection_over_union, precision_recall_area, token_f1, top_tokens

STORED = json.loads((Path(__file__).parent / "plausibility_numbers.json").read_text(encoding="utf-8"))
CASES = STORED["cases"]


def table(rows, fill=0.0):
    """Rows of several lengths in one table, with rubbish behind them, and where there is none."""
    mask = np.zeros((len(rows), max(map(len, rows)) + 2), dtype=bool)
    values = np.full(mask.shape, fill)
    for number, row in enumerate(rows):
        mask[number, : len(row)], values[number, : len(row)] = True, row
    return values, mask


@pytest.fixture(scope="module")
def tables():
    scores, mask = table([case["scores"] for case in CASES], fill=99.0)
    marks, _ = table([case["marks"] for case in CASES], fill=1.0)
    return scores, marks > 0, mask


def numbers(author, name):
    return np.array([case[author].get(name, np.nan) for case in CASES])


def test_the_area_is_that_of_eraser_and_of_ferret(tables):
    scores, marks, mask = tables
    area = precision_recall_area(scores, marks, mask)
    np.testing.assert_allclose(area, numbers("eraser", "auprc"), atol=1e-12)
    np.testing.assert_allclose(area, numbers("ferret", "auprc of raw scores"), atol=1e-12)
    positive = precision_recall_area(np.maximum(scores, 0), marks, mask)
    np.testing.assert_allclose(positive, numbers("ferret", "auprc"), atol=1e-12)


def test_the_largest_scores_overlap_as_in_ferret_and_eraser(tables):
    scores, marks, mask = tables
    top, marks = top_tokens(scores, mask, STORED["k"]), marks & mask
    np.testing.assert_allclose(token_f1(top, marks), numbers("ferret", "token-f1"), atol=1e-12)
    np.testing.assert_allclose(intersection_over_union(top, marks), numbers("ferret", "iou"), atol=1e-12)
    theirs = numbers("eraser", "token-f1")
    assert np.isfinite(theirs).sum() > 10
    np.testing.assert_allclose(token_f1(top, marks)[np.isfinite(theirs)], theirs[np.isfinite(theirs)])


@given(
    st.lists(
        st.lists(st.tuples(st.sampled_from([-1.0, -0.5, 0.0, 0.5, 2.0]), st.booleans()), min_size=1),
        min_size=1,
        max_size=4,
    )
)
def test_the_area_is_that_of_scikit_learn_whatever_is_tied(texts):
    scores, mask = table([[score for score, _ in text] for text in texts], fill=5.0)
    marks = table([[mark for _, mark in text] for text in texts], fill=1.0)[0] > 0
    for text, area in zip(texts, precision_recall_area(scores, marks, mask), strict=True):
        truth = [mark for _, mark in text]
        if len(set(truth)) < 2:
            assert np.isnan(area)
        else:
            precision, recall, _ = precision_recall_curve(truth, [score for score, _ in text])
            assert area == pytest.approx(auc(recall, precision), abs=1e-12)
