"""Tiny random models of images and texts of every family that people bring, with their processors."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from types import SimpleNamespace
from typing import Any

import numpy as np
import torch
import transformers as hf
from PIL import Image
from tokenizers import Tokenizer, models, pre_tokenizers
from transformers import PreTrainedModel, PreTrainedTokenizerFast
from transformers.models.clip.image_processing_pil_clip import CLIPImageProcessorPil
from transformers.models.gemma3.image_processing_pil_gemma3 import Gemma3ImageProcessorPil
from transformers.models.got_ocr2.image_processing_pil_got_ocr2 import GotOcr2ImageProcessorPil
from transformers.models.idefics3.image_processing_pil_idefics3 import Idefics3ImageProcessorPil
from transformers.models.llava_next.image_processing_pil_llava_next import LlavaNextImageProcessorPil
from transformers.models.llava_onevision.image_processing_pil_llava_onevision import (
    LlavaOnevisionImageProcessorPil,
)
from transformers.models.qwen2_vl.image_processing_pil_qwen2_vl import Qwen2VLImageProcessorPil
from transformers.models.siglip.image_processing_pil_siglip import SiglipImageProcessorPil

SENTENCE = "what is the cat dog doing sleeping at top left right bottom in image ? A : yes no one two"
WORDS = SENTENCE.split()
PATCH = 4
TEXT: dict[str, Any] = {
    "hidden_size": 16,
    "num_hidden_layers": 2,
    "num_attention_heads": 2,
    "num_key_value_heads": 1,
    "intermediate_size": 24,
    "pad_token_id": 0,
    "bos_token_id": 2,
    "eos_token_id": 3,
}
VISION: dict[str, Any] = {
    "hidden_size": 16,
    "num_hidden_layers": 2,
    "num_attention_heads": 2,
    "intermediate_size": 24,
    "patch_size": PATCH,
}
EXTRA: dict[str, dict[str, str]] = {
    "gemma3": {"image_token": "<soft>", "boi_token": "<boi>", "eoi_token": "<eoi>"},
    "internvl": {
        "start_image_token": "<img>", "end_image_token": "</img>", "context_image_token": "<image>",
        "video_token": "<video>",
    },
}  # fmt: skip


def tokenizer(name: str) -> PreTrainedTokenizerFast:
    """Words split at blanks."""
    extra = EXTRA.get(name, {})
    marks = ["<image>", "<video>", *extra.values(), "<fake_token_around_image>", "<global-img>"]
    marks += [f"<row_{row}_col_{column}>" for row in range(1, 4) for column in range(1, 4)]
    marks += ["<end_of_utterance>"]
    vocabulary = ["[PAD]", "[UNK]", "<s>", "</s>", *dict.fromkeys(marks), *WORDS]
    made = Tokenizer(models.WordLevel({word: number for number, word in enumerate(vocabulary)}, "[UNK]"))
    made.pre_tokenizer = pre_tokenizers.WhitespaceSplit()
    own = PreTrainedTokenizerFast(
        tokenizer_object=made, unk_token="[UNK]", pad_token="[PAD]", bos_token="<s>", eos_token="</s>",
        extra_special_tokens=extra or None,
    )  # fmt: skip
    own.add_special_tokens({"additional_special_tokens": list(dict.fromkeys(marks))})
    return own


def no_videos(processor: type) -> type:
    """A class of processors that want a processor of videos, which needs torchvision."""

    class WithoutVideos(processor):  # type: ignore[misc,valid-type]
        def check_argument_for_proper_class(self, argument_name: str, argument: Any) -> Any:
            if argument_name == "video_processor":
                return type(argument)
            return super().check_argument_for_proper_class(argument_name, argument)

    WithoutVideos.__name__ = processor.__name__
    return WithoutVideos


VIDEOS = SimpleNamespace(merge_size=2, model_input_names=["pixel_values_videos"])


def text_config(kind: str, words: int, **more: Any) -> dict[str, Any]:
    """The configuration of a language model."""
    return {"model_type": kind, **TEXT, "vocab_size": words, **more}


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


FAMILIES: dict[str, Callable[[Any], tuple[PreTrainedModel, Any]]] = {
    one.__name__: one
    for one in (
        llava, llava_next, llava_onevision, qwen2_vl, qwen2_5_vl, paligemma, gemma3, idefics3, internvl,
    )
}  # fmt: skip


@cache
def build(name: str) -> tuple[PreTrainedModel, Any]:
    """A model with weights large enough that attention is far from uniform, always the same, and its
    processor."""
    torch.manual_seed(0)
    model, processor = FAMILIES[name](tokenizer(name))
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
