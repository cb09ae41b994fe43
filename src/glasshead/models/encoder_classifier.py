"""One text → encoder → class or rating."""

from jaxtyping import Bool, Float
from torch import Tensor

from glasshead.models.encoder import Encoder, EncoderConfig
from glasshead.models.segments import SegmentLayout
from glasshead.models.transformer_classifier import TransformerClassifier


class EncoderClassifier(TransformerClassifier):
    """A text classifier with an encoder of any mechanism (Wu, Wu and Huang 2021; Bhardwaj et al. 2021)."""

    def build(self, config: EncoderConfig) -> None:
        self.encoder = Encoder(config)

    def encode(
        self, embeddings: Float[Tensor, "b n d"], segments: SegmentLayout | None, mask: Bool[Tensor, "b n"],
        need_weights: bool,
    ) -> tuple[Float[Tensor, "b d"], tuple[Tensor, ...]]:  # fmt: skip
        vector, weights = self.encoder(embeddings, mask, need_weights=need_weights)
        return vector, weights
