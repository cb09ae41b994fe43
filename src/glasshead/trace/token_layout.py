"""Tokens of texts ↔ keys of an attention call: the same, packed by segments, or whole sentences."""

from dataclasses import dataclass

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor
from transformers import PreTrainedModel

from glasshead.data import Inputs
from glasshead.models import SegmentLayout, TransformerClassifier
from glasshead.trace.attention_site import KeyUnit


@dataclass(frozen=True)
class TokenLayout:
    """The places of the tokens [B, n] of a batch among the keys [R, K] of a call."""

    real: Bool[Tensor, "b n"]
    segments: SegmentLayout | None = None
    keys_are_segments: bool = False
    """Whether a key is a whole segment."""

    @property
    def mask(self) -> Bool[Tensor, "r k"]:
        """Which keys there are."""
        return self.keys(self.real)

    @property
    def owners(self) -> Int[Tensor, " r"]:
        """The text of the batch that each row of keys belongs to."""
        if self.segments is None or self.keys_are_segments:
            return torch.arange(len(self.real), device=self.real.device)
        return self.segments.text

    def keys(self, tokens: Bool[Tensor, "b n"]) -> Bool[Tensor, "r k"]:
        """Chosen tokens as keys; a sentence is chosen if one of its tokens is."""
        if self.segments is None:
            return tokens
        if not self.keys_are_segments:
            return self.segments.pack(tokens[..., None].float())[..., 0] > 0
        text, segment = self.segments_of_tokens()
        keys = tokens.new_zeros(len(tokens), int(segment.max()) + 1 if len(segment) else 1)
        real_tokens = tokens[self.real]
        keys[text[real_tokens], segment[real_tokens]] = True
        return keys

    def tokens(self, keys: Float[Tensor, "r k"]) -> Float[Tensor, "b n"]:
        """Numbers of keys at the places of their tokens; the tokens of a sentence share its number
        equally."""
        if self.segments is None:
            return keys * self.real
        if not self.keys_are_segments:
            return self.segments.unpack(keys)
        return self.segments.spread(keys) * self.shares(keys.dtype)

    def pack(self, tokens: Float[Tensor, "b n"]) -> Float[Tensor, "r k"]:
        """Numbers of tokens in the layout of the call; those of sentences as they are."""
        if self.segments is None or self.keys_are_segments:
            return tokens
        return self.segments.pack(tokens[:, : self.real.shape[1], None])[..., 0]

    def unpack(self, keys: Float[Tensor, "r k"]) -> Float[Tensor, "b n"]:
        """The way back."""
        return keys if self.segments is None or self.keys_are_segments else self.segments.unpack(keys)

    def shares(self, dtype: torch.dtype) -> Float[Tensor, "b n"]:
        """One over the number of tokens that share a key."""
        shares = self.real.to(dtype)
        if self.segments is not None and self.keys_are_segments:
            shares[self.real] /= self.segments.mask.sum(dim=1)[self.row_of_tokens()].to(dtype)
        return shares

    def row_of_tokens(self) -> Int[Tensor, " tokens"]:
        """The packed row of each real token."""
        assert self.segments is not None
        return self.segments.places // self.segments.mask.shape[1]

    def segments_of_tokens(self) -> tuple[Int[Tensor, " tokens"], Int[Tensor, " tokens"]]:
        """Text and number of the segment of each real token."""
        assert self.segments is not None
        rows = self.row_of_tokens()
        return self.segments.text[rows], self.segments.number[rows]


def token_layout(model: PreTrainedModel, inputs: Inputs, key_unit: KeyUnit) -> TokenLayout:
    """How a call of the model sees a batch."""
    real = inputs["attention_mask"].bool()
    if key_unit == "token":
        return TokenLayout(real)
    assert isinstance(model, TransformerClassifier)
    segments = model.segments(inputs["input_ids"], real, inputs.get("token_type_ids"))
    return TokenLayout(real, segments, keys_are_segments=key_unit == "sentence")
