"""Tiny models that give every pixel of an image a class, and images with masks that they read."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from io import BytesIO

import numpy as np
import torch
import transformers as hf
from datasets import Dataset, Features
from datasets import Image as ImageFeature
from PIL import Image
from torch import nn
from transformers import PreTrainedConfig, PreTrainedModel
from transformers.modeling_outputs import SemanticSegmenterOutput
from transformers.models.segformer.image_processing_pil_segformer import SegformerImageProcessorPil

NAMES = {0: "sky", 1: "road", 2: "tree"}
SIZE, SIDE = 32, 4
"""The side of images, and how many patches it has."""
CONFIGS = {
    "beit": (
        hf.BeitForSemanticSegmentation,
        lambda: hf.BeitConfig(
            image_size=SIZE, patch_size=8, hidden_size=16, num_hidden_layers=4, num_attention_heads=2,
            intermediate_size=24, out_indices=[1, 2, 3, 4], pool_scales=[1, 2], use_auxiliary_head=False,
            id2label=NAMES,
        ),
    ),
    "segformer": (
        hf.SegformerForSemanticSegmentation,
        lambda: hf.SegformerConfig(
            num_encoder_blocks=2, depths=[1, 1], sr_ratios=[2, 1], hidden_sizes=[8, 16], patch_sizes=[7, 3],
            strides=[4, 2], num_attention_heads=[1, 2], mlp_ratios=[2, 2], decoder_hidden_size=16,
            id2label=NAMES,
        ),
    ),
    "mobilevit": (
        hf.MobileViTForSemanticSegmentation,
        lambda: hf.MobileViTConfig(
            image_size=SIZE, hidden_sizes=[16, 16, 16], neck_hidden_sizes=[8, 8, 8, 16, 16, 16, 16],
            num_attention_heads=2, id2label=NAMES,
        ),
    ),
}  # fmt: skip


@cache
def segmenter(kind: str) -> PreTrainedModel:
    """A random model."""
    return random_model(*CONFIGS[kind])


def random_model(cls: type[PreTrainedModel], config: Callable[[], PreTrainedConfig]) -> PreTrainedModel:
    """A random model whose numbers neither fade nor explode from layer to layer."""
    torch.manual_seed(0)
    model = cls(config()).eval()
    for parameter in model.parameters():
        if parameter.ndim > 1:
            nn.init.normal_(parameter, std=1.5 * parameter[0].numel() ** -0.5)
    return model


class NeighbourConfig(PreTrainedConfig):
    model_type = "neighbour"


class NeighbourForSemanticSegmentation(PreTrainedModel):
    """The class of a place is that of the patch to the left of it: bright or dark."""

    config_class = NeighbourConfig
    main_input_name = "pixel_values"

    def __init__(self, config):
        super().__init__(config)
        self.patches = nn.Conv2d(3, 1, SIZE // SIDE, SIZE // SIDE, bias=False)
        nn.init.constant_(self.patches.weight, (SIDE / SIZE) ** 2 / 4)
        self.post_init()

    def _init_weights(self, module):
        pass

    def forward(self, pixel_values):
        bright = self.patches(pixel_values).roll(1, dims=3)
        bright = nn.functional.interpolate(bright, pixel_values.shape[2:], mode="nearest")
        return SemanticSegmenterOutput(logits=torch.cat([-bright, bright], dim=1))


def neighbour_model() -> NeighbourForSemanticSegmentation:
    """The planted model."""
    return NeighbourForSemanticSegmentation(NeighbourConfig(id2label={0: "dark", 1: "bright"})).eval()


def segmenting_processor(size: int = SIZE, **options) -> SegformerImageProcessorPil:
    """What makes pixels of images and of masks."""
    return SegformerImageProcessorPil(size={"height": size, "width": size}, **options)


def photo(seed: int = 0) -> Image.Image:
    """Patches of random brightness."""
    values = np.random.default_rng(seed).integers(0, 256, (SIDE, SIDE, 1), dtype=np.uint8)
    return Image.fromarray(values.repeat(SIZE // SIDE, 0).repeat(SIZE // SIDE, 1).repeat(3, 2))


def mask(seed: int = 0) -> Image.Image:
    """Of each patch whether the one to the left of it is bright."""
    bright = np.asarray(photo(seed))[:, :, 0] > 127
    return Image.fromarray(np.roll(bright, SIZE // SIDE, axis=1).astype(np.uint8))


def cell(image: Image.Image, **options) -> dict:
    file = BytesIO()
    image.save(file, "PNG", **options)
    return {"bytes": file.getvalue(), "path": None}


def segmented(count: int, masks=mask) -> Dataset:
    """Photos with their masks."""
    features = Features({"image": ImageFeature(decode=False), "annotation": ImageFeature(decode=False)})
    images = [cell(photo(seed)) for seed in range(count)]
    return Dataset.from_dict(
        {"image": images, "annotation": [cell(masks(seed)) for seed in range(count)]}, features=features
    )
