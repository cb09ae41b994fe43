"""A ViT whose vectors of patches come from small convolutions, for a few thousand images."""

import math
from typing import Any

import torch
from huggingface_hub.dataclasses import strict
from jaxtyping import Float
from torch import Tensor, nn
from transformers import ViTConfig, ViTForImageClassification
from transformers import initialization as init


@strict
class ConvolutionalViTConfig(ViTConfig):
    """Configuration of `ConvolutionalViTForImageClassification`; ``patch_size`` is a power of two."""

    model_type = "glasshead-vit"


class ConvolutionalStem(nn.Module):
    """x ← pool(max(0, conv(x))), log₂(patch_size) times: each halves rows and columns.

    Convolutions of 3 × 3 pixels without biases, the largest of 3 × 3 with step 2. So a vector stands where
    its patch does, and sees some pixels of its neighbours too. ``stride`` is the side of a patch.

    Source: Hassani et al. (2021), Escaping the big data paradigm with compact transformers, section 3.3.
    """

    makes_patches = True

    def __init__(self, config: ConvolutionalViTConfig) -> None:
        super().__init__()
        side, blocks = config.patch_size, []
        assert isinstance(side, int)  # as `VisionConfig` builds it
        self.stride = side, side
        for number in range(round(math.log2(side))):
            channels = config.hidden_size if number else config.num_channels
            blocks += [
                nn.Conv2d(channels, config.hidden_size, kernel_size=3, padding=1, bias=False),
                nn.ReLU(),
                nn.MaxPool2d(kernel_size=3, stride=2, padding=1),
            ]
        self.blocks = nn.Sequential(*blocks)

    @property
    def weight(self) -> Tensor:
        """That of the first convolution, by whose type models cast their pixels."""
        return next(self.parameters())

    def forward(self, pixel_values: Float[Tensor, "b c h w"]) -> Float[Tensor, "b d rows columns"]:
        patches: Tensor = self.blocks(pixel_values)
        return patches


class ConvolutionalViTForImageClassification(ViTForImageClassification):
    """Transformers' ViT with a `ConvolutionalStem` instead of one linear map of each patch."""

    config_class = ConvolutionalViTConfig

    def __init__(self, config: ConvolutionalViTConfig) -> None:
        super().__init__(config)
        self.vit.embeddings.patch_embeddings.projection = ConvolutionalStem(config)  # type: ignore[assignment]
        self.post_init()

    @torch.no_grad()
    def _init_weights(self, module: Any) -> None:
        if isinstance(module, nn.Conv2d):
            init.kaiming_normal_(module.weight, nonlinearity="relu")
        else:
            super()._init_weights(module)
