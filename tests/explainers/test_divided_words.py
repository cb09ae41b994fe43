"""A word that the tokenizer divides does not win by being divided; byte-level words have no blanks."""

from __future__ import annotations

import pytest
import torch
from tokenizers import Tokenizer, decoders, models, pre_tokenizers, processors
from torch.testing import assert_close
from transformers import PreTrainedTokenizerFast

from classifier_families import FAMILIES
from glasshead.data import encode
from glasshead.explainers import explain_texts, find_explainer, make_context
from glasshead.explainers.gradient import embedding_gradients
from glasshead.explainers.value_vectors import block_vectors
from glasshead.huggingface import plug
from glasshead.opening import open_subject
from glasshead.requests import MethodRequest
from glasshead.trace import (
    AttentionSelector,
    ReadRows,
    find_site,
    intervene,
    record,
    record_stack,
    word_map,
    word_means,
    word_sums,
)
from tolerances import ALL_LAYERS

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
    (attribution,) = explain_texts(subject, [TEXT], None, MethodRequest(method=method))
    assert attribution.tokens == ("[CLS]", "a", "unkindly", "good", "film", "[SEP]")
    context = make_context(subject.model, encode(subject.tokenizer, [TEXT]), subject.tokenizer)
    ((_, gradients, _),) = embedding_gradients(context)
    pieces = gradients[0, 2:5]
    size = torch.Tensor.norm if method == "gradient-l2" else lambda vector: vector.abs().mean()
    assert_close(attribution.scores[2], float(size(pieces.sum(dim=0))), rtol=1e-4, atol=0)
    assert attribution.scores[2] < sum(float(size(piece)) for piece in pieces)
    assert_close(attribution.scores[1], float(size(gradients[0, 1])), rtol=1e-4, atol=0)


def test_a_word_has_the_norm_of_the_sum_of_its_values(subject) -> None:
    (attribution,) = explain_texts(subject, [TEXT], None, MethodRequest(method="value-norm"))
    context = make_context(subject.model, encode(subject.tokenizer, [TEXT]), subject.tokenizer)
    tokens = find_explainer("value-norm").importance(context)[0].tolist()
    assert max(tokens[2:5]) - sum(sorted(tokens[2:5])[:2]) <= attribution.scores[2] < sum(tokens[2:5])
    assert_close(attribution.scores[3], tokens[5], rtol=1e-4, atol=0)


def test_contributions_of_pieces_add_up(subject) -> None:
    for method in ("rollout", "layer-mean", "gradient-attention-signed", "contribution"):
        (attribution,) = explain_texts(subject, [TEXT], None, MethodRequest(method=method, target=1))
        context = make_context(subject.model, encode(subject.tokenizer, [TEXT]), subject.tokenizer)
        tokens = find_explainer(method).importance(context)[0].tolist()
        assert_close(attribution.scores[2], sum(tokens[2:5]), rtol=1e-4, atol=1e-7)


WORDS = [-1, 0, 1, 1, 1, 2, 3, -1]


def in_words(subject, method: str, **reading) -> torch.Tensor:
    """The numbers of the words of the text, the class of index 1 being explained."""
    request = MethodRequest(method=method, target=1, **reading)
    (attribution,) = explain_texts(subject, [TEXT], None, request)
    assert attribution.tokens[2] == "unkindly"
    return torch.tensor(attribution.scores)


def maps_of(subject) -> tuple[list[torch.Tensor], list[torch.Tensor]]:
    """The weights [h, q, k] of every layer, and the gradients of the score of class 1."""
    inputs = encode(subject.tokenizer, [TEXT]).inputs()
    with record(subject.model, keep_graph=True) as trace:
        logits = subject.model(**inputs).logits[0]
    weights = [layer.weights for layer in trace.only]
    slopes = torch.autograd.grad(logits[1] - logits[0], weights)
    return [own[0].detach() for own in weights], [own[0] for own in slopes]


def scale(maps: torch.Tensor) -> torch.Tensor:
    return maps / maps.sum(dim=-1, keepdim=True)


