"""A word that the tokenizer divides does not win by being divided; byte-level words have no blanks."""

from __future__ import annotations

import pytest
import torch
from tokenizers import Tokenizer, decoders, models, pre_tokenizers, processors
from torch.testing import assert_close
from transformers import PreTrainedTokenizerFast

from classifier_families import FAMILIES
from glasshead.data import encode
from glasshead.explainers import ExplainRequest, explain_texts, find_explainer, make_context
from glasshead.explainers.gradient import embedding_gradients
from glasshead.training import open_subject

PIECES = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "a", "film", "un", "##kind", "##ly", "kind", "good"]
TEXT = "a unkindly good film"


def word_pieces() -> PreTrainedTokenizerFast:
    made = Tokenizer(models.WordPiece({piece: rank for rank, piece in enumerate(PIECES)}, unk_token="[UNK]"))
    made.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    made.post_processor = processors.TemplateProcessing("[CLS] $A [SEP]", None, [("[CLS]", 2), ("[SEP]", 3)])
    names = {f"{name.lower()}_token": f"[{name}]" for name in ("PAD", "UNK", "CLS", "SEP", "MASK")}
    return PreTrainedTokenizerFast(tokenizer_object=made, **names)


@pytest.fixture(scope="module")
def subject():
    return open_subject(FAMILIES["Bert"].build(labels=2), word_pieces())


@pytest.mark.parametrize("method", ["gradient-l1", "gradient-l2"])
def test_a_word_has_the_norm_of_the_sum_of_its_gradients(subject, method: str) -> None:
    (attribution,) = explain_texts(subject, [TEXT], None, ExplainRequest(method))
    assert attribution.tokens == ("[CLS]", "a", "unkindly", "good", "film", "[SEP]")
    context = make_context(subject.model, encode(subject.tokenizer, [TEXT]), subject.tokenizer)
    ((_, gradients, _),) = embedding_gradients(context)
    pieces = gradients[0, 2:5]
    size = torch.Tensor.norm if method == "gradient-l2" else lambda vector: vector.abs().mean()
    assert_close(attribution.scores[2], float(size(pieces.sum(dim=0))), rtol=1e-4, atol=0)
    assert attribution.scores[2] < sum(float(size(piece)) for piece in pieces)
    assert_close(attribution.scores[1], float(size(gradients[0, 1])), rtol=1e-4, atol=0)


def test_a_word_has_the_norm_of_the_sum_of_its_values(subject) -> None:
    (attribution,) = explain_texts(subject, [TEXT], None, ExplainRequest("value-norm"))
    context = make_context(subject.model, encode(subject.tokenizer, [TEXT]), subject.tokenizer)
    tokens = find_explainer("value-norm").importance(context)[0].tolist()
    assert max(tokens[2:5]) - sum(sorted(tokens[2:5])[:2]) <= attribution.scores[2] < sum(tokens[2:5])
    assert_close(attribution.scores[3], tokens[5], rtol=1e-4, atol=0)


def test_contributions_of_pieces_add_up(subject) -> None:
    for method in ("rollout", "alti", "gradient-attention-signed", "contribution"):
        (attribution,) = explain_texts(subject, [TEXT], None, ExplainRequest(method))
        context = make_context(subject.model, encode(subject.tokenizer, [TEXT]), subject.tokenizer)
        tokens = find_explainer(method).importance(context)[0].tolist()
        assert_close(attribution.scores[2], sum(tokens[2:5]), rtol=1e-4, atol=1e-7)


def test_words_of_bytes_have_no_blanks() -> None:
    letters = sorted(pre_tokenizers.ByteLevel.alphabet())
    vocabulary = {"[PAD]": 0, "[EOS]": 1} | {letter: rank + 2 for rank, letter in enumerate(letters)}
    made = Tokenizer(models.BPE(vocabulary, []))
    made.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    made.decoder = decoders.ByteLevel()
    tokenizer = PreTrainedTokenizerFast(tokenizer_object=made, pad_token="[PAD]", eos_token="[EOS]")
    model = FAMILIES["GPT2"].build(vocab_size=len(vocabulary), pad_token_id=0)
    subject = open_subject(model, tokenizer)
    (attribution,) = explain_texts(subject, ["a  warm film"], None, ExplainRequest("rollout"))
    assert attribution.tokens == ("a", "warm", "film")
