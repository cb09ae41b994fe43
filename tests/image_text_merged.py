"""Tiny models of images and texts that cut an image into as many patches as it has, and merge 2 × 2."""

from __future__ import annotations

from typing import Any

import transformers as hf
from transformers import PreTrainedModel
from transformers.models.auto.configuration_auto import CONFIG_MAPPING
from transformers.models.cohere_compass.image_processing_pil_cohere_compass import (
    CohereCompassImageProcessorPil,
)
from transformers.models.cosmos3_edge.image_processing_pil_cosmos3_edge import Cosmos3EdgeImageProcessorPil
from transformers.models.ernie4_5_vl_moe.image_processing_pil_ernie4_5_vl_moe import (
    Ernie4_5_VLMoeImageProcessorPil,
)
from transformers.models.glm4v.image_processing_pil_glm4v import Glm4vImageProcessorPil
from transformers.models.glm46v.image_processing_pil_glm46v import Glm46VImageProcessorPil
from transformers.models.glmga.image_processing_pil_glmga import GlmgaImageProcessorPil
from transformers.models.hunyuan_vl.image_processing_pil_hunyuan_vl import HunYuanVLImageProcessorPil
from transformers.models.paddleocr_vl.image_processing_pil_paddleocr_vl import PaddleOCRVLImageProcessorPil
from transformers.models.qwen2_vl.image_processing_pil_qwen2_vl import Qwen2VLImageProcessorPil
from transformers.models.video_llama_3.image_processing_pil_video_llama_3 import VideoLlama3ImageProcessorPil

from image_text_newer import pixtral_processor
from image_text_parts import PATCH, VIDEOS, VISION, no_videos, text_config

SIZE = {"shortest_edge": 8 * 8 * 4, "longest_edge": 8 * 8 * 30}
TWICE = {"shortest_edge": 2 * 8 * 8 * 4, "longest_edge": 2 * 8 * 8 * 30}
"""GLM counts the pixels of two frames."""
ENCODER = {
    "depth": 2, "hidden_size": 16, "num_heads": 2, "intermediate_size": 24, "patch_size": PATCH,
    "spatial_merge_size": 2, "temporal_patch_size": 2, "out_hidden_size": 16,
}  # fmt: skip
ROPE = {"rope_type": "default", "mrope_section": [1, 1, 2], "rope_theta": 1e4}
EXPERTS = {
    "moe_intermediate_size": 16, "num_experts": 2, "num_experts_per_tok": 1,
    "shared_expert_intermediate_size": 16,
}  # fmt: skip
LINEAR = {
    "head_dim": 8, "linear_key_head_dim": 8, "linear_value_head_dim": 8, "linear_num_key_heads": 2,
    "linear_num_value_heads": 2, "layer_types": ["linear_attention", "full_attention"],
}  # fmt: skip


def marks(own: Any, *, of_glm: bool = False) -> dict[str, int]:
    """The tokens of images and videos, and those around them."""
    own.image_token, own.video_token = "<image>", "<video>"
    ids = {f"{name}_token_id": own.convert_tokens_to_ids(f"<{name}>") for name in ("image", "video")}
    if of_glm:
        return ids | {f"{name}_{end}_token_id": 2 for name in ("image", "video") for end in ("start", "end")}
    return ids | {"vision_start_token_id": 2, "vision_end_token_id": 3}


def of_qwen(kind: str, own: Any, *, vision: dict[str, Any], **text: Any) -> tuple[PreTrainedModel, Any]:
    """A model of Qwen's line from version 3 on."""
    rope = ROPE | {"mrope_interleaved": True}
    config = CONFIG_MAPPING[kind](
        vision_config=ENCODER | {"num_position_embeddings": 64} | vision,
        text_config=text_config(f"{kind}_text", len(own), rope_parameters=rope, **text), **marks(own),
    )  # fmt: skip
    images = Qwen2VLImageProcessorPil(patch_size=PATCH, merge_size=2, temporal_patch_size=2, size=SIZE)
    return model_of(config), no_videos(hf.Qwen3VLProcessor)(images, own, VIDEOS)


def model_of(config: Any) -> PreTrainedModel:
    """A model of a configuration."""
    return hf.AutoModelForImageTextToText.from_config(config)


def qwen3_vl_moe(own: Any) -> tuple[PreTrainedModel, Any]:
    return of_qwen("qwen3_vl_moe", own, vision={"deepstack_visual_indexes": [0, 1]}, head_dim=8, **EXPERTS)


def qwen3_5(own: Any) -> tuple[PreTrainedModel, Any]:
    """A layer of linear attention, and one of attention."""
    return of_qwen("qwen3_5", own, vision={}, **LINEAR)


def qwen3_5_moe(own: Any) -> tuple[PreTrainedModel, Any]:
    return of_qwen("qwen3_5_moe", own, vision={}, **LINEAR, **EXPERTS)


