"""What the encoder models have in common: embeddings in, class scores or a rating out."""

from abc import abstractmethod
from typing import Any, ClassVar

from jaxtyping import Bool, Float, Int
from torch import Tensor, nn
from transformers.modeling_outputs import SequenceClassifierOutput

from glasshead.models.encoder import EncoderConfig, WordEmbedding, initialise
from glasshead.models.segments import SegmentLayout
from glasshead.models.text_classifier import TextClassifier, output_size


class TransformerClassifier(TextClassifier):
    """Embeddings → one vector for a text → linear map; labels only ever reach the loss.

    Binary models have one output z and the logits [0, z], ratings one output and no activation.
    """

    config_class = EncoderConfig
    config: EncoderConfig
    base_model_prefix = "encoder"
    special_tokens = True
    packs_segments: ClassVar[bool] = False
    """Whether texts or sentences are read one by one, so that no token attends to all others."""

    def __init__(self, config: EncoderConfig) -> None:
        super().__init__(config)
        self.embedding = WordEmbedding(config)
        self.build(config)
        self.classifier = nn.Linear(self.feature_size, output_size(config))
        self.post_init()

    @property
    def feature_size(self) -> int:
        """The length of the vector that the last linear map reads."""
        return self.config.hidden_size

    @property
    def linear_in_pooled(self) -> bool:
        """Whether the outputs are linear in the pooled vectors of texts."""
        return True

    @abstractmethod
    def build(self, config: EncoderConfig) -> None:
        """Make the encoders."""

    @abstractmethod
    def encode(
        self, embeddings: Float[Tensor, "b n d"], segments: SegmentLayout | None, mask: Bool[Tensor, "b n"],
        need_weights: bool,
    ) -> tuple[Float[Tensor, "b v"], tuple[Tensor, ...]]:  # fmt: skip
        """One vector for each example, and all attention weights if requested."""

    def segments(
        self, ids: Int[Tensor, "b n"] | None, mask: Bool[Tensor, "b n"], types: Int[Tensor, "b n"] | None
    ) -> SegmentLayout | None:
        """The segments that the model reads one by one; None where it reads a text as it is."""
        return None

    def add_segments(
        self, embeddings: Float[Tensor, "b n d"], mask: Bool[Tensor, "b n"], types: Int[Tensor, "b n"] | None
    ) -> Float[Tensor, "b n d"]:
        """The embeddings with the text that each token belongs to, if the model uses it."""
        return embeddings

    def _init_weights(self, module: nn.Module) -> None:
        initialise(module, self.config)

    def forward(
        self,
        input_ids: Int[Tensor, "b n"] | None = None,
        attention_mask: Int[Tensor, "b n"] | None = None,
        token_type_ids: Int[Tensor, "b n"] | None = None,
        labels: Tensor | None = None,
        inputs_embeds: Float[Tensor, "b n d"] | None = None,
        output_attentions: bool = False,
        **kwargs: Any,
    ) -> SequenceClassifierOutput:
        """Classify or rate; ``inputs_embeds`` replace the embeddings of ``input_ids``.

        Raises:
            ValueError: if there is no input, or no mask although the ids do not show the padding.
        """
        embeddings, mask = self.embed(input_ids, attention_mask, inputs_embeds)
        embeddings = self.add_segments(embeddings, mask, token_type_ids)
        segments = self.segments(input_ids, mask, token_type_ids)
        vector, weights = self.encode(embeddings, segments, mask, output_attentions)
        loss, logits = self.to_output(self.classifier(vector), labels)
        return SequenceClassifierOutput(
            loss=loss, logits=logits, attentions=weights if output_attentions else None
        )
