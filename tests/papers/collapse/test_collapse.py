"""What depth leaves of the differences between tokens, and the rank of the logarithm of attention."""

from __future__ import annotations

import math

import pytest
import torch
from torch.testing import assert_close

from classifier_families import FAMILIES, TEXTS
from glasshead.errors import InputError, ParameterError
from glasshead.opening import open_subject
from glasshead.papers.collapse import (
    collapse_by_depth,
    composite_norm,
    gaussian_collapse,
    log_ranks,
    residual,
)
from glasshead.papers.collapse.random_collapse import gaussian_residuals

PURE, SKIPS, WHOLE = "attention alone", "with skips", "whole layer"
OWN = "The weights of the model"


def states() -> torch.Tensor:
    return torch.sin(torch.arange(1, 25, dtype=torch.float64) * 0.7).reshape(6, 4)


def test_the_norm_is_that_of_the_authors() -> None:
    """Numbers of twistedcubic/attention-rank-collapse at 38b5df6, paper-plotting/utils.py, composite_norm."""
    assert_close(float(composite_norm(states())), 3.676191904904472, rtol=1e-9, atol=0)
    assert_close(float(residual(states())), 1.0447482926676823, rtol=1e-9, atol=0)


def test_the_norm_is_the_largest_column_sum_times_the_largest_row_sum() -> None:
    matrix = states()
    columns = max(sum(abs(float(x)) for x in column) for column in matrix.T)
    rows = max(sum(abs(float(x)) for x in row) for row in matrix)
    assert_close(float(composite_norm(matrix)), math.sqrt(columns * rows))


def test_equal_rows_have_no_residual() -> None:
    assert float(residual(torch.ones(5, 1, dtype=torch.float64) * states()[0])) < 1e-12


def test_softmax_makes_tokens_alike_and_tanhmax_does_not() -> None:
    softmax, tanhmax = gaussian_collapse(["softmax", "tanhmax"], seeds=8)
    # One draw of a check elsewhere: .795 .425 .070 .0002 0 … and .95 .98 1.02 …
    assert softmax.mean[0] > 0.95
    assert 0.6 < softmax.mean[1] < 0.9
    assert 0.2 < softmax.mean[2] < 0.55
    assert softmax.mean[5] < 0.01
    assert softmax.mean[8] < 1e-6
    assert (tanhmax.mean > 0.9).all()
    assert (softmax.low[1:4] < softmax.mean[1:4]).all()
    assert list(softmax.n) == [8] * 9


@pytest.mark.parametrize(
    ("name", "quoted", "rounding"),
    [("softmax", [0.795, 0.425, 0.070, 0.0002, 0.0], [5e-4, 5e-4, 5e-4, 5e-5, 5e-5]),
     ("tanhmax", [0.95, 0.98, 1.02], [5e-3] * 3)],
)  # fmt: skip
def test_one_draw_of_a_check_elsewhere_is_like_one_of_ours(name, quoted, rounding) -> None:
    """Quoted to so many places, of one draw that is not ours: each number lies among those of 100 draws."""
    draws = torch.stack([gaussian_residuals(name, seed, layers=len(quoted)) for seed in range(100)])[:, 1:]
    known, half = torch.tensor(quoted).double(), torch.tensor(rounding).double()
    below, above = (draws <= known + half).double().mean(dim=0), (draws >= known - half).double().mean(dim=0)
    assert (below >= 0.01).all()
    assert (above >= 0.01).all()


def test_the_logarithm_of_softmax_has_few_directions() -> None:
    ranks = {
        one.name: list(one.ranks) for one in log_ranks(["softmax", "sigsoftmax", "tanhmax", "relu"], seeds=3)
    }
    assert ranks["softmax"] == [6] * 3
    assert ranks["sigsoftmax"] == ranks["tanhmax"] == [40] * 3
    assert ranks["relu"] == []  # weights of 0 have no logarithm
    (wider,) = log_ranks(["softmax"], seeds=2, head_dim=3, rows=20)
    assert list(wider.ranks) == [4, 4]


@pytest.fixture(scope="module")
def bert():
    family = FAMILIES["Bert"]
    return open_subject(family.build(), family.tokenizer())


