"""What goes to sinks that heads have learned (gpt-oss) is said, and on no token."""

import pytest
import torch
import transformers as hf

import glasshead
from classifier_families import FAMILIES
from glasshead.report import sink_in_words
from glasshead.report.html.written_page import prepare
from glasshead.report.written_words import facts_in_words

SIZES = {
    "hidden_size": 16, "intermediate_size": 16, "num_hidden_layers": 2, "head_dim": 4,
    "num_attention_heads": 4, "num_key_value_heads": 2, "num_local_experts": 4,
    "rope_parameters": {"rope_type": "default"},
}  # fmt: skip
WORDS = "the film was good and"


def even(kind, logit):
    """A gpt-oss that attends to all tokens alike, e⁰ each, and to each sink with e^logit."""
    tokenizer = FAMILIES["GPT2"].tokenizer()
    torch.manual_seed(0)
    config = hf.GptOssConfig(**SIZES, vocab_size=len(tokenizer), pad_token_id=tokenizer.pad_token_id)
    model = kind(config).eval()
    with torch.no_grad():
        for layer in model.model.layers:
            layer.self_attn.q_proj.weight.zero_()
            layer.self_attn.q_proj.bias.zero_()
            layer.self_attn.sinks.fill_(logit)
    return model, tokenizer


@pytest.mark.parametrize("logit", [0.0, 2.0, -30.0])
@pytest.mark.parametrize("options", [{}, {"head": 1}, {"layer": 0, "row": "last"}])
def test_the_share_of_a_sink_is_that_of_its_logit(logit, options):
    model, tokenizer = even(hf.GptOssForSequenceClassification, logit)
    (one,) = glasshead.explain(model, WORDS, tokenizer=tokenizer, **options)
    sink = torch.tensor(logit).exp().item()
    assert one.learned_sink == pytest.approx(sink / (len(one.tokens) + sink), abs=1e-5)
    assert one.scores == pytest.approx([1 / (len(one.tokens) + sink)] * len(one.tokens), abs=1e-5)
    assert one.sink is None
    assert "sinks that are no tokens" in sink_in_words(one)


def test_other_combinations_and_methods_have_none():
    model, tokenizer = even(hf.GptOssForSequenceClassification, 2.0)
    for options in ({"head": "max"}, {"method": "gradient"}, {"method": "contribution"}):
        (one,) = glasshead.explain(model, WORDS, tokenizer=tokenizer, **options)
        assert one.learned_sink is None
        assert sink_in_words(one) == ""


def test_written_tokens_say_it_too():
    model, tokenizer = even(hf.GptOssForCausalLM, 2.0)
    written = glasshead.generate(model, WORDS, tokenizer=tokenizer, tokens=3)
    explained = written.explain("attention")
    sink = torch.tensor(2.0).exp().item()
    read = [len(row) for row in explained.map.scores]
    expected = [sink / (count + sink) for count in read]
    assert explained.map.learned_sinks() == pytest.approx(expected, abs=1e-5)
    assert explained.row(1).learned_sink == pytest.approx(expected[1], abs=1e-5)
    plain = explained.plain_value()
    assert any("sinks that are no tokens" in fact for fact in facts_in_words(plain))
    assert prepare(plain).data["maps"][0]["learnedSinks"] == pytest.approx(expected, rel=1e-2)
    assert written.explain("erasure-mean-embedding").map.learned_sinks() == (None,) * 3
