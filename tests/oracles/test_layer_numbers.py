"""What follows attention through the layers: numbers of the authors' code, for a BERT of closed formulas.

The weights of the model are those of tests/closed_forms.py, the text is its TEXT; each row is what the last
layer's query of that place knows of every token. Their functions were given what transformers records.
"""

import json
from pathlib import Path

import numpy as np
import pytest

from closed_forms import TEXT, closed_form_bert
from glasshead.explainers import EXPLAINERS
from glasshead.huggingface import plug
from glasshead.trace import AttentionSelector
from tolerances import ONE_FORMULA

AUTHORS = json.loads((Path(__file__).parent / "layer_numbers.json").read_text(encoding="utf-8"))
PARITY = dict.fromkeys(AUTHORS, ONE_FORMULA) | {
    "attention-flow": {"rtol": 0, "atol": 1e-8},  # capacities are whole numbers of 2⁻³⁰
    "alti": {"rtol": 0, "atol": 1e-6},  # torch's pairwise_distance adds 1e-6 to every difference
}


@pytest.fixture(scope="module")
def bert():
    model, tokenizer = closed_form_bert()
    return plug(model, "softmax"), tokenizer


def explained(bert, method, row):
    name, _, head = method.partition(" of head ")
    selector = AttentionSelector(row=row, head=int(head) if head else None)
    (attribution,) = EXPLAINERS[name](*bert, [TEXT], target=1, attention_selector=selector)
    return attribution.scores


@pytest.mark.parametrize("method", AUTHORS)
def test_the_numbers_are_those_of_the_authors(bert, method):
    rows = np.array(AUTHORS[method]["rows"])
    np.testing.assert_allclose(explained(bert, method, "first"), rows[0], **PARITY[method])
    np.testing.assert_allclose(explained(bert, method, "last"), rows[-1], **PARITY[method])
    assert np.ptp(rows, axis=1).min() > 1e-4


@pytest.mark.parametrize("method", sorted(set(AUTHORS) - {"attention-flow"}))
def test_the_mean_of_all_rows_is_the_mean_of_the_authors_rows(bert, method):
    """Flow from many rows at once is another network."""
    rows = np.array(AUTHORS[method]["rows"])
    np.testing.assert_allclose(explained(bert, method, "mean"), rows.mean(axis=0), **PARITY[method])


@pytest.mark.parametrize("method", ["rollout", "attention-flow", "alti", "value-zeroing"])
def test_shares_sum_to_one(bert, method):
    for row in ("first", "last", "mean"):
        assert sum(explained(bert, method, row)) == pytest.approx(1.0, abs=1e-8)
