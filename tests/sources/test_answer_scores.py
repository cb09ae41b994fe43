"""Behind a prefix that is read once, an answer is as likely as in whole passes, whatever the model."""

import numpy as np
import pytest
import torch
from transformers import (
    BloomConfig,
    BloomForCausalLM,
    GPT2Config,
    GPT2LMHeadModel,
    LlamaConfig,
    LlamaForCausalLM,
    MambaConfig,
    MambaForCausalLM,
    MistralConfig,
    MistralForCausalLM,
    T5Config,
    T5ForConditionalGeneration,
)

from glasshead.sources.scores import AnswerScorer, common_prefix

SMALL = {"hidden_size": 32, "intermediate_size": 64, "num_hidden_layers": 2, "num_attention_heads": 2}
MODELS = {
    "gpt2": lambda: GPT2LMHeadModel(GPT2Config(vocab_size=50, n_embd=32, n_layer=2, n_head=2)),
    "llama": lambda: LlamaForCausalLM(LlamaConfig(vocab_size=50, **SMALL)),
    "bloom": lambda: BloomForCausalLM(BloomConfig(vocab_size=50, hidden_size=32, n_layer=2, n_head=2)),
    "window": lambda: MistralForCausalLM(
        MistralConfig(vocab_size=50, sliding_window=4, num_key_value_heads=2, **SMALL)
    ),
    "mamba": lambda: MambaForCausalLM(MambaConfig(vocab_size=50, hidden_size=32, num_hidden_layers=2)),
    "t5": lambda: T5ForConditionalGeneration(
        T5Config(vocab_size=50, d_model=32, d_kv=16, d_ff=64, num_layers=2, num_heads=2)
    ),
}
ANSWER = (7, 8, 9)


def prompts(random):
    """Prompts that begin alike, of several lengths."""
    parts = [tuple(map(int, random.integers(3, 50, size=6))) for _ in range(5)]
    kept = random.random((12, 5)) < 0.5
    return [
        (1, 2, *(n for part, there in zip(parts, row, strict=True) if there for n in part), 4) for row in kept
    ]


def slowly(model, prompt, start):
    """log p of the answer in a pass of its own."""
    with torch.no_grad():
        if start is None:
            logits = model(input_ids=torch.tensor([[*prompt, *ANSWER]])).logits[0, len(prompt) - 1 : -1]
        else:
            decoder = torch.tensor([[start, *ANSWER[:-1]]])
            logits = model(input_ids=torch.tensor([prompt]), decoder_input_ids=decoder).logits[0]
    return logits.log_softmax(-1)[range(len(ANSWER)), ANSWER].numpy()


@pytest.mark.parametrize("name", MODELS)
@pytest.mark.parametrize("tokens", [1, 60, 4000])
def test_as_in_whole_passes(name, tokens, monkeypatch):
    """One prompt in a pass, a few, or all."""
    monkeypatch.setattr("glasshead.sources.scores.PASS_TOKENS", {"cpu": tokens})
    torch.manual_seed(0)
    model = MODELS[name]().eval()
    start = 0 if name == "t5" else None
    asked = prompts(np.random.default_rng(0))
    scorer = AnswerScorer(model, ANSWER, start)
    found = scorer(asked)
    np.testing.assert_allclose(found, [slowly(model, one, start) for one in asked], atol=2e-5)
    passes = scorer.passes
    scorer(asked[::-1])
    assert scorer.passes == passes  # what was scored is known
    assert scorer.past is None


def test_a_beginning_is_read_once(monkeypatch):
    monkeypatch.setattr("glasshead.sources.scores.PASS_TOKENS", {"cpu": 1})
    model = MODELS["llama"]().eval()
    long = tuple(range(3, 43))
    asked = [(*long, n) for n in range(3, 40)]
    scorer = AnswerScorer(model, ANSWER)
    scorer(asked)
    assert scorer.tokens_read < 10 * len(long)


def test_a_model_that_forgets_is_read_whole():
    scorer = AnswerScorer(MODELS["window"]().eval(), ANSWER)
    scorer(prompts(np.random.default_rng(0)))
    assert not scorer.shares_prefix


def test_hidden_tokens_change_nothing():
    model = MODELS["llama"]().eval()
    scorer = AnswerScorer(model, ANSWER)
    one, other = (scorer.masked((1, *middle, 6), [[(1, 3)]]) for middle in ((10, 11), (20, 21)))
    np.testing.assert_allclose(one, other, atol=1e-5)
    assert np.abs(one - scorer([(1, 10, 11, 6)])).max() > 1e-4


def test_common_prefix():
    assert common_prefix([(1, 2, 3), (1, 2), (1, 2, 4)]) == 2
    assert common_prefix([(1, 2)]) == 2
    assert common_prefix([(1,), (2,)]) == 0
