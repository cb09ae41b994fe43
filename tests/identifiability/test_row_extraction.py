"""Rows of heads: T makes the head's output, for every kind of model, whatever pads the batch."""

import numpy as np
import pytest
import torch

from families import FAMILIES
from glasshead import plug
from glasshead.errors import InputError
from glasshead.identifiability import RowSelector, attention_rows
from glasshead.identifiability.row_extraction import spread_rows
from glasshead.models import PooledClassifier
from glasshead.trace import record
from glasshead.trace.attention_site import forward
from small_encoders import batch, encoded, small

TEXT_FAMILIES = [name for name, family in FAMILIES.items() if family.kind in ("encoder", "decoder")]


def rows(model, texts, where=None):
    return [row for part in attention_rows(model, texts, where or RowSelector()) for row in part]


@pytest.mark.parametrize("name", TEXT_FAMILIES)
def test_t_makes_the_output_of_every_head(name):
    """a T has the length of a V D, head by head, and so has every difference of two rows of T."""
    model = plug(FAMILIES[name].build(), "softmax").double()
    given = FAMILIES[name].inputs([7, 4])
    found = rows(model, encoded(given), RowSelector(rows="all"))
    with torch.no_grad(), record(model) as trace:
        model(input_ids=given["input_ids"], attention_mask=given["attention_mask"])
    assert {row.layer for row in found} == set(range(len(trace.only)))
    for row in found:
        seen = trace.only[row.layer]
        here = row.text, row.head, row.row
        T = (
            seen.v[row.text, row.head]
            if seen.projection is None
            else seen.projected_values[row.text, row.head]
        )
        T = T[row.keys].numpy()
        np.testing.assert_allclose(row.T @ row.T.T, T @ T.T, rtol=1e-9, atol=1e-9)
        np.testing.assert_allclose(row.weights, seen.weights[here][row.keys].numpy(), atol=1e-12)
        assert row.projected == (seen.projection is not None)
        assert row.embed_dim == T.shape[1]
        assert row.eps == torch.finfo(torch.float64).eps


@pytest.mark.parametrize(
    "attention", ["shaw", "transformer-xl", "distance-aware", "tanhmax+tener", "softmax"]
)
def test_slopes_are_those_of_finite_differences(attention):
    model = small(attention=attention, max_length=16).double()
    given = batch()
    with torch.no_grad(), record(model) as trace:
        forward(model, given, rows="mean")
    seen = trace.only[0]
    call, nudge = seen.call.rows(torch.tensor([1])), 1e-6
    for row in rows(model, encoded(given), RowSelector(rows=(1,), layers=(0,))):
        for axis in range(call.q.shape[-1]):
            step = torch.zeros_like(call.q)
            step[..., axis] = nudge
            ahead, behind = (
                call.mechanism.scores(
                    type(call)(call.mechanism, call.q + s, call.k, call.v, call.mask, call.scale)
                )
                for s in (step, -step)
            )
            slope = (ahead - behind)[row.text, row.head, 0, row.keys] / (2 * nudge)
            np.testing.assert_allclose(row.score_jacobian[:, axis], slope.detach().numpy(), atol=1e-6)


def test_values_of_shaw_depend_on_the_row():
    """Output of row i = Σ_j a_ij (v_j + a^V_{j−i}): T holds what each key adds there."""
    model = small(attention="shaw").double()
    given = batch()
    with torch.no_grad(), record(model) as trace:
        forward(model, given, rows="mean")
    for row in rows(model, encoded(given), RowSelector(layers=(0,), rows="all")):
        seen = trace.only[row.layer]
        output = seen.output[row.text, row.head, row.row].numpy() @ seen.projection[row.head].numpy()
        made = row.weights @ row.T
        np.testing.assert_allclose(np.linalg.norm(made), np.linalg.norm(output), rtol=1e-9)


def test_causal_rows_have_the_keys_before_them():
    model = plug(FAMILIES["gpt2"].build(), "softmax")
    for row in rows(model, encoded(FAMILIES["gpt2"].inputs([6, 3])), RowSelector(rows="all")):
        assert row.keys.tolist() == list(range(row.row + 1))