def exaone4_5(own: Any) -> tuple[PreTrainedModel, Any]:
    config = hf.Exaone4_5_Config(
        vision_config=ENCODER | {"num_key_value_heads": 1, "window_size": 16, "fullatt_block_indexes": [1]},
        text_config=text_config("exaone4", len(own), sliding_window=64, sliding_window_pattern=2),
        **marks(own),
    )  # fmt: skip
    images = Qwen2VLImageProcessorPil(patch_size=PATCH, merge_size=2, temporal_patch_size=2, size=SIZE)
    return model_of(config), no_videos(hf.Exaone4_5_Processor)(images, own, VIDEOS)


def of_glm(
    kind: str, own: Any, processor: Any, images: Any, text: str, **more: Any
) -> tuple[PreTrainedModel, Any]:
    """A model of GLM-4V's line."""
    vision = ENCODER | {"image_size": 32, "model_type": text.replace("_text", "_vision")}
    config = CONFIG_MAPPING[kind](
        vision_config=vision,
        text_config=text_config(
            text, len(own), rope_parameters=ROPE | {"partial_rotary_factor": 1.0}, **more
        ),
        **marks(own, of_glm=True),
    )
    made = images(patch_size=PATCH, merge_size=2, temporal_patch_size=2, size=TWICE)
    return model_of(config), no_videos(processor)(made, own, VIDEOS)


def glm4v_moe(own: Any) -> tuple[PreTrainedModel, Any]:
    return of_glm(
        "glm4v_moe", own, hf.Glm4vProcessor, Glm4vImageProcessorPil, "glm4v_moe_text",
        moe_intermediate_size=16, n_routed_experts=2, num_experts_per_tok=1,
    )  # fmt: skip


def glm46v(own: Any) -> tuple[PreTrainedModel, Any]:
    return of_glm("glm46v", own, hf.Glm46VProcessor, Glm46VImageProcessorPil, "glm4v_text")


def glmga(own: Any) -> tuple[PreTrainedModel, Any]:
    return of_glm("glmga", own, hf.Glm46VProcessor, GlmgaImageProcessorPil, "glm4v_text")


def glm_ocr(own: Any) -> tuple[PreTrainedModel, Any]:
    return of_glm("glm_ocr", own, hf.Glm46VProcessor, Glm46VImageProcessorPil, "glm_ocr_text", head_dim=8)


def lighton_ocr(own: Any) -> tuple[PreTrainedModel, Any]:
    config = hf.LightOnOcrConfig(
        vision_config={"model_type": "pixtral", **VISION, "image_size": 32},
        text_config=text_config("qwen3", len(own), head_dim=8), spatial_merge_size=2,
        image_token_id=own.convert_tokens_to_ids("<image>"),
    )  # fmt: skip
    images = pixtral_processor(own, 2).image_processor
    return model_of(config), hf.LightOnOcrProcessor(images, own, patch_size=PATCH, spatial_merge_size=2)


def video_llama_3(own: Any) -> tuple[PreTrainedModel, Any]:
    ids = marks(own)
    config = hf.VideoLlama3Config(
        vision_config=VISION, text_config=text_config("qwen2", len(own)),
        image_token_id=ids["image_token_id"], video_token_id=ids["video_token_id"],
    )  # fmt: skip
    images = VideoLlama3ImageProcessorPil(
        patch_size=PATCH, merge_size=1, temporal_patch_size=1,
        size={"shortest_edge": 4 * 4 * 4, "longest_edge": 4 * 4 * 30},
    )  # fmt: skip
    return model_of(config), no_videos(hf.VideoLlama3Processor)(images, own, VIDEOS)


def ernie4_5_vl_moe(own: Any) -> tuple[PreTrainedModel, Any]:
    ids = marks(own, of_glm=True)
    config = hf.Ernie4_5_VLMoeConfig(
        vision_config={**ENCODER, "temporal_merge_size": 2},
        text_config=text_config(
            "ernie4_5_vl_moe_text", len(own), rope_parameters=ROPE, moe_num_experts=2, moe_k=1,
            moe_intermediate_size=[16, 16],
        ),
        **ids,
    )  # fmt: skip
    images = Ernie4_5_VLMoeImageProcessorPil(patch_size=PATCH, merge_size=2, temporal_patch_size=1, size=SIZE)
    return model_of(config), no_videos(hf.Ernie4_5_VLMoeProcessor)(images, own, VIDEOS)


def paddleocr_vl(own: Any) -> tuple[PreTrainedModel, Any]:
    config = hf.PaddleOCRVLConfig(
        vision_config={**VISION, "image_size": 32, "spatial_merge_size": 2},
        text_config=text_config("paddleocr_vl_text", len(own), head_dim=8, rope_parameters=ROPE),
        **marks(own),
    )  # fmt: skip
    images = PaddleOCRVLImageProcessorPil(patch_size=PATCH, merge_size=2, temporal_patch_size=1, size=SIZE)
    return model_of(config), hf.PaddleOCRVLProcessor(images, own)


