"""Erasure for all tokens of an answer at once: one pass over the whole text for every erased token."""

from __future__ import annotations

import copy
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager

import torch
from jaxtyping import Float, Int
from torch import Tensor
from transformers import Cache, DynamicCache

from glasshead.attention import AttentionInputs
from glasshead.errors import InputError
from glasshead.explainers import REMOVALS, average_lookups
from glasshead.generation.call_kinds import CROSS, DECODER, call_kinds
from glasshead.generation.method import RowMethod, target_map
from glasshead.generation.reading import answer_logits, keeps_every_token, split_inputs
from glasshead.generation.target import AnswerTarget
from glasshead.generation.text import ReadText
from glasshead.results import WrittenMap
from glasshead.trace import AttentionSelector, Edit, intervene

ALL_LAYERS, HIDDEN = "all-layers", "no other token attends to it, in any layer"
PLACES = 8192
"""Tokens of variants in one pass."""
NUMBERS = 2**24
"""Numbers in the logits, or the attention weights of a layer, of one pass."""


class SharedPrefix:
    """Keys and values of the beginning of a text, which grows; of models that keep every token's.

    Exact: no token of a causal model sees what stands behind it.
    """

    def __init__(self, text: ReadText) -> None:
        self.text = text
        self.length = 0
        self.past: Cache | None = None
        # An encoder reads in both directions, and an image is read as a whole.
        self.is_possible = not (text.source or text.sees)

    def read(self, length: int) -> int:
        """Read the text up to a place, from where it was read before; from which place texts go on."""
        if not self.is_possible or length <= self.length:
            return self.length
        before = DynamicCache(config=self.text.model.config) if self.past is None else self.past
        ids = self.text.ids[:, self.length : length]
        self.text.classifier.model.base_model(input_ids=ids, past_key_values=before, use_cache=True)
        self.is_possible = keeps_every_token(before) and before.get_seq_length() == length
        if self.is_possible:
            self.past, self.length = before, length
        return self.length

    def repeat(self, times: int) -> Cache | None:
        """Text inputs repeated for several texts; None where nothing was read."""
        if self.past is None:
            return None
        several = copy.deepcopy(self.past)
        several.batch_repeat_interleave(times)
        return several


class ErasureRows(RowMethod):
    """y_t(x) − y_t(x without token j) for every token t of the answer and every j < t.

    A text keeps its length and its places, so a pass without token j has the answer's whole row of targets:
    n tokens cost n passes, not one for each pair. Without a token means ``removal``: its embedding becomes
    the mean of all (``mean-embedding``), it becomes the unknown token (``unknown-token``), or no other token
    attends to it (``all-layers``), which says nothing of the last token before t, whose own row is read. In
    an encoder–decoder the tokens are those of both.

    ``shares_prefix``: keys and values of what stands before the erased token are computed once.
    """

    def __init__(self, removal: str, *, shares_prefix: bool = True) -> None:
        self.removal = removal
        self.shares_prefix = shares_prefix and removal != ALL_LAYERS  # weights are edited, which needs all
        edit = REMOVALS["zero-weight" if removal == ALL_LAYERS else removal]
        self.means = HIDDEN if removal == ALL_LAYERS else edit.description
        self.description = f"change of the target without the token: {self.means}"
        self.citation = edit.citation

    def explain(
        self, text: ReadText, target: AnswerTarget, selector: AttentionSelector, *, name: str
    ) -> WrittenMap:
        scores, values = self.changes(text, target)
        settings = f"without a token: {self.means}"
        return target_map(text, target, scores, values, name=name, signed=True, settings=settings)

    @torch.no_grad()
    def changes(
        self, text: ReadText, target: AnswerTarget
    ) -> tuple[Float[Tensor, "values read"], Float[Tensor, " values"]]:
        """Target minus target without each token, and the target."""
        own = target(text.logits())[0]
        length = text.before.shape[1]
        scores = own.new_zeros(len(own), length)
        prefix = SharedPrefix(text) if self.shares_prefix else None
        for places in torch.arange(length).split(self.step(text)):
            # What stands before the first erased token is the same in all; the answer's rows are all needed.
            start = 0 if prefix is None else prefix.read(min(int(places[0]), text.start - 1))
            past = None if prefix is None else prefix.repeat(len(places))
            ids = self.replace_token(text, text.ids.expand(len(places), -1), places)[:, start:]
            with self.without(text, ids, places - start):
                logits = answer_logits(text.model, ids, text.start - start, past, source=text.source)
            scores[:, places] = (own - target(logits)).T
            text.progress(int(places[-1]) + 1, length)
        return scores.cpu(), own.cpu()

    def step(self, text: ReadText) -> int:
        """How many tokens are erased in one pass, each from a text of its own."""
        length, vocabulary = text.before.shape[1], len(text.classifier.vocabulary)
        numbers = len(text.answer) * vocabulary
        if self.removal == ALL_LAYERS:
            numbers = max(numbers, length**2 * text.model.config.get_text_config().num_attention_heads)
        return max(min(PLACES // length, NUMBERS // numbers), 1)

    def replace_token(self, text: ReadText, ids: Int[Tensor, "b n"], places: Int[Tensor, " b"]) -> Tensor:
        """The texts, where another token stands in them.

        Raises:
            InputError: if the tokenizer has no unknown token.
        """
        if self.removal != "unknown-token":
            return ids
        if text.sees:
            raise InputError(
                "the unknown token cannot replace a part of an image: use 'erasure-mean-embedding'"
            )
        unknown = text.tokenizer.unk_token_id
        if unknown is None:
            raise InputError("this tokenizer has no unknown token: use 'erasure-mean-embedding'")
        return ids.scatter(1, places[:, None].to(ids.device), int(unknown))

    @contextmanager
    def without(self, text: ReadText, ids: Int[Tensor, "b n"], places: Int[Tensor, " b"]) -> Iterator[None]:
        """A block in which the model reads every text without one of its tokens."""
        with ExitStack() as stack:
            if self.removal == "mean-embedding":
                removed = places[:, None] == torch.arange(ids.shape[1] - 1)
                read = split_inputs(removed.to(ids.device), text.source)
                stack.enter_context(average_lookups(text.model, list(read.values())))
            elif self.removal == ALL_LAYERS:
                stack.enter_context(intervene(text.model, hide_token(places, text)))
            yield


def hide_token(places: Int[Tensor, " b"], text: ReadText) -> Edit:
    """No other token attends to one token of each text."""
    kinds = call_kinds(text)

    def edit(layer: int, weights: Float[Tensor, "b h q k"], call: AttentionInputs) -> Tensor:
        q, k = (torch.arange(size, device=weights.device) for size in weights.shape[-2:])
        place = places.to(weights.device)[:, None, None]
        if kinds[layer] == DECODER:
            place = place - text.source
            gone = (k == place) & (q[:, None] != place)
        else:
            gone = (k == place) & ((q[:, None] != place) | (kinds[layer] == CROSS))
        return weights.masked_fill(gone[:, None], 0.0)

    return edit