@pytest.mark.parametrize("family", ["encoder", "pair-encoder", "hierarchical"])
def test_a_batch_is_as_good_as_one_by_one(family):
    model = small(family).double()
    given = batch(family)
    whole = encoded(given)
    together = rows(model, whole, RowSelector(rows="all"))
    for text in range(len(whole.ids)):
        alone = rows(model, whole.some(np.array([text])), RowSelector(rows="all"))
        mine = [row for row in together if row.text == text]
        assert [(r.layer, r.head, r.row, r.part) for r in mine] == [
            (r.layer, r.head, r.row, r.part) for r in alone
        ]
        for one, other in zip(mine, alone, strict=True):
            assert one.keys.tolist() == other.keys.tolist()
            np.testing.assert_allclose(one.weights, other.weights, atol=1e-12)
            np.testing.assert_allclose(one.T, other.T, atol=1e-10)


def test_pairs_attend_within_their_texts():
    given = batch("pair-encoder")
    for row in rows(small("pair-encoder"), encoded(given), RowSelector(layers=(0,))):
        assert set(given["token_type_ids"][row.text, row.keys].tolist()) == {row.part}


def test_a_pooled_model_has_one_row_of_pooled_vectors():
    from glasshead.data.encode import encode
    from small import TEXTS, random_model, tokenizer

    model = random_model()
    texts = encode(tokenizer(), TEXTS)
    found = rows(model, texts)
    assert isinstance(model, PooledClassifier)
    assert [row.text for row in sorted(found, key=lambda row: row.text)] == [
        i for i, text in enumerate(TEXTS) if text
    ]
    told = model(texts.ids, texts.mask, output_attentions=True)
    for row in found:
        mapped = row.T @ model.classifier.weight.detach().double().numpy().T  # h W is the polarity
        polarity = told.polarity[row.text, row.keys].detach().numpy()
        np.testing.assert_allclose(mapped, polarity, atol=1e-5)
        np.testing.assert_allclose(row.weights, told.weights[row.text, row.keys].detach().numpy(), atol=1e-7)
        assert row.score_jacobian is None


@pytest.mark.parametrize(
    ("attention", "kind"),
    [
        ("softmax", "simplex"),
        ("sigmoid", "simplex"),
        ("tanhmax", "cross"),
        ("tanhmax+distance-aware", "below-one"),
        ("relu", "nonnegative"),
        ("dot-product", "any"),
        ("distance-aware", "simplex"),
    ],
)
def test_what_an_activation_can_produce(attention, kind):
    found = rows(small(attention=attention), encoded(batch()), RowSelector(layers=(0,)))
    assert {row.kind for row in found} == {kind}


def test_refusals():
    model, texts = small(), encoded(batch())
    for where, words in (
        (RowSelector(layers=(5,)), "no attention layer 5"),
        (RowSelector(heads=(7,)), "no head 7"),
        (RowSelector(rows=(99,)), "no text has a row 99"),
    ):
        with pytest.raises(InputError, match=words):
            rows(model, texts, where)
    with pytest.raises(InputError, match="unknown rows 'frist'"):
        RowSelector(rows="frist")
    with pytest.raises(InputError, match="half precision"):
        rows(small().half(), texts)
    late = small(attention={"position": {"name": "distance-aware", "adjust": "late-multiply"}})
    with pytest.raises(InputError, match="after its activation"):
        rows(late, texts)


def test_a_text_that_is_too_short_goes_without_the_row():
    found = rows(small(), encoded(batch(lengths=(9, 3))), RowSelector(layers=(0,), rows=(5,)))
    assert {row.text for row in found} == {0}
    assert {row.row for row in found} == {5}


@pytest.mark.parametrize("most", [1, 3, 4])
def test_of_a_mean_of_many_rows_a_text_has_some_in_proportion_to_their_shares(most):
    equal = np.full(12, 1 / 12)
    assert spread_rows(equal, None) == list(range(12))
    chosen = spread_rows(equal, most)
    assert len(chosen) == most
    assert np.ptp(np.diff(chosen)) <= 1 if most > 2 else True
    one = np.eye(12)[5]
    assert spread_rows(one, most) == [5]
    heavy = np.where(np.arange(12) == 7, 0.9, 0.1 / 11)
    assert 7 in spread_rows(heavy, most)
    without = np.where(np.arange(12) % 2, equal, 0.0)
    assert all(row % 2 for row in spread_rows(without, most))