def test_the_paths_of_a_bert(bert) -> None:
    curves, remarks = collapse_by_depth(bert.model, bert.tokenizer, TEXTS, seeds=2)
    own = {curve.name: curve for curve in curves if curve.panel == OWN}
    assert set(own) == {PURE, SKIPS, WHOLE}
    assert remarks == []
    assert len({round(float(curve.mean[0]), 9) for curve in own.values()}) == 1
    assert own[PURE].mean[-1] < own[SKIPS].mean[-1]
    random = [curve for curve in curves if curve.panel != OWN]
    assert {curve.unit for curve in random} == {"seed"}
    assert all(list(curve.n) == [2] * 3 for curve in random)


def test_the_whole_layer_is_what_the_model_computes(bert) -> None:
    curves, _ = collapse_by_depth(bert.model, bert.tokenizer, TEXTS[:1], seeds=1)
    whole = next(curve for curve in curves if (curve.panel, curve.name) == (OWN, WHOLE))
    inputs = bert.tokenizer(TEXTS[:1], return_tensors="pt")
    with torch.no_grad():
        hidden = bert.model(**inputs, output_hidden_states=True).hidden_states
    assert_close(
        torch.from_numpy(whole.mean),
        torch.stack([residual(one[0].double()) for one in hidden]),
        rtol=1e-5,
        atol=0,
    )


def test_uniform_attention_alone_leaves_nothing(bert) -> None:
    """Zero queries make every weight 1/n: one layer of attention alone gives all tokens one vector."""
    model = FAMILIES["Bert"].build()
    with torch.no_grad():
        for layer in model.bert.encoder.layer:
            layer.attention.self.query.weight.zero_()
            layer.attention.self.query.bias.zero_()
    subject = open_subject(model, bert.tokenizer)
    curves, _ = collapse_by_depth(subject.model, subject.tokenizer, TEXTS, seeds=1)
    own = {curve.name: curve for curve in curves if curve.panel == OWN}
    assert own[PURE].mean[1] < 1e-5
    assert own[WHOLE].mean[1] > 0.05


@pytest.mark.parametrize("name", ["GPT2", "Deberta", "Bart", pytest.param("Llama", marks=pytest.mark.slow)])
def test_families(name: str) -> None:
    family = FAMILIES[name]
    subject = open_subject(family.build(), family.tokenizer())
    before = {key: value.clone() for key, value in subject.model.state_dict().items()}
    curves, remarks = collapse_by_depth(subject.model, subject.tokenizer, TEXTS, seeds=1)
    names = {curve.name for curve in curves}
    assert WHOLE in names
    assert (PURE in names) == (not remarks)  # where values cannot be seen, a remark says so
    assert bool(remarks) == (name == "Deberta")
    assert all(torch.equal(value, before[key]) for key, value in subject.model.state_dict().items())


def test_refusals() -> None:
    gpt = open_subject(FAMILIES["GPT2"].build(), FAMILIES["GPT2"].tokenizer())
    with pytest.raises(InputError, match="two tokens"):
        collapse_by_depth(gpt.model, gpt.tokenizer, ["bad"], seeds=1)
    with pytest.raises(ParameterError, match="at least 1"):
        gaussian_collapse(["softmax"], seeds=0)


VALUES = {"Bert": "attention.self.value.bias", "DistilBert": "v_lin.bias", "GPT2": "c_attn.bias"}


@pytest.mark.parametrize("name", VALUES)
def test_what_biases_of_values_add_to_every_token_is_no_collapse(name) -> None:
    """In one layer: from the second on, states have the size that the model gives them."""

    def residuals(bias: float) -> dict[str, float]:
        model = FAMILIES[name].build().double()
        for weight, values in model.named_parameters():
            if weight.endswith(VALUES[name]):
                values.data[-model.config.hidden_size :] += bias
        subject = open_subject(model, FAMILIES[name].tokenizer())
        curves, _ = collapse_by_depth(subject.model, subject.tokenizer, TEXTS, seeds=1)
        return {curve.name: float(curve.mean[1]) for curve in curves if curve.panel == OWN}

    own, biased = residuals(0.0), residuals(0.5)
    assert biased[PURE] == pytest.approx(own[PURE], rel=1e-6)
    assert biased[SKIPS] == pytest.approx(own[SKIPS], rel=1e-6)
    assert biased[WHOLE] != pytest.approx(own[WHOLE], rel=1e-3)
