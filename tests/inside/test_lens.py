"""The logit lens: equal to the model's own norm and output behind each layer, of a planted circuit, and of
models of other kinds."""

import numpy as np
import pytest
import torch
import transformers as hf

from classifier_families import FAMILIES, word_tokenizer
from glasshead import InputError, lens
from induction import induction_model, repeated_text

TEXT = "the film was not very good"


def drawn(model):
    """A model whose weights all matter."""
    torch.manual_seed(0)
    with torch.no_grad():
        for weight in model.parameters():
            weight.copy_(0.3 * torch.randn_like(weight) + (1 if weight.ndim == 1 else 0))
    return model.eval()


def built(auto, name):
    family = FAMILIES[name]
    return drawn(auto.from_config(family.config(**family.options))), word_tokenizer(family.marks)


@torch.no_grad()
@pytest.mark.parametrize("name", ["GPT2", "Llama"])
def test_layers_by_norm_and_output_of_the_model(name):
    model, tokenizer = built(hf.AutoModelForCausalLM, name)
    ids = torch.tensor([tokenizer(TEXT)["input_ids"]])
    output = model(ids, output_hidden_states=True)
    norm = model.transformer.ln_f if name == "GPT2" else model.model.norm
    # The last of Transformers' hidden states is behind the norm.
    slow = [model.lm_head(norm(one)).softmax(-1)[0] for one in output.hidden_states[:-1]]
    slow.append(output.logits.softmax(-1)[0])
    found = lens(model, TEXT, tokenizer=tokenizer, target="bad", alternatives=3)
    target = tokenizer("bad")["input_ids"][0]
    for layer, chances in enumerate(slow):
        values, tops = chances.topk(3)
        np.testing.assert_array_equal(found.tops[layer], tops)
        np.testing.assert_allclose(found.probabilities[layer], values, rtol=1e-5)
        np.testing.assert_allclose(found.target_probabilities[layer], chances[:, target], rtol=1e-5)
        ranks = 1 + (chances > chances[:, [target]]).sum(dim=-1)
        np.testing.assert_array_equal(found.target_ranks[layer], ranks)
    assert found.layers == ("embeddings", "layer 0", "layer 1")
    assert found.places == tuple(TEXT.split())


def test_planted_answer_comes_with_the_induction_head():
    model, tokenizer = induction_model()
    text, answer = repeated_text()
    found = lens(model, text, tokenizer=tokenizer)
    assert found.target == f"“{answer}”"
    assert found.first_layer == "layer 1"
    assert found.target_ranks[-1, -1] == 1 < found.target_ranks[:-1, -1].min()
    assert found.target_probabilities[-1, -1] > 0.5 > 4 * found.target_probabilities[:-1, -1].max()


@torch.no_grad()
@pytest.mark.parametrize("name", ["Bert", "Albert", "DistilBert", "T5"])
def test_classes_of_each_layer(name):
    model, tokenizer = built(hf.AutoModelForSequenceClassification, name)
    found = lens(model, TEXT, tokenizer=tokenizer, target="LABEL_1")
    own = model(**tokenizer(TEXT, return_tensors="pt")).logits.softmax(-1)[0]
    assert found.target_probabilities.shape == (3, 1)
    assert found.target_probabilities[-1, 0] == pytest.approx(float(own[1]), rel=1e-5)
    assert np.ptp(found.target_probabilities) > 1e-3
    np.testing.assert_allclose(found.probabilities.sum(axis=-1), 1, rtol=1e-5)


def test_hidden_word():
    model, tokenizer = built(hf.AutoModelForMaskedLM, "Bert")
    found = lens(model, "the film was [MASK]", tokenizer=tokenizer, target="good", alternatives=2)
    assert found.tops.shape == (3, 1, 2)
    assert found.places == ("[MASK]",)


def test_states_of_another_form_are_not_read():
    model, tokenizer = built(hf.AutoModelForSequenceClassification, "XLNet")
    with pytest.raises(InputError, match="one vector per token"):
        lens(model, TEXT, tokenizer=tokenizer)


def test_logits_of_more_than_the_last_state_are_not_shown():
    model, tokenizer = built(hf.AutoModelForCausalLM, "GPT2")
    seen = []
    model.transformer.h[0].register_forward_hook(lambda module, args, output: seen.append(output))
    model.transformer.ln_f.register_forward_hook(lambda module, args, output: output + seen[-1])
    with pytest.raises(InputError, match="more than the state after its last layer"):
        lens(model, TEXT, tokenizer=tokenizer)


def test_large_vocabularies_go_in_parts(monkeypatch):
    model, tokenizer = built(hf.AutoModelForCausalLM, "GPT2")
    whole = lens(model, TEXT, tokenizer=tokenizer)
    monkeypatch.setattr("glasshead.inside.logit_lens.MOST_LOGITS", 1)
    parts = lens(model, TEXT, tokenizer=tokenizer)
    np.testing.assert_array_equal(parts.tops, whole.tops)
    assert len(parts.to_pandas()) == 3 * 6
