"""Which family of image classifiers can do what: docs/reference/image-families.md, computed, written and read
again.

`make families` computes every row and writes the page; the tests compute rows anew and compare.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cache, partial
from pathlib import Path
from typing import Any

import torch
import transformers as hf
from transformers import PreTrainedModel
from transformers.models.auto.configuration_auto import CONFIG_MAPPING
from transformers.models.auto.modeling_auto import (
    MODEL_FOR_IMAGE_CLASSIFICATION_MAPPING_NAMES,
    MODEL_FOR_SEMANTIC_SEGMENTATION_MAPPING_NAMES,
)
from transformers.models.gemma3.image_processing_pil_gemma3 import Gemma3ImageProcessorPil
from transformers.models.siglip2.image_processing_pil_siglip2 import Siglip2ImageProcessorPil

import glasshead
from family_table import Row, outcome, page
from image_families import CLASSES, pictures, processor, rows
from segmenters import segmented, segmenting_processor

PAGE = Path(__file__).parents[1] / "docs" / "reference" / "image-families.md"
SIZE = 32
HEAD = """# Families of image classifiers

What can be explained and audited in an image classifier of each family of Transformers: every entry of
`AutoModelForImageClassification` and of `AutoModelForSemanticSegmentation`. The first column is the
`model_type` in its `config.json`. A number refers to the reason below the table why something does not
work.

Where all layers read the patches of a whole image, as in a ViT, the units are these patches. Everywhere else
(convolutions, windows, merged patches) the image is cut into up to 14 × 14 equal parts, and these are the
units. Support is detected at run time, not from a list.

The other methods are no different: those of attention need it, as `attention` does, and those of pixels
(`gradient-l2`, `erasure-blur`, …) do not.

