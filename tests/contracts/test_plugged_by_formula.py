"""Every family with TanhMax against weights worked out here, from the masks of Transformers' eager attention.

Softmax forgives what is added to all scores of a row; TanhMax does not.
"""

import pytest
import torch
from transformers.masking_utils import AttentionMaskInterface, eager_mask
from transformers.modeling_utils import AttentionInterface

import glasshead
from families import FAMILIES
from tolerances import ONE_FORMULA_SINGLE

KEY = "tanhmax-by-formula"
LENGTHS = [9, 4, 6]
FORBIDDEN = -1e30


def by_formula(module, query, key, value, attention_mask, scaling=None, position_bias=None, **kwargs):
    """a = sinh(s) / Σ cosh(s) over the keys that are allowed, in float64; 0 in a row without any."""
    shared = query.shape[1] // key.shape[1]
    key, value = (each.double().repeat_interleave(shared, dim=1) for each in (key, value))
    scores = query.double() @ key.mT * (query.shape[-1] ** -0.5 if scaling is None else scaling)
    for bias in (position_bias, attention_mask):
        scores = scores if bias is None else scores + bias
    allowed = scores > FORBIDDEN
    scores = scores.masked_fill(~allowed, 0.0)
    weights = scores.sinh() * allowed / (scores.cosh() * allowed).sum(dim=-1, keepdim=True).clamp(min=0.5)
    return (weights @ value).to(query.dtype).transpose(1, 2), weights.to(query.dtype)


@pytest.fixture(autouse=True)
def registered():
    """The formula as an attention implementation of Transformers."""
    AttentionInterface.register(KEY, by_formula)
    AttentionMaskInterface.register(KEY, eager_mask)
    yield
    for interface in (AttentionInterface, AttentionMaskInterface):
        del interface._global_mapping[KEY]


def padded(name, side):
    """Inputs of a family with padding wherever it takes any."""
    family = FAMILIES[name]
    given = family.inputs(LENGTHS, side)
    if family.crosses:
        given["decoder_attention_mask"] = torch.ones_like(given["decoder_input_ids"])
        given["decoder_attention_mask"][1, 3:] = 0
    if family.kind == "speech":
        given["attention_mask"] = torch.ones_like(given["input_values"]).long()
        given["attention_mask"][1, 1000:] = 0
    if name == "beit":
        given["attention_mask"] = torch.tensor([[1] * 10, [1] * 6 + [0] * 4, [1] * 9 + [0]])
    return given


@pytest.mark.parametrize(
    ("name", "side"),
    [(name, "right") for name in FAMILIES]
    + [(name, "left") for name, family in FAMILIES.items() if family.kind == "decoder"],
)
@torch.no_grad()
def test_tanhmax_is_its_formula_in_every_family(name, side):
    family, given = FAMILIES[name], padded(name, side)
    ours = glasshead.plug(family.build(), "tanhmax")(**given, output_attentions=True)
    theirs = family.build()
    theirs.set_attn_implementation(KEY)
    theirs = theirs(**given, output_attentions=True)
    read = [key for key in theirs if "attentions" in key and theirs[key]]
    assert read
    for key in read:
        for one, other in zip(ours[key], theirs[key], strict=True):
            torch.testing.assert_close(one, other, **ONE_FORMULA_SINGLE)
    key = "logits" if "logits" in theirs else "last_hidden_state"
    torch.testing.assert_close(ours[key], theirs[key], **ONE_FORMULA_SINGLE)
