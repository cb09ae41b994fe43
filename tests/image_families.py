"""Tiny random classifiers of images of every family that people bring, and images that they read."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
import torch
import transformers as hf
from datasets import ClassLabel, Dataset, Features
from datasets import Image as ImageFeature
from PIL import Image
from transformers import PreTrainedModel
from transformers.models.vit.image_processing_pil_vit import ViTImageProcessorPil

from glasshead.data import Picture, as_picture

SIZE, PATCH = 12, 4
SIZES: dict[str, Any] = {
    "hidden_size": 16,
    "num_hidden_layers": 2,
    "num_attention_heads": 2,
    "intermediate_size": 24,
    "image_size": SIZE,
    "patch_size": PATCH,
    "initializer_range": 0.3,
}
CLASSES = ("cat", "dog", "ship")
CLIP = {
    "projection_dim": 8,
    "vision_config": SIZES,
    "text_config": {"hidden_size": 16, "num_hidden_layers": 1},
}
FAMILIES: dict[str, tuple[str, Any, dict[str, Any]]] = {
    "vit": ("ViTForImageClassification", hf.ViTConfig, SIZES),
    "deit": ("DeiTForImageClassification", hf.DeiTConfig, SIZES),
    "deit-teacher": ("DeiTForImageClassificationWithTeacher", hf.DeiTConfig, SIZES),
    "beit": ("BeitForImageClassification", hf.BeitConfig, {**SIZES, "use_relative_position_bias": True}),
    "dinov2": ("Dinov2ForImageClassification", hf.Dinov2Config, {**SIZES, "mlp_ratio": 2}),
    "dinov2-registers": (
        "Dinov2WithRegistersForImageClassification", hf.Dinov2WithRegistersConfig,
        {**SIZES, "mlp_ratio": 2, "num_register_tokens": 2},
    ),
    "clip": ("CLIPForImageClassification", hf.CLIPConfig, CLIP),
    "siglip": (
        "SiglipForImageClassification", hf.SiglipConfig,
        {"vision_config": {**SIZES, "vision_use_head": False}},
    ),
}  # fmt: skip
"""Class, configuration and its options."""
SPECIAL = {"deit": 2, "deit-teacher": 2, "dinov2-registers": 3, "siglip": 0}
"""Tokens before the patches, where it is not one."""


@cache
def image_model(name: str = "vit") -> PreTrainedModel:
    """The model, always the same, with weights large enough that attention is far from uniform."""
    kind, config, options = FAMILIES[name]
    torch.manual_seed(0)
    names = dict(enumerate(CLASSES))
    labels = {"id2label": names, "label2id": {label: index for index, label in names.items()}}
    settings = config(**options, **labels)
    settings.architectures = [kind]
    model: PreTrainedModel = getattr(hf, kind)(settings)
    with torch.no_grad():
        for parameter in model.parameters():
            if parameter.ndim > 1:
                parameter.normal_(0.0, 0.3)
    return model.eval()


def processor(size: int = SIZE) -> ViTImageProcessorPil:
    """What scales images to the size that the models read."""
    return ViTImageProcessorPil(size={"height": size, "width": size})


def pictures(count: int = 3, size: int = SIZE) -> list[Picture]:
    """Images in which no two patches are alike."""
    rng = np.random.default_rng(0)
    noise = rng.integers(0, 256, (count, size, size, 3), dtype=np.uint8)
    return [Picture(f"image {n}", as_picture(Image.fromarray(each)).content) for n, each in enumerate(noise)]


def rows(count=24, names=CLASSES, size=SIZE):
    """Images with labels, as `datasets` has them."""
    features = Features({"image": ImageFeature(), "label": ClassLabel(names=list(names))})
    cells = [
        {"bytes": each.content, "path": f"{number}.png"} for number, each in enumerate(pictures(count, size))
    ]
    labels = [number % len(names) for number in range(count)]
    return Dataset.from_dict({"image": cells, "label": labels}, features=features)