"""
TAIL = """
Every row was computed with a tiny random classifier of the family (`make families`), and tests compute it
anew.
"""
METHODS = (
    "attention", "gradient", "captum:integrated-gradients", "grad-cam", "erasure-neutral-colour",
    "erasure-masked",
)  # fmt: skip
OTHERS = ("audit", "ranking")
VIT: dict[str, Any] = {
    "hidden_size": 16,
    "num_hidden_layers": 2,
    "num_attention_heads": 2,
    "intermediate_size": 24,
    "image_size": SIZE,
    "patch_size": 8,
}
SWIN = {"embed_dim": 8, "depths": [1, 1], "num_heads": [1, 2], "window_size": 4, "image_size": SIZE}
PYRAMID = {"hidden_sizes": [8, 8, 16, 16], "depths": [1, 1, 1, 1]}
SCALED = {**PYRAMID, "layer_scale_init_value": 1.0}
EMBEDDED = {**PYRAMID, "embedding_size": 8}
ATTENDING = {**PYRAMID, "image_size": SIZE, "num_attention_heads": [1, 1, 2, 2]}
TEXT = {"hidden_size": 16, "num_hidden_layers": 1, "vocab_size": 9}
TOWERS = {"vision_config": VIT, "text_config": TEXT}
OPTIONS: dict[str, dict[str, Any]] = {
    "beit": VIT,
    "bit": {"embedding_size": 32, "hidden_sizes": [128] * 4, "depths": [1, 1, 1, 1]},
    "clip": {**TOWERS, "projection_dim": 8},
    "convnext": SCALED,
    "convnextv2": SCALED,
    "cvt": {"embed_dim": [8, 8, 16], "num_heads": [1, 1, 2], "depth": [1, 2, 3]},
    "data2vec-vision": VIT,
    "deit": VIT,
    "dinov2": {**VIT, "mlp_ratio": 2},
    "dinov2_with_registers": {**VIT, "mlp_ratio": 2, "num_register_tokens": 2},
    "donut-swin": SWIN,
    "efficientnet": {
        "image_size": SIZE,
        "width_coefficient": 0.2,
        "depth_coefficient": 0.2,
        "hidden_dim": 256,
    },
    "focalnet": {
        "image_size": SIZE,
        "embed_dim": 8,
        "hidden_sizes": [8, 16],
        "depths": [1, 1],
        "focal_levels": [1, 1],
        "focal_windows": [3, 3],
    },
    "hgnet_v2": {
        **EMBEDDED,
        "stem_channels": [3, 8, 8],
        "stage_in_channels": [8, 8, 8, 16],
        "stage_mid_channels": [8, 8, 8, 8],
        "stage_out_channels": [8, 8, 16, 16],
        "stage_num_blocks": [1, 1, 1, 1],
        "stage_numb_of_layers": [1, 1, 1, 1],
    },
    "hiera": {
        "image_size": [SIZE, SIZE],
        "embed_dim": 8,
        "depths": [1, 1],
        "num_heads": [1, 2],
        "num_query_pool": 1,
    },
    "ijepa": VIT,
    "imagegpt": {"n_embd": 16, "n_layer": 2, "n_head": 2, "n_positions": 64, "vocab_size": 17},
    "levit": {
        "image_size": SIZE,
        "hidden_sizes": [16, 16, 16],
        "num_attention_heads": [1, 2, 2],
        "depths": [1, 1, 1],
        "key_dim": [8, 8, 8],
    },
    "metaclip_2": {**TOWERS, "projection_dim": 8},
    "mobilenet_v1": {"image_size": SIZE, "depth_multiplier": 0.25, "min_depth": 4},
    "mobilenet_v2": {
        "image_size": SIZE,
        "depth_multiplier": 0.25,
        "min_depth": 4,
        "depth_divisible_by": 4,
    },
    "mobilevit": {
        "image_size": SIZE,
        "hidden_sizes": [16, 16, 16],
        "neck_hidden_sizes": [8, 8, 8, 16, 16, 16, 16],
        "num_attention_heads": 2,
    },
    "mobilevitv2": {"image_size": 64, "width_multiplier": 0.25},
    "perceiver": {
        "num_latents": 4,
        "d_latents": 16,
        "d_model": 16,
        "num_blocks": 1,
        "num_self_attends_per_block": 1,
        "num_self_attention_heads": 2,
        "num_cross_attention_heads": 1,
        "image_size": SIZE,
    },
    "poolformer": PYRAMID,
    "pp_lcnet": {"scale": 0.25},
    "pvt": {**ATTENDING, "num_labels": 3, "sequence_reduction_ratios": [2, 2, 1, 1]},
    "pvt_v2": {**ATTENDING, "sr_ratios": [2, 2, 1, 1]},
    "regnet": {**EMBEDDED, "groups_width": 8},
    "resnet": EMBEDDED,
    "segformer": {**ATTENDING, "sr_ratios": [2, 2, 1, 1]},
    "shieldgemma2": {
        "vision_config": VIT,
        "text_config": {
            **TEXT,
            "intermediate_size": 16,
            "num_attention_heads": 1,
            "num_key_value_heads": 1,
            "head_dim": 16,
        },
        "mm_tokens_per_image": 16,
    },
    "siglip": TOWERS,
    "siglip2": {"vision_config": {**VIT, "num_patches": 16}, "text_config": TEXT},
    "swiftformer": {"image_size": SIZE, "depths": [1, 1, 1, 1], "embed_dims": [8, 8, 16, 16]},
    "swin": SWIN,
    "swinv2": SWIN,
    "textnet": {
        "stem_out_channels": 8,
        "stem_num_channels": 3,
        "hidden_sizes": [8, 8, 8, 8, 16],
        "conv_layer_kernel_sizes": [[[3, 3]], [[3, 3]], [[3, 3]], [[3, 3]]],
        "conv_layer_strides": [[1], [2], [2], [2]],
    },
    "vit": VIT,
    "vit_msn": VIT,
}
"""Options of the configuration of each family."""
PYRAMID_OF_BEIT = {
    **VIT, "num_hidden_layers": 4, "out_indices": [1, 2, 3, 4], "pool_scales": [1, 2],
    "use_auxiliary_head": False,
}  # fmt: skip
SEGMENTING: dict[str, dict[str, Any]] = {
    "beit": PYRAMID_OF_BEIT,
    "data2vec-vision": PYRAMID_OF_BEIT,
    "dpt": {
        **VIT, "num_hidden_layers": 4, "backbone_out_indices": [0, 1, 2, 3], "neck_hidden_sizes": [8] * 4,
        "fusion_hidden_size": 8, "is_hybrid": False,
    },
    "upernet": {
        "backbone_config": hf.SwinConfig(**SWIN, out_features=["stage1", "stage2"]), "hidden_size": 8,
        "pool_scales": [1, 2], "use_auxiliary_head": False,
    },
}  # fmt: skip
"""Options of families that give each pixel a class, where they differ."""
NOT_TINY = {
    "sapiens2": "its configuration names no sizes, so there is no tiny one",
    "tipsv2_dpt": "its smallest configuration has 110 million parameters",
}
"""Families of which no tiny model can be made."""
SIZES = {"bit": 64, "mobilevitv2": 64}
"""The side of images, where it is not `SIZE`."""
PROCESSORS: dict[str, Any] = {
    "shieldgemma2": partial(Gemma3ImageProcessorPil, size={"height": SIZE, "width": SIZE}),
    "siglip2": partial(Siglip2ImageProcessorPil, patch_size=8, max_num_patches=16),
}
"""The image processor of families that read what that of a ViT does not make."""
PACKAGES = {"dinat": "natten", "timm_wrapper": "timm"}
"""Families that need a package that tests do not install."""


def families() -> dict[str, tuple[str, str]]:
    """The name of a row, its model type and its class: of most families one."""
    found = {}
    for kind, classes in MODEL_FOR_IMAGE_CLASSIFICATION_MAPPING_NAMES.items():
        classes = (classes,) if isinstance(classes, str) else classes
        for name in classes:
            found[kind if len(classes) == 1 else f"{kind} ({name})"] = (kind, name)
    segmenting = MODEL_FOR_SEMANTIC_SEGMENTATION_MAPPING_NAMES.items()
    return found | {f"{kind} (each pixel)": (kind, str(name)) for kind, name in segmenting}


def segments(name: str) -> bool:
    """Whether a class gives each pixel a class."""
    return name in MODEL_FOR_SEMANTIC_SEGMENTATION_MAPPING_NAMES.values()


@cache
def build(kind: str, name: str) -> PreTrainedModel:
    """A tiny random classifier, whose numbers neither fade nor explode from layer to layer."""
    names = dict(enumerate(CLASSES))
    labels = {"id2label": names, "label2id": {label: number for number, label in names.items()}}
    torch.manual_seed(0)
    options = SEGMENTING.get(kind, OPTIONS.get(kind, {})) if segments(name) else OPTIONS[kind]
    model: PreTrainedModel = getattr(hf, name)(CONFIG_MAPPING[kind](**options, **labels)).eval()
    for parameter in model.parameters():
        if parameter.ndim > 1:
            torch.nn.init.normal_(parameter, std=1.5 * parameter[0].numel() ** -0.5)
    return model


def row_of(kind: str, name: str, methods: Sequence[str] = METHODS) -> Row:
    """What a classifier of the family can do; of the methods, some."""
    if kind in PACKAGES:
        return dict.fromkeys((*methods, *OTHERS), f"not tried, since it needs the package {PACKAGES[kind]}")
    if segments(name) and kind in NOT_TINY:
        return dict.fromkeys((*methods, *OTHERS), f"not tried: {NOT_TINY[kind]}")
    model, size = build(kind, name), SIZES.get(kind, SIZE)
    images = pictures(1, size)
    reader = PROCESSORS[kind]() if kind in PROCESSORS else processor(size)
    data = rows(6, size=size)
    if segments(name):
        reader, data = segmenting_processor(size), segmented(6)
    asked: dict[str, Callable[[], object]] = {
        method: partial(glasshead.explain, model, images, tokenizer=reader, method=method)
        for method in methods
    }
    options = {"tokenizer": reader, "limit": 3, "blocks": 2}
    asked |= {
        "audit": lambda: glasshead.audit(model, data, draws=2, **options),
        "ranking": lambda: glasshead.rank(model, data, ["gradient", "random"], removals=["blur"], **options),
    }
    return {title: outcome(attempt).replace(name, "the model") for title, attempt in asked.items()}


if __name__ == "__main__":
    PAGE.write_text(page({row: row_of(*family) for row, family in families().items()}, HEAD, TAIL))
