"""Language models in training: the same numbers of their layers, against the model itself."""

import numpy as np
import pytest
import torch
import transformers as hf

from classifier_families import word_tokenizer
from glasshead.errors import InputError
from glasshead.explainers import EXPLAINERS, make_context
from glasshead.huggingface import NextTokenClassifier, readable_copy
from glasshead.language import (
    BlockDataset,
    LanguageModelConfig,
    Masking,
    read_corpus,
    train_language_model,
)
from glasshead.papers.dynamics import dynamics_callback, load_history
from glasshead.papers.dynamics.observers.language import LanguageObserver
from glasshead.papers.dynamics.observers.transformer import head_residuals, row_entropies
from glasshead.statistics import kendall_tau_b
from glasshead.trace import record

TINY = {"num_hidden_layers": 2, "num_attention_heads": 2, "hidden_size": 16}
SMALL = {"n_layer": 2, "n_head": 2, "n_embd": 16, "n_positions": 16, "vocab_size": 32}


def writer():
    torch.manual_seed(0)
    return hf.GPT2LMHeadModel(hf.GPT2Config(**SMALL, bos_token_id=1, eos_token_id=1)).eval()


def told(look):
    return {(quantity, group): mean for quantity, group, mean, _, _ in look.curves}


def test_numbers_are_those_of_the_model_as_it_is_now():
    model, tokenizer = writer(), word_tokenizer("")
    blocks = torch.randint(5, 32, (40, 8))
    config = LanguageModelConfig(**TINY)
    made = LanguageObserver(model=model, tokenizer=tokenizer, rows=BlockDataset(blocks), recipe=config)
    before = told(made.snapshot(model))
    with torch.no_grad():
        for weight in model.parameters():
            weight.add_(torch.randn_like(weight) * 0.3)
    found = told(made.snapshot(model))
    assert found != before
    reader = readable_copy(model)
    with torch.no_grad(), record(reader) as trace:
        reader(made.encoded.ids)
    for layer in trace:
        name = f"layer {layer.layer}"
        assert found["entropy", name] == pytest.approx(float(row_entropies(layer).mean()), rel=1e-4)
        assert found["residual", name] == pytest.approx(float(head_residuals(layer).mean()), rel=1e-4)
    asked = NextTokenClassifier(reader, [str(one) for one in range(32)]).eval()
    view = make_context(asked, made.encoded, tokenizer)
    importance = [
        EXPLAINERS[name].importance(view).double().numpy() for name in ("attention", "gradient-after-norm")
    ]
    tau = kendall_tau_b(*importance, made.encoded.mask.numpy()).tau
    assert found["agreement", ""] == pytest.approx(float(np.nanmean(tau)), rel=1e-3)
    assert len(made.encoded.ids) == 32


def test_an_encoder_reads_the_same_hidden_tokens_each_time_and_has_no_next_token():
    torch.manual_seed(0)
    config = hf.BertConfig(
        vocab_size=32, hidden_size=16, num_hidden_layers=2, num_attention_heads=2, intermediate_size=32
    )
    model = hf.BertForMaskedLM(config).eval()
    rows = BlockDataset(torch.randint(5, 32, (10, 8)), Masking(0.15, 6, (0, 1), 32))
    made = LanguageObserver(
        model=model, tokenizer=word_tokenizer(), rows=rows, recipe=LanguageModelConfig("bert", **TINY)
    )
    assert (made.encoded.ids == 6).any()
    first, again = made.snapshot(model), made.snapshot(model)
    assert first.curves == again.curves
    assert {quantity for quantity, *_ in first.curves} == {"entropy", "residual"}


def test_a_watched_training_is_told_and_resumed_alike(tmp_path):
    text = tmp_path / "corpus.txt"
    text.write_text("the red fox sees a small dog .\n" * 200, encoding="utf-8")
    corpus = read_corpus(text)
    config = LanguageModelConfig(
        **TINY, block_size=16, epochs=2, batch_size=16, tokenizer="word", learning_rate=1e-2
    )
    out = train_language_model(corpus, config, tmp_path / "lm", callbacks=[dynamics_callback(every=4)])
    loaded = load_history(out)
    assert loaded.recorded
    assert loaded.history.steps[0] == 0
    assert len(loaded.history.steps) > 3
    quantities = set(loaded.history.curves["quantity"].tolist())
    assert quantities == {"entropy", "residual", "agreement"}
    assert loaded.title == "data · gpt2 · seed 0"


def test_what_was_not_watched_has_no_history(tmp_path):
    text = tmp_path / "corpus.txt"
    text.write_text("the red fox sees a small dog .\n" * 100, encoding="utf-8")
    config = LanguageModelConfig(**TINY, block_size=16, epochs=1, tokenizer="word")
    out = train_language_model(read_corpus(text), config, tmp_path / "lm")
    with pytest.raises(InputError, match="was not recorded"):
        load_history(out)
