"""Two texts → one encoder for both → class."""

import torch
from huggingface_hub.dataclasses import strict
from jaxtyping import Bool, Float, Int
from torch import Tensor

from glasshead.errors import InputError
from glasshead.models.encoder import Encoder, EncoderConfig
from glasshead.models.segments import SegmentLayout
from glasshead.models.transformer_classifier import TransformerClassifier
from glasshead.registry import Registry

PAIR_FEATURES: Registry[int] = Registry("pair features")
"""How many vectors the last linear map reads, by the name of what they are."""
PAIR_FEATURES.register("concat")(2)
PAIR_FEATURES.register("compare")(4)


@strict
class PairEncoderConfig(EncoderConfig):
    """Configuration of `PairEncoderClassifier`.

    ``pair_features`` of the vectors u and v of the two texts: "concat" is [u; v], which cannot compare the
    texts: its score is a sum of one score for each; "compare" is [u; v; |u − v|; u ∘ v].
    """

    model_type = "glasshead-pair-encoder"

    pair_features: str = "concat"

    def check(self) -> None:
        super().check()
        PAIR_FEATURES[self.pair_features]


class PairEncoderClassifier(TransformerClassifier):
    """A classifier of pairs: one shared encoder reads each text, the two vectors are joined (Bhardwaj et al.
    2021, section 6) and, if requested, compared (Conneau et al. 2017, section 3.1).

    ``token_type_ids`` say which text a token belongs to, 0 or 1, as the tokenizer writes them.
    """

    config_class = PairEncoderConfig
    config: PairEncoderConfig
    texts_per_example = 2
    packs_segments = True

    def build(self, config: EncoderConfig) -> None:
        self.encoder = Encoder(config)

    @property
    def feature_size(self) -> int:
        return PAIR_FEATURES[self.config.pair_features] * self.config.hidden_size

    @property
    def linear_in_pooled(self) -> bool:
        return self.config.pair_features == "concat"

    def segments(
        self, ids: Int[Tensor, "b n"] | None, mask: Bool[Tensor, "b n"], types: Int[Tensor, "b n"] | None
    ) -> SegmentLayout:
        return SegmentLayout.of(pair_types(mask, types), mask)

    def encode(
        self, embeddings: Float[Tensor, "b n d"], segments: SegmentLayout | None, mask: Bool[Tensor, "b n"],
        need_weights: bool,
    ) -> tuple[Float[Tensor, "b v"], tuple[Tensor, ...]]:  # fmt: skip
        assert segments is not None
        vectors, weights = self.encoder(segments.pack(embeddings), segments.mask, need_weights=need_weights)
        lined, _ = segments.line_up(vectors, width=self.texts_per_example)
        if self.config.pair_features == "concat":
            return lined.flatten(1), weights
        u, v = lined.unbind(dim=1)
        return torch.cat([u, v, (u - v).abs(), u * v], dim=-1), weights


def pair_types(mask: Bool[Tensor, "b n"], types: Int[Tensor, "b n"] | None) -> Int[Tensor, "b n"]:
    """The text of each token, checked.

    Raises:
        InputError: unless every example is a first text and a second one after it.
    """
    if types is None:
        raise InputError("this model compares two texts: give it pairs, with their token_type_ids")
    first, second = (types == 0) & mask, (types == 1) & mask
    complete = (first.any(dim=1) & second.any(dim=1)) | ~mask.any(dim=1)
    if not bool(complete.all()):
        raise InputError(
            "this model compares two texts: give it pairs; by token_type_ids some example has only one text"
        )
    # Nothing of the first text may follow a token of the second.
    falls = (second.cumsum(dim=1).bool() & first).any()
    if bool(falls | (mask & ~first & ~second).any()):
        raise InputError("token_type_ids of a pair are 0 for the first text, then 1 for the second")
    return types