def discard_half(shares: torch.Tensor) -> torch.Tensor:
    """Rows without half of the words, the smallest ones."""
    kept = shares.clone()
    for row in kept:
        row[row.argsort()[: len(row) // 2]] = 0
    return scale(kept)


def follow(maps: list[torch.Tensor]) -> torch.Tensor:
    """What the first row knows after all layers, with the residual."""
    state = torch.eye(len(maps[0]))
    for own in maps:
        state = (own @ state + state) / 2
    return state[0]


def test_the_largest_weight_of_a_word_is_that_of_the_whole_word(subject) -> None:
    """Over layers and over heads: a word would win if every token had the layer or head best for it."""
    weights, _ = maps_of(subject)
    own = torch.stack([word_map(layer.mean(0), WORDS)[0] for layer in weights])
    assert_close(in_words(subject, "layer-max"), own.amax(dim=0), **ALL_LAYERS)
    assert_close(in_words(subject, "layer-min"), own.amin(dim=0), **ALL_LAYERS)
    mean = torch.stack([layer.mean(0) for layer in weights]).mean(0)
    assert_close(
        in_words(subject, "layer-mean+reading=max-columns"), word_sums(mean, WORDS).amax(dim=0), **ALL_LAYERS
    )
    to = mean[:, 0]
    assert_close(in_words(subject, "layer-mean+reading=to")[2], to[2:5].sum(), **ALL_LAYERS)
    for heads in ("max", "min"):
        combine = getattr(torch, f"a{heads}")
        own = combine(word_sums(weights[-1], WORDS), 0)
        row = in_words(subject, "attention", head=heads)
        assert_close(row, own[0], **ALL_LAYERS)
        assert_close(in_words(subject, "attention", head=heads, row="mean"), own.mean(dim=0), **ALL_LAYERS)
        layers = [combine(word_sums(layer, WORDS), 0)[0] for layer in weights]
        assert_close(in_words(subject, "layer-sum", head=heads), sum(layers), **ALL_LAYERS)
        tokens = combine(weights[-1], 0)[0]
        (more, less) = (row[2], tokens[2:5].sum()) if heads == "min" else (tokens[2:5].sum(), row[2])
        assert more > less + 1e-4


def test_a_word_is_one_key_of_a_rollout_that_is_not_linear(subject) -> None:
    weights, _ = maps_of(subject)
    largest = [scale(word_sums(layer, WORDS).amax(dim=0)) for layer in weights]
    own = follow([word_means(layer, WORDS) for layer in largest])
    assert_close(in_words(subject, "rollout", head="max"), own, **ALL_LAYERS)
    kept = [discard_half(word_sums(layer.mean(0), WORDS)) for layer in weights]
    own = follow([word_means(layer, WORDS) for layer in kept])
    assert_close(in_words(subject, "rollout+discard=0.5"), own, **ALL_LAYERS)
    flows = in_words(subject, "attention-flow", head="max", layer=0, row="first")
    assert_close(flows, scale(largest[0][0] + torch.eye(6)[0]), **ALL_LAYERS)


def test_a_decoder_reads_each_token_of_a_word_one_place_later() -> None:
    """Its vectors begin with the token before: the columns of a word stand there, in its own attention."""
    bart = open_subject(FAMILIES["Bart"].build(labels=2, eos_token_id=3), word_pieces())
    weights, _ = maps_of(bart)
    later, n = [-1, *WORDS[:-1]], len(WORDS)
    layers = len(weights) // 3  # of the encoder, then own and cross-attention of each of the decoder
    text = word_sums(torch.eye(n), WORDS)
    decoder = word_sums(torch.diag(torch.ones(n - 1), -1), WORDS)

    def attended(maps: torch.Tensor, state: torch.Tensor, words: list[int]) -> torch.Tensor:
        return scale(word_sums(maps, words).amax(dim=0)) @ word_means(state, words)

    for maps in weights[:layers]:
        text = (attended(maps, text, WORDS) + text) / 2
    for own, cross in zip(weights[layers::2], weights[layers + 1 :: 2], strict=True):
        decoder = (attended(own, decoder, later) + decoder) / 2
        decoder = (attended(cross, text, WORDS) + decoder) / 2
    assert_close(in_words(bart, "rollout", head="max"), decoder[-1], **ALL_LAYERS)


def test_gradients_of_a_word_are_joined_before_those_against_the_target_go(subject) -> None:
    products = [a * slope for a, slope in zip(*maps_of(subject), strict=True)]
    state = torch.eye(6)
    for layer in products:
        state = state + word_means(word_sums(layer, WORDS).clamp(min=0).mean(dim=0), WORDS) @ state
    own = (state - torch.eye(6))[0]
    assert own[2] > 0
    assert_close(in_words(subject, "gradient-attention"), own, **ALL_LAYERS)


def test_sizes_of_signed_weights_of_a_word_are_those_of_their_sum() -> None:
    signed = open_subject(plug(FAMILIES["Bert"].build(labels=2), "tanhmax"), word_pieces())
    weights, _ = maps_of(signed)
    sizes = [scale(word_sums(layer, WORDS).abs().mean(dim=0)) for layer in weights]
    own = follow([word_means(layer, WORDS) for layer in sizes])
    assert_close(in_words(signed, "rollout-absolute"), own, **ALL_LAYERS)
    flows = in_words(signed, "attention-flow-absolute", layer=0, row="first")
    assert_close(flows, scale(sizes[0][0] + torch.eye(6)[0]), **ALL_LAYERS)


def test_a_word_brings_the_output_nearer_as_a_whole(subject) -> None:
    context = make_context(subject.model, encode(subject.tokenizer, [TEXT]), subject.tokenizer)
    inputs = context.encoded.inputs()
    site = find_site(subject.model, inputs, AttentionSelector(layer=0))
    with torch.no_grad():
        stack = record_stack(subject.model, inputs, site, ReadRows.by_name("mean"), norms=True)
        vectors = block_vectors(stack, stack.top, slice(None))[0]  # [q, k, d]
        output = stack.top.norm.output(slice(None))[0]
    words = word_sums(vectors.movedim(-1, 1), WORDS).movedim(1, -1)  # [q, w, d]
    nearer = output.abs().sum(dim=-1)[:, None] - (output[:, None] - words).abs().sum(dim=-1)
    own = scale(nearer.clamp(min=0)).mean(dim=0)
    assert_close(in_words(subject, "alti", layer=0, row="mean"), own, **ALL_LAYERS)


def test_the_values_of_all_tokens_of_a_word_are_zeroed_together(subject) -> None:
    inputs = encode(subject.tokenizer, [TEXT]).inputs()

    def first_row(gone) -> torch.Tensor:
        def edit(layer, weights, call):
            return (
                weights.index_fill(-1, torch.tensor(gone, dtype=torch.long), 0.0) if layer == 0 else weights
            )

        with torch.no_grad(), intervene(subject.model, edit):
            states = subject.model(**inputs, output_hidden_states=True).hidden_states[1]
        return states[0, 0].double()

    own = [
        1 - torch.cosine_similarity(first_row(gone), first_row([]), dim=0)
        for gone in ([0], [1], [2, 3, 4], [5], [6], [7])
    ]
    scores = in_words(subject, "value-zeroing", layer=0, row="first")
    assert_close(scores, scale(torch.stack(own)).float(), **ALL_LAYERS)


def test_texts_without_divided_words_have_the_numbers_of_their_tokens(subject) -> None:
    """In one batch with a text that has one, in which they are padded."""
    for method in ("layer-max", "alti", "gradient-attention", "value-norm"):
        context = make_context(subject.model, encode(subject.tokenizer, [TEXT, "a film"]), subject.tokenizer)
        tokens, words = (
            find_explainer(method).importance(context),
            find_explainer(method).word_importance(context),
        )
        assert_close(words[1], tokens[1], rtol=0, atol=0)
        assert (words[0] - tokens[0]).abs().max() > 1e-4


def test_words_of_bytes_have_no_blanks() -> None:
    letters = sorted(pre_tokenizers.ByteLevel.alphabet())
    vocabulary = {"[PAD]": 0, "[EOS]": 1} | {letter: rank + 2 for rank, letter in enumerate(letters)}
    made = Tokenizer(models.BPE(vocabulary, []))
    made.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    made.decoder = decoders.ByteLevel()
    tokenizer = PreTrainedTokenizerFast(tokenizer_object=made, pad_token="[PAD]", eos_token="[EOS]")
    model = FAMILIES["GPT2"].build(vocab_size=len(vocabulary), pad_token_id=0)
    subject = open_subject(model, tokenizer)
    (attribution,) = explain_texts(subject, ["a  warm film"], None, MethodRequest(method="rollout"))
    assert attribution.tokens == ("a", "warm", "film")
