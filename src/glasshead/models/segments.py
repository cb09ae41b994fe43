"""Texts in several segments (two texts of a pair, sentences of a document) ↔ one row for each segment."""

from dataclasses import dataclass

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor


@dataclass(frozen=True)
class SegmentLayout:
    """Where every token goes: real token i of text b is at (row, column) of the packed batch.

    ``mask`` [R, L] is true where the packed batch has a token; ``text`` [R] and ``number`` [R] say which
    segment of which text a row is; ``places`` [T] are the real tokens in the flattened packed batch,
    ``real`` [B, n] the same tokens in the original batch.
    """

    real: Bool[Tensor, "b n"]
    places: Int[Tensor, " tokens"]
    mask: Bool[Tensor, "r l"]
    text: Int[Tensor, " r"]
    number: Int[Tensor, " r"]

    @classmethod
    def of(cls, segment: Int[Tensor, "b n"], real: Bool[Tensor, "b n"]) -> "SegmentLayout":
        """Segments from the segment number of each token, which never decreases along a text and has no
        gaps."""
        texts, length = segment.shape
        text = torch.arange(texts, device=segment.device)[:, None].expand(texts, length)[real]
        key = text * (length + 1) + segment[real]  # tokens of one segment stand together, in order
        _, row, sizes = torch.unique_consecutive(key, return_inverse=True, return_counts=True)
        first = sizes.cumsum(0) - sizes
        column = torch.arange(len(row), device=row.device) - first[row]
        longest = int(sizes.max()) if len(sizes) else 1
        mask = torch.arange(longest, device=row.device) < sizes[:, None]
        return cls(real, row * longest + column, mask, text[first], segment[real][first])

    def pack(self, tokens: Float[Tensor, "b n d"]) -> Float[Tensor, "r l d"]:
        """Vectors of tokens, one row for each segment; zeros on padding."""
        rows, length = self.mask.shape
        packed = tokens.new_zeros(rows * length, tokens.shape[-1])
        return packed.index_copy(0, self.places, tokens[self.real]).unflatten(0, (rows, length))

    def unpack(self, packed: Float[Tensor, "r l *d"]) -> Float[Tensor, "b n *d"]:
        """Numbers or vectors of packed tokens, back at the places of the tokens; zeros on padding."""
        tokens = packed.new_zeros(*self.real.shape, *packed.shape[2:])
        tokens[self.real] = packed.flatten(0, 1)[self.places]
        return tokens

    def spread(self, segments: Float[Tensor, "b s"]) -> Float[Tensor, "b n"]:
        """A number of each segment, given to every token of it; zeros on padding."""
        tokens = segments.new_zeros(self.real.shape)
        row = self.places // self.mask.shape[1]
        tokens[self.real] = segments[self.text, self.number][row]
        return tokens

    def line_up(
        self, vectors: Float[Tensor, "r d"], width: int | None = None
    ) -> tuple[Float[Tensor, "b s d"], Bool[Tensor, "b s"]]:
        """The vectors of the segments of each text in a row, and a mask of those that exist."""
        texts = len(self.real)
        if width is None:
            width = int(self.number.max()) + 1 if len(self.number) else 1
        lined = vectors.new_zeros(texts, width, vectors.shape[-1]).index_put(
            (self.text, self.number), vectors
        )
        filled = torch.zeros(texts, width, dtype=torch.bool, device=vectors.device)
        filled[self.text, self.number] = True
        return lined, filled
