"""Two texts → one encoder for both → class."""

from huggingface_hub.dataclasses import strict
from jaxtyping import Bool, Float, Int
from torch import Tensor

from glasshead.errors import InputError
from glasshead.models.encoder import Encoder, EncoderConfig
from glasshead.models.segments import SegmentLayout
from glasshead.models.transformer_classifier import TransformerClassifier


@strict
class PairEncoderConfig(EncoderConfig):
    """Configuration of `PairEncoderClassifier`."""

    model_type = "glasshead-pair-encoder"


class PairEncoderClassifier(TransformerClassifier):
    """A classifier of pairs: one shared encoder reads each text, the two vectors are joined (Bhardwaj et al.
    2021, section 6).

    ``token_type_ids`` say which text a token belongs to, 0 or 1, as the tokenizer writes them.
    """

    config_class = PairEncoderConfig
    texts_per_example = 2

    def build(self, config: EncoderConfig) -> None:
        self.encoder = Encoder(config)

    def segments(
        self, ids: Int[Tensor, "b n"] | None, mask: Bool[Tensor, "b n"], types: Int[Tensor, "b n"] | None
    ) -> SegmentLayout:
        if types is None:
            raise InputError("this model compares two texts: give it pairs, with their token_type_ids")
        first, second = (types == 0) & mask, (types == 1) & mask
        whole = (first.any(dim=1) & second.any(dim=1)) | ~mask.any(dim=1)
        if not bool(whole.all()):
            raise InputError(
                "this model compares two texts: give it pairs; by token_type_ids some example has one"
            )
        # Nothing of the first text may follow a token of the second.
        falls = (second.cumsum(dim=1).bool() & first).any()
        if bool(falls | (mask & ~first & ~second).any()):
            raise InputError("token_type_ids of a pair are 0 for the first text, then 1 for the second")
        return SegmentLayout.of(types, mask)

    def encode(
        self, embeddings: Float[Tensor, "b n d"], segments: SegmentLayout | None, mask: Bool[Tensor, "b n"],
        need_weights: bool,
    ) -> tuple[Float[Tensor, "b v"], tuple[Tensor, ...]]:  # fmt: skip
        assert segments is not None
        vectors, weights = self.encoder(segments.pack(embeddings), segments.mask, need_weights=need_weights)
        lined, _ = segments.line_up(vectors, width=self.texts_per_example)
        return lined.flatten(1), weights
