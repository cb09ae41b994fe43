"""What is said of special tokens: nothing where attention prefers none, inflation where it is planted."""

import pytest
import torch

from classifier_families import FAMILIES, labelled_data
from glasshead.audits import heads
from planted_heads import SEPARATOR, as_data
from planted_heads import planted_model as heads_model
from planted_heads import planted_texts as heads_texts

WORDS = ["good", "bad", *(f"w{number}" for number in range(20))]
CLAIMS = ("account for less", "account for more", "gets more than", "gets less than", "raises", "lowers")


def family(name):
    return FAMILIES[name].build(labels=2, id2label={0: "bad", 1: "good"})


def uniform_causal():
    """A GPT-2 whose scores are all 0, before texts with [CLS] first and [SEP] last: all rows see the one, the
    last one alone sees the other."""
    model = family("GPT2")
    with torch.no_grad():
        for block in model.transformer.h:
            wide = 2 * block.attn.c_attn.weight.shape[1] // 3
            block.attn.c_attn.weight[:, :wide] = 0
            block.attn.c_attn.bias[:wide] = 0
    return model


def verdicts(report, statistic):
    of_layers = [one for layer in report.layers for one in layer.findings]
    return {one.verdict for one in [*report.findings, *of_layers] if one.statistic == statistic}


@pytest.mark.slow
def test_uniform_causal_attention_inflates_nothing():
    report = heads(uniform_causal(), labelled_data(30), tokenizer=FAMILIES["Bert"].tokenizer())
    found = {one.statistic: one for one in report.findings}
    assert found["inflation"].estimate > 0.05  # rows differ in their gradients, and in the keys that they see
    assert found["beyond-unsplit-words"].estimate > 0.02
    assert verdicts(report, "inflation") == {"about the attention that A ∂z/∂A accounts for"}
    assert verdicts(report, "beyond-unsplit-words") == {
        "about as much for a special token as for a word that is never split"
    }
    assert not any(claim in sentence for sentence in report.conclusion for claim in CLAIMS)


@pytest.mark.parametrize("seed", [0, pytest.param(1, marks=pytest.mark.slow)])
def test_a_model_that_learned_nothing_inflates_nothing(seed):
    torch.manual_seed(seed)
    model = family("Bert")
    for module in model.modules():
        if isinstance(module, torch.nn.Linear | torch.nn.Embedding):
            torch.nn.init.normal_(module.weight, std=0.02)
    report = heads(model, labelled_data(30), tokenizer=FAMILIES["Bert"].tokenizer())
    assert not any(claim in sentence for sentence in report.conclusion for claim in CLAIMS), report.conclusion


@pytest.mark.slow
def test_a_head_that_looks_at_the_separator_and_does_nothing_is_inflated():
    model, tokenizer = heads_model(WORDS)
    report = heads(model, as_data(heads_texts(WORDS, 30)), tokenizer=tokenizer)
    (layer,) = report.layers
    found = {(one.statistic, one.against): one for one in layer.findings}
    assert found["inflation", "[SEP]"].verdict == "more attention than A ∂z/∂A accounts for"
    assert found["inflation", "[SEP]"].over_null["uniform"].interval[0] > 0.05
    assert report.heads[SEPARATOR].pattern == "[SEP]"
    assert any("Gradients account for less" in sentence for sentence in report.conclusion)
