"""Two texts → one sequence → class."""

from huggingface_hub.dataclasses import strict
from jaxtyping import Bool, Float, Int
from torch import Tensor, nn

from glasshead.models.encoder import EncoderConfig
from glasshead.models.encoder_classifier import EncoderClassifier
from glasshead.models.pair_classifier import pair_types


@strict
class CrossEncoderConfig(EncoderConfig):
    """Configuration of `CrossEncoderClassifier`."""

    model_type = "glasshead-cross-encoder"


class CrossEncoderClassifier(EncoderClassifier):
    """A classifier of pairs that reads both texts as one sequence, [CLS] u [CLS] v, so that the tokens of one
    attend to those of the other (Devlin et al. 2019, section 3; Reimers and Gurevych 2019 for the name).

    A learned vector for each of the two texts, 0 or 1 in ``token_type_ids``, is added to its tokens.
    """

    config_class = CrossEncoderConfig
    texts_per_example = 2

    def build(self, config: EncoderConfig) -> None:
        super().build(config)
        self.segment_embedding = nn.Embedding(self.texts_per_example, config.hidden_size)

    def add_segments(
        self, embeddings: Float[Tensor, "b n d"], mask: Bool[Tensor, "b n"], types: Int[Tensor, "b n"] | None
    ) -> Float[Tensor, "b n d"]:
        types = pair_types(mask, types).masked_fill(~mask, 0)
        return embeddings + self.config.embedding_factor * self.segment_embedding(types)
