"""Where Transformers or torch cannot build or load a model the message is ours, with a remedy; theirs is its
cause."""

import sys

import pytest
import transformers as hf

from glasshead.data import train_tokenizer
from glasshead.errors import LONGEST, InputError
from glasshead.huggingface import doctor
from glasshead.language import LanguageModelConfig
from glasshead.language.build import check_block, new_language_model
from glasshead.language.model_types import model_fields
from glasshead.opening.run import load_run_model

TINY = {"hidden_size": 16, "num_hidden_layers": 1, "num_attention_heads": 2, "block_size": 12}


def built(**settings):
    return new_language_model(
        LanguageModelConfig(**(TINY | settings)), train_tokenizer(["a b", "b a"], lowercase=False, min_freq=1)
    )


def diagnosed(tmp_path, _):
    hf.BertConfig(hidden_size=10, num_attention_heads=3, architectures=["BertModel"]).save_pretrained(
        tmp_path
    )
    return doctor(str(tmp_path))


def short_model(*_):
    config = LanguageModelConfig(**TINY, model="gpt2")
    model = hf.GPT2LMHeadModel(hf.GPT2Config(n_positions=4, n_embd=8, n_head=2, n_layer=1, vocab_size=9))
    check_block(model, config)


def damaged_run(tmp_path, monkeypatch):
    monkeypatch.setattr(sys.modules[load_run_model.__module__], "open_record", lambda *_: {})
    (tmp_path / "config.json").write_text("{")
    return load_run_model(tmp_path)


def lost_weights(tmp_path, monkeypatch):
    monkeypatch.setattr(sys.modules[load_run_model.__module__], "open_record", lambda *_: {})
    hf.PatchTSTConfig().save_pretrained(tmp_path)
    return load_run_model(tmp_path)


FAULTS = {
    "choose other values of `activation_function`$": lambda *_: built(
        model="gpt2", architecture={"activation_function": "none such"}
    ),
    "choose another `model`, such as gpt2 or bert$": lambda *_: model_fields("no-such-type"),
    "does not read a block of 12 tokens: choose a smaller `block_size`": short_model,
    "its sizes do not fit together": diagnosed,
    r"is a damaged run \(config.json names no model\): train again$": damaged_run,
    r"is a damaged run \(its weights do not load\): train again$": lost_weights,
}


@pytest.mark.parametrize("says", FAULTS)
def test_the_message_is_ours(says, tmp_path, monkeypatch):
    with pytest.raises(InputError, match=says) as refusal:
        FAULTS[says](tmp_path, monkeypatch)
    message, cause = str(refusal.value), refusal.value.__cause__
    assert cause is not None
    assert str(cause).splitlines()[0] not in message
    assert len(message) <= LONGEST
    assert "\n" not in message
