"""The tuned lens: nearer to a trained model on texts that were left out, and a regression like any other."""

import random

import numpy as np
import pytest
import torch
import transformers as hf
from tokenizers import processors

from classifier_families import FAMILIES, labelled_data
from glasshead import InputError, lens
from glasshead.inside import tuned_lens
from glasshead.inside.tuned_lens import AffineMaps, Moments, divergences
from glasshead.opening import open_subject
from language_models import agreement
from model_state import model_state
from planted_heads import tokenizer_of

TEXT = "the keys near the lamp"


@pytest.fixture(scope="module")
def trained():
    """A GPT-2 whose verbs agree, trained in seconds, and texts that it did not see."""
    rng = random.Random(0)
    texts = [agreement(rng) for _ in range(1500)]
    tokenizer = tokenizer_of(sorted({word for text in texts for word in text.split()}))
    begins = processors.TemplateProcessing("[CLS] $A", special_tokens=[("[CLS]", 2)])
    tokenizer.backend_tokenizer.post_processor = begins
    ids = torch.tensor(tokenizer(texts)["input_ids"])
    torch.manual_seed(0)
    sizes = {"n_embd": 32, "n_layer": 3, "n_head": 2, "n_positions": 16, "bos_token_id": 2, "eos_token_id": 3}
    model = hf.GPT2LMHeadModel(hf.GPT2Config(vocab_size=len(tokenizer), loss_type="ForCausalLM", **sizes))
    optimizer = torch.optim.AdamW(model.parameters(), lr=6e-3)
    for _ in range(80):
        batch = ids[torch.randint(len(ids), (48,))]
        model(batch, labels=batch).loss.backward()
        optimizer.step()
        optimizer.zero_grad()
    return model.eval(), tokenizer, [agreement(rng) for _ in range(60)]


@pytest.mark.slow
def test_early_layers_are_nearer_to_the_model_and_the_last_is_the_model(trained):
    model, tokenizer, texts = trained
    before = model_state(model, tokenizer)
    plain = lens(model, TEXT, tokenizer=tokenizer, target="are")
    tuned = lens(model, TEXT, tokenizer=tokenizer, target="are", tuned=texts)
    assert model_state(model, tokenizer) == before
    fit = tuned.fit
    assert (plain.fit, fit.fitted, fit.held_out, len(fit.plain)) == (None, 45, 15, 3)
    assert all(ends[0] > 0 for ends in fit.gains[:2])
    assert fit.tuned[1] < 0.2 * fit.plain[1]
    np.testing.assert_array_equal(tuned.target_probabilities[-1], plain.target_probabilities[-1])
    own = plain.target_probabilities[-1, -1]
    assert abs(tuned.target_probabilities[1, -1] - own) < abs(plain.target_probabilities[1, -1] - own)


@torch.no_grad()
def test_divergences_are_those_of_the_norm_and_output_of_the_model(trained):
    model, tokenizer, _ = trained
    inputs = {name: tokenizer(TEXT, return_tensors="pt")[name] for name in ("input_ids", "attention_mask")}
    output = model(inputs["input_ids"], output_hidden_states=True)
    own = output.logits[0].log_softmax(-1)
    torch.manual_seed(1)
    maps = AffineMaps(torch.randn(3, 32, 32).double(), torch.randn(3, 32).double())
    plain, tuned = divergences(open_subject(model, tokenizer).model, inputs, maps)
    for layer, states in enumerate(output.hidden_states[:-1]):
        mapped = states @ maps.matrices[layer].float() + maps.biases[layer].float()
        for found, one in ((plain, states), (tuned, mapped)):
            logs = model.lm_head(model.transformer.ln_f(one))[0].log_softmax(-1)
            expected = torch.nn.functional.kl_div(logs, own, log_target=True, reduction="none").sum(-1).mean()
            assert found[layer] == pytest.approx(float(expected), rel=1e-4, abs=1e-6)


def test_maps_are_the_weighted_regression(monkeypatch):
    """Without a ridge those of NumPy's least squares; with a very strong one the plain lens."""
    generator = np.random.default_rng(0)
    states = generator.normal(size=(3, 200, 5)) * [1.0, 2.0, 0.5, 1.0, 3.0] + 1.0
    states[-1, 0] *= 1000  # a token whose state is huge is one token
    parts = [torch.from_numpy(part) for part in np.split(states, 4, axis=1)]

    def fitted(ridge):
        monkeypatch.setattr(tuned_lens, "RIDGE", ridge)
        moments = Moments()
        for part in parts:
            moments.add(part)
        return moments.fit()

    maps, kept = fitted(0.0), fitted(1e9)
    weights = 1 / np.linalg.norm(states[-1], axis=1, keepdims=True)
    for layer in range(2):
        with_one = np.append(states[layer], np.ones((200, 1)), axis=1)
        expected = np.linalg.lstsq(with_one * weights, states[-1] * weights, rcond=None)[0]
        np.testing.assert_allclose(maps.matrices[layer], expected[:-1], atol=1e-8)
        np.testing.assert_allclose(maps.biases[layer], expected[-1], atol=1e-8)
        np.testing.assert_allclose(kept.matrices[layer], np.eye(5), atol=1e-6)


def test_classes_of_a_classifier_and_texts_of_a_file(tmp_path):
    family = FAMILIES["Bert"]
    file = tmp_path / "texts.txt"
    file.write_text("\n".join(labelled_data(24)["text"]) + "\n", encoding="utf-8")
    found = lens(family.build(labels=2), "a warm film", tokenizer=family.tokenizer(), tuned=file)
    assert found.target_probabilities.shape == (3, 1)
    assert (found.fit.fitted, found.fit.held_out) == (18, 6)
    assert np.isfinite([*found.fit.plain, *found.fit.tuned]).all()


def test_what_cannot_be_fitted(trained):
    model, tokenizer, texts = trained
    with pytest.raises(InputError, match="19 texts, but the maps need at least 20"):
        lens(model, TEXT, tokenizer=tokenizer, tuned=texts[:19])
    with pytest.raises(InputError, match="takes texts"):
        lens(model, TEXT, tokenizer=tokenizer, tuned=[1, 2])
    family = FAMILIES["Bert"]
    masked = hf.AutoModelForMaskedLM.from_config(family.config(**family.options))
    with pytest.raises(InputError, match="tuned lens works for language models and text classifiers only"):
        lens(masked, "the film was [MASK]", tokenizer=family.tokenizer(), tuned=texts)
