"""Models that cannot read a short text, and those that merge tokens."""

from functools import cache
from pathlib import Path

import pytest
import torch
import transformers as hf
from torch import Tensor

import glasshead
from auto_classes import build
from classifier_families import FAMILIES, SIZES, widened, word_tokenizer
from glasshead.errors import InputError

TEXT = "the film was good and funny"


@cache
def funnel(*blocks: int) -> hf.PreTrainedModel:
    """A model that halves the number of its vectors from block to block."""
    config = hf.FunnelConfig(
        vocab_size=60, block_sizes=list(blocks), d_model=16, n_head=2, d_head=8, d_inner=32, num_labels=3
    )
    return widened(hf.FunnelForSequenceClassification, config)


class LongForSequenceClassification(hf.BertForSequenceClassification):
    """BERT that fails on texts below so many tokens, as models that pool them do."""

    least = 6

    def forward(self, input_ids: Tensor, **inputs: Tensor) -> object:
        return super().forward(input_ids=input_ids, **inputs, position_ids=self.places(input_ids))

    def places(self, input_ids: Tensor) -> Tensor:
        length = input_ids.shape[1]
        return torch.arange(64)[:length].view(1, -1) if length >= self.least else torch.arange(3)[None, :-8]


class NeverForSequenceClassification(LongForSequenceClassification):
    least = 1_000


@pytest.mark.parametrize("method", ["gradient", "erasure-delete"])
@pytest.mark.parametrize("blocks", [(1, 1, 1), (2, 2, 2), (2, 2)])
def test_a_funnel_reads_padding_so_texts_of_one_length_make_a_batch(
    blocks: tuple[int, ...], method: str
) -> None:
    model = funnel(*blocks)
    texts = [
        TEXT,
        "the film was bad and dull , not warm",
        "a warm and funny film",
        "the plot is dull and bad",
    ]
    subject = glasshead.open(model, word_tokenizer())
    assert any("padding changes the predictions of this model" in note for note in subject.notes)
    options = {"tokenizer": word_tokenizer(), "method": method}
    for text, own in zip(texts, glasshead.explain(model, texts, **options), strict=True):
        (alone,) = glasshead.explain(model, [text], **options)
        assert own.scores == pytest.approx(alone.scores, rel=1e-4, abs=1e-6)
        assert any(own.scores)


@pytest.mark.parametrize("method", ["attention", "gradient", "erasure-delete"])
def test_a_text_on_which_the_model_fails_is_named_by_its_length(method: str) -> None:
    with pytest.raises(InputError, match="fails on text 1, of 3 tokens"):
        glasshead.explain(funnel(1, 1, 1), ["bad"], tokenizer=word_tokenizer(), method=method)
    with pytest.raises(InputError, match="fails on text 2, of 3 tokens"):
        glasshead.explain(funnel(1, 1, 1), [TEXT, "bad", TEXT], tokenizer=word_tokenizer(), method=method)


def test_what_fails_in_glasshead_is_not_said_of_the_model(monkeypatch: pytest.MonkeyPatch) -> None:
    place = Path(glasshead.__file__).parent / "attention" / "made_up.py"
    model = widened(hf.BertForSequenceClassification, hf.BertConfig(**SIZES, num_labels=3))
    subject = glasshead.open(model, word_tokenizer())
    for name, raised in ((str(place), RuntimeError), ("elsewhere.py", InputError)):
        code = compile("def fail(*given, **inputs): raise RuntimeError('on purpose')", name, "exec")
        exec(code, made := {})
        monkeypatch.setattr(type(subject.model), "forward", made["fail"])
        with pytest.raises(raised, match="on purpose"):
            glasshead.explain(subject, [TEXT], method="gradient")


@pytest.mark.parametrize("method", ["rollout", "layer-mean", "gradient-attention", "attention-flow"])
def test_where_tokens_are_merged_none_is_followed_through_all_layers(method: str) -> None:
    with pytest.raises(InputError, match="makes 4 vectors of 8, so tokens cannot be followed"):
        glasshead.explain(funnel(1, 1), [TEXT], tokenizer=word_tokenizer(), method=method)


def test_what_is_left_of_a_text_may_be_too_short_for_a_model() -> None:
    explain = {"tokenizer": word_tokenizer(), "method": "erasure-delete"}
    (own,) = glasshead.explain(funnel(1, 1), [TEXT], **explain)
    assert any(own.scores)
    with pytest.raises(InputError, match=r"fails on a text of 2 tokens, as left after a deletion"):
        glasshead.explain(funnel(1, 1), ["bad"], **explain)


def test_a_model_of_longer_texts_is_checked_on_longer_texts() -> None:
    model = widened(LongForSequenceClassification, hf.BertConfig(**SIZES, num_labels=3))
    (own,) = glasshead.explain(model, [TEXT], tokenizer=word_tokenizer())
    assert any(own.contributions)


def test_a_model_that_reads_nothing_is_refused_in_one_line() -> None:
    model = widened(NeverForSequenceClassification, hf.BertConfig(**SIZES, num_labels=3))
    with pytest.raises(InputError, match="fails on every text of up to 16 words"):
        glasshead.explain(model, [TEXT], tokenizer=word_tokenizer())


def test_whatever_a_model_raises_on_every_text_is_said() -> None:
    model = FAMILIES["Bart"].build()
    with pytest.raises(InputError, match=r"at least one <eos> token.* on the tokens of this tokenizer"):
        glasshead.open(model, word_tokenizer(""))


def test_a_model_that_reads_padding_of_longer_texts_alone_is_noticed() -> None:
    subject = glasshead.open(build("classes", "reformer"), word_tokenizer())
    assert any("padding changes the predictions of this model" in note for note in subject.notes)
