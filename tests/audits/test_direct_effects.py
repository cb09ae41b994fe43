"""What heads add to the predicted token: by another way to the same numbers, of a planted circuit, of models
that have no such number."""

import numpy as np
import pytest
import torch
import transformers as hf
from datasets import Dataset

import glasshead
from classifier_families import FAMILIES, labelled_data
from glasshead import logit_attribution
from glasshead.inside import head_effects
from glasshead.opening import open_subject
from induction import (
    INDUCTION_HEAD,
    PREVIOUS_TOKEN_HEAD,
    VOCABULARY,
    induction_model,
    repeated_text,
    word_tokenizer,
)


@pytest.fixture(scope="module")
def report():
    model, tokenizer = induction_model()
    texts = [repeated_text(seed=seed, length=5 + seed % 4)[0] for seed in range(30)]
    return glasshead.heads(model, Dataset.from_dict({"text": texts}), tokenizer=tokenizer, dtype="float32")


def test_equal_to_direct_attribution_of_one_text_over_all_tokens():
    """In a batch of several lengths, and one token of one text after the other."""
    model, tokenizer = induction_model(noise=0.1)
    texts = [repeated_text()[0], "w01 w02 w01"]
    subject = open_subject(model, tokenizer)
    inputs = {
        name: value
        for name, value in tokenizer(texts, padding=True, return_tensors="pt").items()
        if name != "token_type_ids"
    }
    found = head_effects(subject.model, inputs)
    for row, text in enumerate(texts):
        every = [
            [effects.effects.sum(axis=1) for effects in one.heads]
            for one in (logit_attribution(model, text, tokenizer=tokenizer, target=t) for t in VOCABULARY)
        ]
        predicted = int(model(**tokenizer(text, return_tensors="pt")).logits[0, -1].argmax())
        expected = np.array(every[predicted]) - np.mean(every, axis=0)
        np.testing.assert_allclose([found[layer][row] for layer in found], expected, atol=1e-4)
    assert all(weight.grad is None for weight in model.parameters())


@pytest.mark.slow
def test_the_induction_head_writes_the_answer(report):
    by_head = {(head.layer, head.head): head.finding("direct-effect") for head in report.heads}
    sizes = {place: finding.estimate for place, finding in by_head.items()}
    assert max(sizes, key=sizes.get) == INDUCTION_HEAD
    best = by_head[INDUCTION_HEAD]
    assert best.verdict == "directly raises the predicted token"
    others = {finding.verdict for place, finding in by_head.items() if place != INDUCTION_HEAD}
    assert others == {"direct effect not distinguishable from random weights"}
    assert best.n == 30
    assert best.interval[0] > 10 * abs(by_head[PREVIOUS_TOKEN_HEAD].estimate)  # which works through the other
    assert abs(best.null["random weights"]) < 0.2
    assert best.over_null["random weights"].interval[0] > 0


RANDOM_TEXTS = [repeated_text(seed=seed, length=4 + seed % 5, again=seed % 3)[0] for seed in range(20)]


def random_model(seed):
    """A GPT-2 or a Llama with new weights, small or large, with tied embeddings or without."""
    torch.manual_seed(seed)
    size = {"vocab_size": len(VOCABULARY), "bos_token_id": 0, "eos_token_id": 0, "pad_token_id": 0}
    size |= {"initializer_range": (0.02, 0.2)[seed // 2 % 2], "tie_word_embeddings": seed // 4 % 2 == 0}
    if seed % 2:
        config = hf.GPT2Config(n_embd=32, n_layer=2, n_head=4, n_positions=24, **size)
        return hf.GPT2LMHeadModel(config).eval()
    config = hf.LlamaConfig(
        hidden_size=32, intermediate_size=64, num_hidden_layers=2, num_attention_heads=4, **size
    )
    return hf.LlamaForCausalLM(config).eval()


def named_heads(model):
    """How many heads are said to raise or lower the predicted token; how many have an interval without 0."""
    data = Dataset.from_dict({"text": RANDOM_TEXTS})
    report = glasshead.heads(model, data, tokenizer=word_tokenizer())
    found = [head.finding("direct-effect") for head in report.heads]
    assert len(found) == 8
    named = [one for one in found if one.verdict.startswith("directly")]
    return len(named), sum(one.interval[0] > 0 or one.interval[1] < 0 for one in found)


@pytest.mark.slow
def test_random_models_claim_nothing():
    """The predicted token is the largest logit, so that intervals alone say that most random models raise it:
    they do in a quarter of these, and the verdict names a head of at most one model in 20."""
    named, clear = zip(*(named_heads(random_model(seed)) for seed in range(40)), strict=True)
    assert sum(count > 0 for count in clear) >= 10
    assert sum(count > 0 for count in named) <= 2


def test_it_is_a_column(report, tmp_path):
    report.save(tmp_path / "heads.md")
    assert "direct effect" in (tmp_path / "heads.md").read_text(encoding="utf-8")
    report.save(tmp_path / "heads.html")
    page = (tmp_path / "heads.html").read_text(encoding="utf-8")
    assert "direct effect on the predicted token, logits" in page


def test_classifiers_have_none_and_models_without_layers_say_why():
    family = FAMILIES["Bert"]
    report = glasshead.heads(family.build(labels=2), labelled_data(4), tokenizer=family.tokenizer())
    assert all(head.finding("direct-effect") is None for head in report.heads)

    model, tokenizer = induction_model()
    model.transformer.h = torch.nn.ModuleDict({str(i): block for i, block in enumerate(model.transformer.h)})
    model.transformer.h.__class__ = type(
        "Blocks", (torch.nn.ModuleDict,), {"__iter__": lambda self: iter(self.values())}
    )
    report = glasshead.heads(model, Dataset.from_dict({"text": ["w01 w02"] * 2}), tokenizer=tokenizer)
    assert any(one.startswith("Direct effects of heads are not known: ") for one in report.remarks)
    assert all(head.finding("direct-effect") is None for head in report.heads)
