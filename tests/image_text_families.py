"""Tiny random models of images and texts of every family that people bring, with their processors."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np
import torch
import transformers as hf
from PIL import Image
from transformers import PreTrainedModel
from transformers.models.clip.image_processing_pil_clip import CLIPImageProcessorPil
from transformers.models.deepseek_vl.image_processing_pil_deepseek_vl import DeepseekVLImageProcessorPil
from transformers.models.gemma3.image_processing_pil_gemma3 import Gemma3ImageProcessorPil
from transformers.models.glm4v.image_processing_pil_glm4v import Glm4vImageProcessorPil
from transformers.models.got_ocr2.image_processing_pil_got_ocr2 import GotOcr2ImageProcessorPil
from transformers.models.idefics2.image_processing_pil_idefics2 import Idefics2ImageProcessorPil
from transformers.models.idefics3.image_processing_pil_idefics3 import Idefics3ImageProcessorPil
from transformers.models.llava_next.image_processing_pil_llava_next import LlavaNextImageProcessorPil
from transformers.models.llava_onevision.image_processing_pil_llava_onevision import (
    LlavaOnevisionImageProcessorPil,
)
from transformers.models.qwen2_vl.image_processing_pil_qwen2_vl import Qwen2VLImageProcessorPil
from transformers.models.siglip.image_processing_pil_siglip import SiglipImageProcessorPil

from glasshead.data.watched_processor import mark_of_image
from image_text_apart import APART
from image_text_merged import MERGED
from image_text_newer import blip, instructed_blip, mistral3, pixtral, qwen3_vl, smolvlm
from image_text_parts import PATCH, VIDEOS, VISION, no_videos, text_config, tokenizer
from image_text_towers import TOWERS


def llava(own: Any) -> tuple[PreTrainedModel, Any]:
    vision = hf.CLIPVisionConfig(**VISION | {"patch_size": 8}, image_size=32)
    config = hf.LlavaConfig(
        vision_config=vision, text_config=text_config("llama", len(own)),
        image_token_id=own.convert_tokens_to_ids("<image>"),
    )  # fmt: skip
    images = CLIPImageProcessorPil(
        size={"shortest_edge": 32}, crop_size={"height": 32, "width": 32},
    )  # fmt: skip
    processor = hf.LlavaProcessor(
        images, own, patch_size=8, vision_feature_select_strategy="default", num_additional_image_tokens=1
    )
    return hf.LlavaForConditionalGeneration(config), processor


def llava_next(own: Any) -> tuple[PreTrainedModel, Any]:
    pinpoints = [[16, 32], [32, 16], [32, 32]]
    config = hf.LlavaNextConfig(
        vision_config=hf.CLIPVisionConfig(**VISION, image_size=16),
        text_config=text_config("llama", len(own)), image_grid_pinpoints=pinpoints,
        image_token_id=own.convert_tokens_to_ids("<image>"),
    )  # fmt: skip
    images = LlavaNextImageProcessorPil(
        size={"shortest_edge": 16}, crop_size={"height": 16, "width": 16}, image_grid_pinpoints=pinpoints,
    )  # fmt: skip
    processor = hf.LlavaNextProcessor(
        images, own, patch_size=PATCH, vision_feature_select_strategy="default", num_additional_image_tokens=1
    )
    return hf.LlavaNextForConditionalGeneration(config), processor


def llava_onevision(own: Any) -> tuple[PreTrainedModel, Any]:
    pinpoints = [[16, 32], [32, 16], [32, 32]]
    config = hf.LlavaOnevisionConfig(
        vision_config=hf.SiglipVisionConfig(**VISION, image_size=16, vision_use_head=False),
        text_config=text_config("qwen2", len(own)), image_grid_pinpoints=pinpoints,
        image_token_id=own.convert_tokens_to_ids("<image>"),
        video_token_id=own.convert_tokens_to_ids("<video>"),
    )  # fmt: skip
    images = LlavaOnevisionImageProcessorPil(
        size={"height": 16, "width": 16}, image_grid_pinpoints=pinpoints,
    )  # fmt: skip
    processor = no_videos(hf.LlavaOnevisionProcessor)(
        images, own, VIDEOS, num_image_tokens=16, vision_feature_select_strategy="full"
    )
    return hf.LlavaOnevisionForConditionalGeneration(config), processor


def qwen2_vl(own: Any, *, newer: bool = False) -> tuple[PreTrainedModel, Any]:
    marks = {
        f"{name}_token_id": own.convert_tokens_to_ids(f"<{name}>") for name in ("image", "video")
    } | {"vision_start_token_id": 2, "vision_end_token_id": 3}  # fmt: skip
    rope = {"rope_type": "default", "mrope_section": [1, 1, 2], "type": "default", "rope_theta": 1e4}
    text = text_config("qwen2_vl_text", len(own), rope_scaling=rope, rope_parameters=rope)
    vision = {
        "depth": 2, "embed_dim": 16, "hidden_size": 16, "num_heads": 2, "mlp_ratio": 2, "patch_size": PATCH,
        "spatial_merge_size": 2, "temporal_patch_size": 2,
    }  # fmt: skip
    kinds: Any = (hf.Qwen2VLConfig, hf.Qwen2VLForConditionalGeneration, hf.Qwen2VLProcessor)
    if newer:
        kinds = (hf.Qwen2_5_VLConfig, hf.Qwen2_5_VLForConditionalGeneration, hf.Qwen2_5_VLProcessor)
        text["model_type"] = "qwen2_5_vl_text"
        vision |= {
            "out_hidden_size": 16, "intermediate_size": 24, "window_size": 16, "fullatt_block_indexes": [1],
        }  # fmt: skip
    config = kinds[0](vision_config=vision, text_config=text, **marks)
    images = Qwen2VLImageProcessorPil(
        patch_size=PATCH, merge_size=2, temporal_patch_size=2,
        size={"shortest_edge": 8 * 8 * 4, "longest_edge": 8 * 8 * 30},
    )  # fmt: skip
    own.image_token, own.video_token = "<image>", "<video>"
    return kinds[1](config), no_videos(kinds[2])(images, own, VIDEOS)


def qwen2_5_vl(own: Any) -> tuple[PreTrainedModel, Any]:
    return qwen2_vl(own, newer=True)


def paligemma(own: Any) -> tuple[PreTrainedModel, Any]:
    images = SiglipImageProcessorPil(size={"height": 16, "width": 16})
    images.image_seq_length = 16
    processor = hf.PaliGemmaProcessor(images, own)
    config = hf.PaliGemmaConfig(
        vision_config={"model_type": "siglip_vision_model", **VISION, "image_size": 16, "projection_dim": 16},
        text_config=text_config("gemma", len(own), head_dim=8), projection_dim=16,
        image_token_id=own.convert_tokens_to_ids("<image>"),
    )  # fmt: skip
    return hf.PaliGemmaForConditionalGeneration(config), processor


def gemma3(own: Any) -> tuple[PreTrainedModel, Any]:
    images = Gemma3ImageProcessorPil(size={"height": 16, "width": 16})
    config = hf.Gemma3Config(
        vision_config={"model_type": "siglip_vision_model", **VISION, "image_size": 16},
        text_config=text_config("gemma3_text", len(own), head_dim=8, query_pre_attn_scalar=8),
        mm_tokens_per_image=4, boi_token_index=own.convert_tokens_to_ids("<boi>"),
        eoi_token_index=own.convert_tokens_to_ids("<eoi>"),
        image_token_id=own.convert_tokens_to_ids("<soft>"),
    )  # fmt: skip
    return hf.Gemma3ForConditionalGeneration(config), hf.Gemma3Processor(images, own, image_seq_length=4)


def idefics3(own: Any) -> tuple[PreTrainedModel, Any]:
    images = Idefics3ImageProcessorPil(size={"longest_edge": 32}, max_image_size={"longest_edge": 16})
    processor = hf.Idefics3Processor(images, own, image_seq_len=4)
    config = hf.Idefics3Config(
        vision_config={**VISION, "image_size": 16}, text_config=text_config("llama", len(own)),
        scale_factor=2, image_token_id=own.convert_tokens_to_ids("<image>"), pad_token_id=0,
    )  # fmt: skip
    return hf.Idefics3ForConditionalGeneration(config), processor


def internvl(own: Any) -> tuple[PreTrainedModel, Any]:
    images = GotOcr2ImageProcessorPil(size={"height": 16, "width": 16}, crop_to_patches=True, max_patches=6)
    config = hf.InternVLConfig(
        vision_config={**VISION, "image_size": [16, 16], "patch_size": [PATCH, PATCH]},
        text_config=text_config("qwen2", len(own)), image_seq_length=4, downsample_ratio=0.5,
        image_token_id=own.convert_tokens_to_ids("<image>"),
    )  # fmt: skip
    return hf.InternVLForConditionalGeneration(config), no_videos(hf.InternVLProcessor)(
        images, own, VIDEOS, image_seq_length=4
    )


def vipllava(own: Any) -> tuple[PreTrainedModel, Any]:
    config = hf.VipLlavaConfig(
        vision_config=hf.CLIPVisionConfig(**VISION | {"patch_size": 8}, image_size=32),
        text_config=text_config("llama", len(own)), vision_feature_layers=(-1, -2),
        image_token_index=own.convert_tokens_to_ids("<image>"),
    )  # fmt: skip
    return hf.VipLlavaForConditionalGeneration(config), llava(own)[1]


def aya_vision(own: Any) -> tuple[PreTrainedModel, Any]:
    images = GotOcr2ImageProcessorPil(size={"height": 16, "width": 16}, crop_to_patches=True, max_patches=6)
    config = hf.AyaVisionConfig(
        vision_config={
            "model_type": "siglip_vision_model", **VISION, "image_size": 16, "vision_use_head": False,
        },
        text_config=text_config("cohere2", len(own)), downsample_factor=2,
        image_token_index=own.convert_tokens_to_ids("<patch>"),
    )  # fmt: skip
    processor = hf.AyaVisionProcessor(
        images, own, patch_size=PATCH, img_size=16, downsample_factor=2, start_of_img_token="<sof>",
        end_of_img_token="<eof>", img_patch_token="<patch>", img_line_break_token="<br>",
    )  # fmt: skip
    return hf.AyaVisionForConditionalGeneration(config), processor


def idefics2(own: Any) -> tuple[PreTrainedModel, Any]:
    images = Idefics2ImageProcessorPil(
        size={"longest_edge": 32, "shortest_edge": 16}, do_image_splitting=False
    )  # fmt: skip
    config = hf.Idefics2Config(
        vision_config={**VISION, "image_size": 32},
        perceiver_config={
            "hidden_size": 16, "resampler_n_latents": 4, "resampler_depth": 1, "resampler_n_heads": 2,
            "resampler_head_dim": 8, "num_key_value_heads": 1,
        },
        text_config=text_config("mistral", len(own)), image_token_id=own.convert_tokens_to_ids("<image>"),
    )  # fmt: skip
    processor = hf.Idefics2Processor(images, own, image_seq_len=4)
    return hf.Idefics2ForConditionalGeneration(config), processor


def glm4v(own: Any) -> tuple[PreTrainedModel, Any]:
    own.image_token, own.video_token = "<image>", "<video>"
    rope = {
        "rope_type": "default", "mrope_section": [1, 1, 2], "rope_theta": 1e4, "partial_rotary_factor": 1.0,
    }  # fmt: skip
    images = Glm4vImageProcessorPil(
        patch_size=PATCH, merge_size=2, temporal_patch_size=2,
        size={"shortest_edge": 2 * 8 * 8 * 4, "longest_edge": 2 * 8 * 8 * 30},
    )  # fmt: skip
    marks = {
        f"{name}_token_id": own.convert_tokens_to_ids(f"<{name}>") for name in ("image", "video")
    } | {f"{name}_{end}_token_id": 2 for name in ("image", "video") for end in ("start", "end")}  # fmt: skip
    config = hf.Glm4vConfig(
        vision_config={
            "depth": 2, "hidden_size": 16, "num_heads": 2, "patch_size": PATCH, "spatial_merge_size": 2,
            "temporal_patch_size": 2, "out_hidden_size": 16, "intermediate_size": 24, "image_size": 32,
        },
        text_config=text_config("glm4v_text", len(own), rope_parameters=rope), **marks,
    )  # fmt: skip
    return hf.Glm4vForConditionalGeneration(config), no_videos(hf.Glm4vProcessor)(images, own, VIDEOS)


def deepseek_vl(own: Any) -> tuple[PreTrainedModel, Any]:
    own.image_token = "<image>"
    images = DeepseekVLImageProcessorPil(size={"height": 16, "width": 16}, min_size=4)
    config = hf.DeepseekVLConfig(
        vision_config={
            "model_type": "siglip_vision_model", **VISION, "image_size": 16, "vision_use_head": False,
        },
        text_config=text_config("llama", len(own)), image_token_id=own.convert_tokens_to_ids("<image>"),
    )  # fmt: skip
    return hf.DeepseekVLForConditionalGeneration(config), hf.DeepseekVLProcessor(
        images, own, num_image_tokens=16
    )


FAMILIES: dict[str, Callable[[Any], tuple[PreTrainedModel, Any]]] = {
    one.__name__: one
    for one in (
        llava, llava_next, llava_onevision, qwen2_vl, qwen2_5_vl, paligemma, gemma3, idefics3, internvl,
        vipllava, aya_vision, idefics2, glm4v, deepseek_vl, qwen3_vl, mistral3, pixtral, smolvlm,
    )
}  # fmt: skip
RARER = {"blip-2": blip, "instructblip": instructed_blip} | MERGED | TOWERS | APART
"""Families that are tried as a whole only."""


@cache
def build(name: str) -> tuple[PreTrainedModel, Any]:
    """A model with weights large enough that attention is far from uniform, always the same, and its
    processor."""
    torch.manual_seed(0)
    model, processor = (FAMILIES | RARER)[name](tokenizer(name))
    with torch.no_grad():
        for key, weight in model.named_parameters():
            if weight.ndim > 1:
                weight.normal_(0.0, 0.3 if "language" in key or "text" in key or "head" in key else 0.1)
    return model.eval(), processor


def photo(width: int = 96, height: int = 64, seed: int = 0) -> Image.Image:
    """A smooth random image."""
    rng = np.random.default_rng(seed)
    small = Image.fromarray(rng.integers(0, 256, (4, 6, 3), dtype=np.uint8))
    return small.resize((width, height), Image.Resampling.BICUBIC)


@torch.no_grad()
def own_pass(
    name: str, text: str, answer: str | list[int], images: list[Image.Image] | None = None
) -> tuple[Any, Any, list[int]]:
    """What a model itself says of a photo, a text and an answer, with the weights of all layers; what it is
    given, and the tokens of the answer. Several images have their marks in the text."""
    model, processor = build(name)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        both = ([photo()], [mark_of_image(processor) + text]) if images is None else ([images], [text])
        inputs = processor(images=both[0], text=both[1], return_tensors="pt")
    ids = (
        processor.tokenizer(answer, add_special_tokens=False)["input_ids"]
        if isinstance(answer, str)
        else answer
    )
    behind = name == "paligemma"  # its types tell what is behind the prompt
    for key in [*inputs]:
        if key in ("input_ids", "attention_mask") or key.endswith("token_type_ids"):
            kind = int(key == "attention_mask" or (behind and key == "token_type_ids"))
            more = torch.tensor([ids]) if key == "input_ids" else torch.full((1, len(ids)), kind)
            inputs[key] = torch.cat([inputs[key], more], dim=1)
    inputs.pop("labels", None)
    if name == "cosmos3_edge":  # its processor leaves out what its model needs
        inputs["mm_token_type_ids"] = (inputs["input_ids"] == model.config.image_token_id).long()
    model.set_attn_implementation("eager")
    try:
        output = model(**inputs, output_attentions=True)
    finally:
        model.set_attn_implementation("sdpa")
    return output, inputs, ids