def of_three(
    kind: str,
    own: Any,
    processor: Any,
    vision: dict[str, Any],
    text: dict[str, Any],
    images: Any = None,
    **more: Any,
) -> tuple[PreTrainedModel, Any]:
    """A model whose processor reads images as Qwen's does."""
    config = CONFIG_MAPPING[kind](vision_config=vision, text_config=text, **marks(own), **more)
    images = images or Qwen2VLImageProcessorPil(
        patch_size=PATCH, merge_size=2, temporal_patch_size=2, size=SIZE
    )
    return model_of(config), no_videos(processor)(images, own, VIDEOS)


def hyperclovax_vision_v2(own: Any) -> tuple[PreTrainedModel, Any]:
    vision = ENCODER | {"model_type": "qwen2_5_vl_vision", "window_size": 16, "fullatt_block_indexes": [1]}
    text = text_config("hyperclovax", len(own))
    return of_three("hyperclovax_vision_v2", own, hf.HyperCLOVAXVisionV2Processor, vision, text)


def cohere_compass(own: Any) -> tuple[PreTrainedModel, Any]:
    vision = ENCODER | {"num_position_embeddings": 64, "deepstack_visual_indexes": [0, 1]}
    rope = {"rope_type": "default", "rope_theta": 1e4}
    layers = ["sliding_attention", "full_attention"]
    text = text_config("cohere_compass_text", len(own), rope_parameters=dict.fromkeys(layers, rope))
    images = CohereCompassImageProcessorPil(patch_size=PATCH, merge_size=2, temporal_patch_size=2, size=SIZE)
    model, processor = of_three("cohere_compass", own, hf.CohereCompassProcessor, vision, text, images)
    for name in ("image", "video"):
        setattr(processor, f"{name}_token", f"<{name}>")
        setattr(processor, f"{name}_token_id", own.convert_tokens_to_ids(f"<{name}>"))
    return model, processor


def cosmos3_edge(own: Any) -> tuple[PreTrainedModel, Any]:
    vision = {**VISION, "num_patches": 64, "spatial_merge_size": 2}
    text = text_config("cosmos3_edge_text", len(own), head_dim=8, rope_parameters=ROPE)
    images = Cosmos3EdgeImageProcessorPil(patch_size=PATCH, merge_size=2, size=SIZE)
    return of_three(
        "cosmos3_edge", own, hf.Cosmos3EdgeProcessor, vision, text, images, projector_hidden_size=16
    )


def lfm3_vl(own: Any) -> tuple[PreTrainedModel, Any]:
    vision = {
        **VISION, "spatial_merge_size": 2, "temporal_patch_size": 2, "num_key_value_heads": 1,
        "layer_types": ["conv", "full_attention"],
    }  # fmt: skip
    text = text_config("lfm2", len(own), layer_types=["conv", "full_attention"])
    return of_three("lfm3_vl", own, hf.Lfm3VlProcessor, vision, text, projector_hidden_size=16)


def qwen4_exp(own: Any) -> tuple[PreTrainedModel, Any]:
    return of_qwen(
        "qwen4_exp", own, vision={}, **LINEAR, **EXPERTS, hc_count=2, hc_lowrank=4, ngram_vocab_size_base=13,
        make_ngram_vocab_size_divisible_by=2, split_ngram_parts=1, heads_per_ngram=2, ple_layer_ids=[],
        indexer_n_heads=2, indexer_kv_heads=1, indexer_head_dim=8, indexer_budget=64,
        indexer_compress_ratio=4,
    )  # fmt: skip


def hunyuan_vl(own: Any) -> tuple[PreTrainedModel, Any]:
    rope = {"rope_type": "default", "rope_theta": 1e4, "xdrope_section": [1, 1, 1, 1]}
    config = hf.HunYuanVLConfig(
        vision_config={
            **VISION, "out_hidden_size": 16, "text_hidden_size": 16, "max_image_size": 64,
            "min_image_size": 16, "img_max_token_num": 64, "max_vit_seq_len": 256,
        },
        text_config=text_config("hunyuan_vl_text", len(own), head_dim=8, rope_parameters=rope),
        image_token_id=own.convert_tokens_to_ids("<image>"), im_start_id=2, im_end_id=3, im_newline_id=4,
    )  # fmt: skip
    images = HunYuanVLImageProcessorPil(patch_size=PATCH, merge_size=2, size=SIZE)
    template = (
        "{% for message in messages %}{% for part in message['content'] %}{% if part['type'] == 'image' %}"
        "<img><image></img>{% else %}{{ part['text'] }}{% endif %}{% endfor %}{% endfor %}"
    )
    return model_of(config), hf.HunYuanVLProcessor(images, own, chat_template=template)


MERGED = {
    one.__name__: one
    for one in (
        qwen3_vl_moe, qwen3_5, qwen3_5_moe, exaone4_5, glm4v_moe, glm46v, glmga, glm_ocr, lighton_ocr,
        video_llama_3, ernie4_5_vl_moe, paddleocr_vl, hyperclovax_vision_v2, cohere_compass, cosmos3_edge,
        lfm3_vl, qwen4_exp, hunyuan_vl,
    )
}  # fmt: skip
