"""Words → vectors of sentences → vector of the document → class or rating."""

from typing import Any, ClassVar

import torch
from huggingface_hub.dataclasses import strict
from jaxtyping import Bool, Float, Int
from torch import Tensor
from transformers import PreTrainedTokenizerBase

from glasshead.errors import ParameterError
from glasshead.models.encoder import Encoder, EncoderConfig
from glasshead.models.segments import SegmentLayout
from glasshead.models.transformer_classifier import TransformerClassifier

ENDS = frozenset([*".!?…。！？", "<br />", "<br/>", "<br>"])
CLOSERS = frozenset([*"”’»›)]}」』】》〉）］｝", "''", "-rrb-", "-rsb-", "-rcb-"])


@strict
class HierarchicalConfig(EncoderConfig):
    """Configuration of `HierarchicalClassifier`.

    ``sentence_ends`` are the ids of the tokens that end a sentence, ``sentence_closers`` those that may
    follow its end; a sentence is cut after ``sentence_length`` tokens.
    """

    model_type = "glasshead-hierarchical"

    sentence_ends: list[int] | None = None
    sentence_closers: list[int] | None = None
    sentence_length: int = 64

    def check(self) -> None:
        super().check()
        if self.sentence_length < 1:
            raise ParameterError("sentence_length", f"must be at least 1, not {self.sentence_length}")


class HierarchicalClassifier(TransformerClassifier):
    """A classifier of documents: an encoder over the words of each sentence, another over the sentences.

    A sentence ends after a token made of ``. ! ? … 。 ！ ？`` only, after ``<br />``, or when it is full;
    further such tokens, closing quotes and closing brackets belong to it. All of them are in the
    vocabulary, so a text is always split in the same way; the rule does not know abbreviations.

    Source: Wu, Wu and Huang (2021), section 4.1.
    """

    config_class = HierarchicalConfig
    config: HierarchicalConfig
    special_tokens = False
    packs_segments = True
    attention_levels: ClassVar = {"words.": "word level", "sentences.": "sentence level"}
    sentence_marks = (ENDS, CLOSERS)

    def build(self, config: EncoderConfig) -> None:
        self.words = Encoder(config)
        self.sentences = Encoder(config)

    @classmethod
    def tokenizer_settings(cls, tokenizer: PreTrainedTokenizerBase) -> dict[str, Any]:
        ends, closers = (
            sorted(
                index
                for token, index in tokenizer.get_vocab().items()
                if token in marks or (token and set(token) <= marks)
            )
            for marks in (ENDS, CLOSERS)
        )
        return super().tokenizer_settings(tokenizer) | {"sentence_ends": ends, "sentence_closers": closers}

    def segments(
        self, ids: Int[Tensor, "b n"] | None, mask: Bool[Tensor, "b n"], types: Int[Tensor, "b n"] | None
    ) -> SegmentLayout:
        if ids is None:
            raise ValueError("a document needs its input_ids: embeddings do not show where sentences end")
        order = (~mask).byte().argsort(dim=1, stable=True)  # the real tokens first: padding is no word
        ends, closers = (
            torch.isin(ids, torch.tensor(marks or [], dtype=ids.dtype, device=ids.device)).gather(1, order)
            for marks in (self.config.sentence_ends, self.config.sentence_closers)
        )
        numbers = number_sentences(close_sentences(ends, closers), self.config.sentence_length)
        return SegmentLayout.of(numbers.new_empty(ids.shape).scatter(1, order, numbers), mask)

    def encode(
        self, embeddings: Float[Tensor, "b n d"], segments: SegmentLayout | None, mask: Bool[Tensor, "b n"],
        need_weights: bool,
    ) -> tuple[Float[Tensor, "b d"], tuple[Tensor, ...]]:  # fmt: skip
        assert segments is not None
        vectors, within = self.words(segments.pack(embeddings), segments.mask, need_weights=need_weights)
        vector, among = self.sentences(*segments.line_up(vectors), need_weights=need_weights)
        return vector, (*within, *among)


def close_sentences(ends: Bool[Tensor, "b n"], closers: Bool[Tensor, "b n"]) -> Bool[Tensor, "b n"]:
    """Which tokens end a sentence once the closers that follow an end, or each other after one, do too."""
    place = torch.arange(ends.shape[1], device=ends.device).expand_as(ends)
    last = place.masked_fill(closers, -1).cummax(dim=1).values  # the last token so far that is no closer
    return ends.gather(1, last.clamp(min=0)) & (last >= 0)


def number_sentences(ends: Bool[Tensor, "b n"], longest: int) -> Int[Tensor, "b n"]:
    """0 0 0 1 1 …: the sentence of each token, if a sentence ends with a run of ends or after ``longest``."""
    starts = ends[:, :-1] & ~ends[:, 1:]
    number = torch.nn.functional.pad(starts.long().cumsum(dim=1), (1, 0))
    place = torch.arange(ends.shape[1], device=ends.device).expand_as(number)
    first = torch.where(torch.nn.functional.pad(starts, (1, 0), value=True), place, 0).cummax(dim=1).values
    part = (place - first) // longest
    again = torch.nn.functional.pad((part[:, 1:] > part[:, :-1]).long().cumsum(dim=1), (1, 0))
    return number + again
