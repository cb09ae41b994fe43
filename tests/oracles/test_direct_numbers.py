"""Direct logit attribution against numbers of TransformerLens: its stacks of components, `logit_attrs`."""

import json
from pathlib import Path

import numpy as np
import pytest
import torch
import transformers as hf

from classifier_families import word_tokenizer
from glasshead import logit_attribution

NUMBERS = json.loads(Path(__file__).with_name("direct_numbers.json").read_text())
SIZES = {"vocab_size": 60, "bos_token_id": 1, "eos_token_id": 1}
CONFIGURATIONS = {
    "gpt2": hf.GPT2Config(n_embd=16, n_layer=3, n_head=4, n_positions=32, **SIZES),
    "llama": hf.LlamaConfig(
        hidden_size=16, intermediate_size=24, num_hidden_layers=3, num_attention_heads=4,
        num_key_value_heads=2, max_position_embeddings=32, **SIZES,
    ),
}  # fmt: skip
TEXT = "the film was not very good but warm"


def waving_model(name):
    """A model whose weights are waves: the same whatever draws random numbers."""
    model = hf.AutoModelForCausalLM.from_config(CONFIGURATIONS[name]).eval()
    with torch.no_grad():
        for number, weight in enumerate(model.parameters()):
            places = torch.arange(weight.numel(), dtype=torch.float64)
            wave = torch.sin(0.731 * places**1.5 + number).view_as(weight)
            weight.copy_(1 + 0.3 * wave if weight.ndim == 1 and "llama" in name else 0.5 * wave)
    return model


@pytest.mark.parametrize("name", CONFIGURATIONS)
@pytest.mark.parametrize("against", [None, "bad"])
def test_components_are_those_of_transformer_lens(name, against):
    case = NUMBERS["cases"][f"{name}, {'good' if against is None else 'good against bad'}"]
    given = {"target": "good", "against": against}
    found = logit_attribution(waving_model(name), TEXT, tokenizer=word_tokenizer(""), **given)
    heads = np.array([one.effects.sum(axis=1) for one in found.heads])
    np.testing.assert_allclose(heads, case["heads"], atol=1e-5)
    np.testing.assert_allclose(found.embeddings, case["embed"], atol=1e-5)
    np.testing.assert_allclose(found.positions, case["pos_embed"], atol=1e-5)
    # It counts the bias of a map among the attention, or the MLP, whose map it is.
    layers = heads.sum(axis=1) + found.mlps + found.biases[:-1]
    np.testing.assert_allclose(layers, np.add(case["attn_out"], case["mlp_out"]), atol=1e-5)
    assert np.abs(case["heads"]).max() > 0.05
