"""Language models are trained into folders that open, explain and write, and an interrupted one goes on."""

import json

import pytest
from corpora import TINY, sentence_file
from transformers import AutoModelForCausalLM, AutoTokenizer, TrainerCallback

import glasshead
from glasshead import InputError
from glasshead.files import partial_path
from glasshead.language import LANGUAGE_RECORD, LanguageModelConfig, read_corpus, train_language_model
from glasshead.opening import MEASURED


@pytest.fixture(scope="module")
def corpus(tmp_path_factory):
    return read_corpus(sentence_file(tmp_path_factory.mktemp("corpus")))


def tiny(**settings):
    usual = {"tokenizer": "word", "learning_rate": 1e-2, "batch_size": 16}
    return LanguageModelConfig(**(TINY | usual | settings))


@pytest.fixture(scope="module")
def writer(corpus, tmp_path_factory):
    """A causal model with TanhMax attention."""
    out = tmp_path_factory.mktemp("runs") / "lm"
    return train_language_model(corpus, tiny(attention="tanhmax", tokenizer="bpe", vocab_size=300), out)


def measured(folder):
    return json.loads((folder / MEASURED).read_text())


def test_a_model_learns_more_than_how_often_tokens_occur(writer):
    dev = measured(writer)["dev"]
    assert dev["perplexity_interval"][1] < dev["unigram"]["perplexity_interval"][0]
    assert dev["sliding_window"]["value"] == pytest.approx(dev["perplexity"], rel=0.2)
    losses = [entry["loss"] for entry in measured(writer)["epochs"]]
    assert len(losses) == 2
    assert dev["loss"] == pytest.approx(min(losses), rel=1e-5)


def test_the_record_says_what_was_done(writer, corpus):
    record = json.loads((writer / LANGUAGE_RECORD).read_text())
    assert record["what"] == "language model"
    assert record["recipe"]["attention"] == {"activation": "tanhmax"}
    assert record["data"]["fingerprint"] == corpus.facts()["fingerprint"]
    assert record["tokens"]["train"] > record["tokens"]["dev"] > 0
    assert not partial_path(writer).exists()


def test_its_next_token_is_explained_and_it_writes(writer):
    assert glasshead.load(writer).config.glasshead_mechanism == {"activation": "tanhmax"}
    subject = glasshead.open(writer)
    explained = glasshead.explain(subject, ["the red fox sees a"], method="erasure-delete")[0]
    assert explained.tokens[-1].strip() == "a"
    assert glasshead.generate(subject, "the red", tokens=3).tokens


def test_with_its_own_attention_it_is_a_plain_folder(corpus, tmp_path):
    out = train_language_model(corpus, tiny(epochs=1), tmp_path / "plain")
    model = AutoModelForCausalLM.from_pretrained(out)
    tokenizer = AutoTokenizer.from_pretrained(out)
    assert model.config.use_cache
    assert len(tokenizer) == model.config.vocab_size
    assert tokenizer.model_max_length == model.config.n_positions == 16


def test_hidden_tokens_are_learned(corpus, tmp_path):
    config = tiny(model="bert", attention="sigsoftmax", epochs=6)
    out = train_language_model(corpus, config, tmp_path / "mlm")
    dev = measured(out)["dev"]
    assert "sliding_window" not in dev
    assert dev["accuracy_interval"][0] > dev["unigram"]["accuracy_interval"][1]
    assert glasshead.load(out).config.architectures == ["BertForMaskedLM"]


class Interruption(TrainerCallback):
    """Ctrl-C in the second epoch."""

    def on_epoch_begin(self, args, state, control, **kwargs):
        if state.epoch >= 1:
            raise KeyboardInterrupt


@pytest.mark.parametrize("model", ["gpt2", pytest.param("bert", marks=pytest.mark.slow)])
def test_an_interrupted_training_goes_on_to_the_same_result(corpus, tmp_path, model):
    config = tiny(model=model, epochs=3)
    whole = train_language_model(corpus, config, tmp_path / "whole")
    with pytest.raises(KeyboardInterrupt):
        train_language_model(corpus, config, tmp_path / "cut", callbacks=[Interruption()])
    with pytest.raises(InputError, match="unfinished training"):
        train_language_model(corpus, config, tmp_path / "cut")
    with pytest.raises(InputError, match="another seed"):
        train_language_model(corpus, config, tmp_path / "cut", seed=1, resume=True)
    cut = train_language_model(corpus, config, tmp_path / "cut", resume=True)
    losses = [[entry["loss"] for entry in measured(folder)["epochs"]] for folder in (whole, cut)]
    assert losses[1] == pytest.approx(losses[0], rel=1e-4)


def test_a_corpus_shorter_than_a_block_leaves_nothing_behind(corpus, tmp_path):
    with pytest.raises(InputError, match="less than one block of 5000"):
        train_language_model(corpus, tiny(block_size=5000), tmp_path / "none")
    assert not list(tmp_path.iterdir())
