"""Tiny models of images and texts whose processors, or language models, are in some way of their own."""

from __future__ import annotations

import sys
from typing import Any
from unittest.mock import patch

import transformers as hf
from transformers import PreTrainedModel
from transformers.models.blip.image_processing_pil_blip import BlipImageProcessorPil
from transformers.models.pixtral import image_processing_pil_pixtral
from transformers.models.qwen2_vl.image_processing_pil_qwen2_vl import Qwen2VLImageProcessorPil
from transformers.models.smolvlm import processing_smolvlm
from transformers.models.smolvlm.image_processing_pil_smolvlm import SmolVLMImageProcessorPil

from image_text_parts import PATCH, VIDEOS, VISION, no_videos, text_config


def qwen3_vl(own: Any) -> tuple[PreTrainedModel, Any]:
    """Its image goes to the first layers, too."""
    marks = {
        f"{name}_token_id": own.convert_tokens_to_ids(f"<{name}>") for name in ("image", "video")
    } | {"vision_start_token_id": 2, "vision_end_token_id": 3}  # fmt: skip
    rope = {"rope_type": "default", "mrope_section": [1, 1, 2], "rope_theta": 1e4, "mrope_interleaved": True}
    config = hf.Qwen3VLConfig(
        vision_config={
            "depth": 2, "hidden_size": 16, "num_heads": 2, "intermediate_size": 24, "patch_size": PATCH,
            "spatial_merge_size": 2, "temporal_patch_size": 2, "out_hidden_size": 16,
            "num_position_embeddings": 64, "deepstack_visual_indexes": [0, 1],
        },
        text_config=text_config("qwen3_vl_text", len(own), head_dim=8, rope_parameters=rope), **marks,
    )  # fmt: skip
    images = Qwen2VLImageProcessorPil(
        patch_size=PATCH, merge_size=2, temporal_patch_size=2,
        size={"shortest_edge": 8 * 8 * 4, "longest_edge": 8 * 8 * 30},
    )  # fmt: skip
    own.image_token, own.video_token = "<image>", "<video>"
    return hf.Qwen3VLForConditionalGeneration(config), no_videos(hf.Qwen3VLProcessor)(images, own, VIDEOS)


def pixtral_processor(own: Any, merge: int = 1) -> Any:
    """Its rows end with a mark of a new line, which is no image token. Its file asks for torchvision, and
    needs nothing that the image processor for Pillow has not."""
    without = {"transformers.models.pixtral.image_processing_pixtral": image_processing_pil_pixtral}
    with patch.dict(sys.modules, without):
        from transformers.models.pixtral.processing_pixtral import PixtralProcessor

    images = image_processing_pil_pixtral.PixtralImageProcessorPil(
        size={"longest_edge": 32}, patch_size={"height": PATCH, "width": PATCH}
    )
    return PixtralProcessor(
        images, own, patch_size=PATCH, spatial_merge_size=merge, image_token="<image>",
        image_break_token="<row_1_col_1>", image_end_token="<row_1_col_2>",
    )  # fmt: skip


def pixtral(own: Any) -> tuple[PreTrainedModel, Any]:
    """LLaVA's class with the vision tower of Pixtral."""
    config = hf.LlavaConfig(
        vision_config={"model_type": "pixtral", **VISION, "image_size": 32},
        text_config=text_config("mistral", len(own), head_dim=8), vision_feature_layer=-1,
        vision_feature_select_strategy="full", image_token_id=own.convert_tokens_to_ids("<image>"),
    )  # fmt: skip
    return hf.LlavaForConditionalGeneration(config), pixtral_processor(own)


def mistral3(own: Any) -> tuple[PreTrainedModel, Any]:
    """It merges 2 × 2 patches."""
    config = hf.Mistral3Config(
        vision_config={"model_type": "pixtral", **VISION, "image_size": 32},
        text_config=text_config("mistral", len(own), head_dim=8), spatial_merge_size=2,
        image_token_id=own.convert_tokens_to_ids("<image>"),
    )  # fmt: skip
    return hf.Mistral3ForConditionalGeneration(config), pixtral_processor(own, 2)


def blip(own: Any, *, instructed: bool = False) -> tuple[PreTrainedModel, Any]:
    """BLIP-2 and InstructBLIP: their forward wants pixels with every text."""
    kinds: Any = (hf.Blip2Config, hf.Blip2ForConditionalGeneration)
    if instructed:
        kinds = (hf.InstructBlipConfig, hf.InstructBlipForConditionalGeneration)
    sizes = {"hidden_size": 16, "num_hidden_layers": 2, "num_attention_heads": 2}
    config = kinds[0](
        vision_config={**VISION, "image_size": 16},
        qformer_config={
            **sizes, "vocab_size": len(own), "intermediate_size": 24, "encoder_hidden_size": 16,
            "pad_token_id": 0,
        },
        text_config={
            "model_type": "opt", **sizes, "ffn_dim": 24, "vocab_size": len(own), "word_embed_proj_dim": 16,
            "pad_token_id": 0, "bos_token_id": 2, "eos_token_id": 3, "max_position_embeddings": 128,
        },
        num_query_tokens=4, image_token_index=own.convert_tokens_to_ids("<image>"),
    )  # fmt: skip
    images = BlipImageProcessorPil(size={"height": 16, "width": 16})
    processor = (
        hf.InstructBlipProcessor(images, own, own, num_query_tokens=4)
        if instructed
        else hf.Blip2Processor(images, own, num_query_tokens=4)
    )
    return kinds[1](config), processor


def instructed_blip(own: Any) -> tuple[PreTrainedModel, Any]:
    return blip(own, instructed=True)


def smolvlm(own: Any) -> tuple[PreTrainedModel, Any]:
    """As Idefics3; a package that counts the frames of videos in words is not needed for images."""
    processing_smolvlm.num2words = processing_smolvlm.num2words or str
    images = SmolVLMImageProcessorPil(size={"longest_edge": 32}, max_image_size={"longest_edge": 16})
    processor = no_videos(hf.SmolVLMProcessor)(images, own, VIDEOS, image_seq_len=4)
    config = hf.SmolVLMConfig(
        vision_config={**VISION, "image_size": 16}, text_config=text_config("llama", len(own)),
        scale_factor=2, image_token_id=own.convert_tokens_to_ids("<image>"), pad_token_id=0,
    )  # fmt: skip
    return hf.SmolVLMForConditionalGeneration(config), processor
