"""Tiny models that find objects in images."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

import torch
import transformers as hf
from torch import nn
from transformers import PreTrainedConfig, PreTrainedModel
from transformers.modeling_outputs import ModelOutput

from segmenters import random_model

SIZE, SIDE = 32, 4
NAMES = {0: "cat", 1: "dog"}
SMALL = {
    "encoder_layers": 1, "decoder_layers": 1, "d_model": 16, "encoder_attention_heads": 2,
    "decoder_attention_heads": 2, "encoder_ffn_dim": 24, "decoder_ffn_dim": 24, "num_queries": 5,
    "id2label": NAMES,
}  # fmt: skip


def backbone() -> hf.ResNetConfig:
    """A ResNet of four stages."""
    return hf.ResNetConfig(
        embedding_size=8, hidden_sizes=[8, 8, 8, 16], depths=[1, 1, 1, 1], layer_type="basic",
        out_features=["stage4"],
    )  # fmt: skip


CONFIGS = {
    "detr": (
        hf.DetrForObjectDetection,
        lambda: hf.DetrConfig(backbone_config=backbone(), **SMALL),
    ),
    "yolos": (
        hf.YolosForObjectDetection,
        lambda: hf.YolosConfig(
            image_size=[SIZE, SIZE], patch_size=8, hidden_size=16, num_hidden_layers=2, num_attention_heads=2,
            intermediate_size=24, num_detection_tokens=5, id2label=NAMES,
        ),
    ),
    "table": (
        hf.TableTransformerForObjectDetection,
        lambda: hf.TableTransformerConfig(backbone_config=backbone(), **SMALL),
    ),
    "conditional": (
        hf.ConditionalDetrForObjectDetection,
        lambda: hf.ConditionalDetrConfig(backbone_config=backbone(), **SMALL),
    ),
}  # fmt: skip


@cache
def detector(kind: str) -> PreTrainedModel:
    """A random model."""
    return random_model(*CONFIGS[kind])


@dataclass
class Found(ModelOutput):
    """Classes and boxes."""

    logits: torch.Tensor | None = None
    pred_boxes: torch.Tensor | None = None


class QuarterConfig(PreTrainedConfig):
    model_type = "quarter"


class QuarterForObjectDetection(PreTrainedModel):
    """Four boxes, one for each quarter of the image. The first patch of the quarter says which animal is
    there: bright or dark. The last box is empty."""

    config_class = QuarterConfig
    main_input_name = "pixel_values"

    def __init__(self, config):
        super().__init__(config)
        self.patches = nn.Conv2d(3, 1, SIZE // SIDE, SIZE // SIDE, bias=False)
        nn.init.constant_(self.patches.weight, (SIDE / SIZE) ** 2)
        self.post_init()

    def _init_weights(self, module):
        pass

    def forward(self, pixel_values):
        bright = self.patches(pixel_values)[:, 0, ::2, ::2].flatten(1)  # [b, 4]
        nothing = torch.tensor([-2.0, -2.0, -2.0, 9.0]).expand_as(bright)
        middles = torch.tensor([[0.25, 0.25], [0.75, 0.25], [0.25, 0.75], [0.75, 0.75]])
        boxes = torch.cat([middles, torch.full((4, 2), 0.5)], dim=1).expand(len(bright), -1, -1)
        return Found(torch.stack([-bright, bright, nothing], dim=-1), boxes)


def quarter_model() -> QuarterForObjectDetection:
    """The planted model."""
    return QuarterForObjectDetection(QuarterConfig(id2label=NAMES)).eval()
