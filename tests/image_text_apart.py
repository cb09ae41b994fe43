"""Tiny models of images and texts whose images are not tokens between words: they are read by
cross-attention, or put before the text."""

from __future__ import annotations

from typing import Any

import transformers as hf
from transformers import PreTrainedModel
from transformers.models.blip.image_processing_pil_blip import BlipImageProcessorPil
from transformers.models.clip.image_processing_pil_clip import CLIPImageProcessorPil
from transformers.models.gemma3.image_processing_pil_gemma3 import Gemma3ImageProcessorPil
from transformers.models.idefics.image_processing_pil_idefics import IdeficsImageProcessorPil
from transformers.models.mllama.image_processing_pil_mllama import MllamaImageProcessorPil
from transformers.models.pix2struct.image_processing_pil_pix2struct import Pix2StructImageProcessorPil
from transformers.models.vit.image_processing_pil_vit import ViTImageProcessorPil

from image_text_parts import VISION, text_config

SQUARE = {"height": 16, "width": 16}
SIZES = {"hidden_size": 16, "num_hidden_layers": 2, "num_attention_heads": 2, "intermediate_size": 24}


def blip_captions(own: Any) -> tuple[PreTrainedModel, Any]:
    """The first BLIP."""
    config = hf.BlipConfig(
        vision_config={**VISION, "image_size": 16},
        text_config=SIZES
        | {"vocab_size": len(own), "encoder_hidden_size": 16, "bos_token_id": 2, "sep_token_id": 3},
        projection_dim=8, image_text_hidden_size=16,
    )  # fmt: skip
    processor = hf.BlipProcessor(BlipImageProcessorPil(size=SQUARE), own)
    return hf.BlipForConditionalGeneration(config), processor


def git(own: Any) -> tuple[PreTrainedModel, Any]:
    config = hf.GitConfig(
        vision_config={**VISION, "image_size": 16}, vocab_size=len(own), **SIZES, bos_token_id=2,
        eos_token_id=3,
    )  # fmt: skip
    images = CLIPImageProcessorPil(size=SQUARE, do_center_crop=False)
    return hf.GitForCausalLM(config), hf.GitProcessor(images, own)


def kosmos2(own: Any) -> tuple[PreTrainedModel, Any]:
    config = hf.Kosmos2Config(
        vision_config={**VISION, "image_size": 16}, latent_query_num=4,
        text_config={
            "vocab_size": len(own), "embed_dim": 16, "layers": 2, "ffn_dim": 24, "attention_heads": 2,
            "max_position_embeddings": 128,
        },
    )  # fmt: skip
    images = CLIPImageProcessorPil(size=SQUARE, do_center_crop=False)
    processor = hf.Kosmos2Processor(images, own, num_patch_index_tokens=4)
    processor.num_image_tokens = 4
    config.text_config.vocab_size = len(own)
    return hf.Kosmos2ForConditionalGeneration(config), processor


def idefics(own: Any) -> tuple[PreTrainedModel, Any]:
    """It reads images by cross-attention."""
    config = hf.IdeficsConfig(
        **SIZES, vocab_size=len(own), pad_token_id=0, bos_token_id=2, eos_token_id=3,
        vision_config={
            "embed_dim": 16, "image_size": 16, "intermediate_size": 24, "patch_size": 4,
            "num_hidden_layers": 2, "num_attention_heads": 2,
        },
    )  # fmt: skip
    images = IdeficsImageProcessorPil(image_size=16)
    return hf.IdeficsForVisionText2Text(config), hf.IdeficsProcessor(images, own)


def mllama(own: Any) -> tuple[PreTrainedModel, Any]:
    """Llama 3.2 reads images by cross-attention."""
    config = hf.MllamaConfig(
        vision_config={
            "hidden_size": 16, "num_hidden_layers": 2, "num_global_layers": 1, "attention_heads": 2,
            "intermediate_size": 24, "image_size": 16, "patch_size": 4, "vision_output_dim": 32,
            "intermediate_layers_indices": [0], "max_num_tiles": 2,
            "supported_aspect_ratios": [[1, 1], [1, 2], [2, 1]],
        },
        text_config=text_config("mllama_text_model", len(own))
        | {"cross_attention_layers": [1], "rope_parameters": {"rope_type": "default", "rope_theta": 1e4}},
        image_token_index=own.convert_tokens_to_ids("<|image|>"),
    )  # fmt: skip
    images = MllamaImageProcessorPil(size=SQUARE, max_image_tiles=2)
    return hf.MllamaForConditionalGeneration(config), hf.MllamaProcessor(images, own)


def pix2struct(own: Any) -> tuple[PreTrainedModel, Any]:
    """Its question is painted above the image."""
    text = {
        "hidden_size": 16, "d_kv": 8, "d_ff": 24, "num_layers": 1, "num_heads": 2, "vocab_size": len(own),
    }  # fmt: skip
    vision = {
        "hidden_size": 16, "patch_embed_hidden_size": 48, "d_ff": 24, "d_kv": 8, "num_hidden_layers": 1,
        "num_attention_heads": 2,
    }  # fmt: skip
    config = hf.Pix2StructConfig(text_config=text, vision_config=vision)
    images = Pix2StructImageProcessorPil(patch_size={"height": 4, "width": 4}, max_patches=16)
    return hf.Pix2StructForConditionalGeneration(config), hf.Pix2StructProcessor(images, own)


def t5gemma2(own: Any) -> tuple[PreTrainedModel, Any]:
    """An encoder–decoder."""
    text = text_config("t5gemma2_text", len(own), head_dim=8, query_pre_attn_scalar=8)
    ids = {f"{name}_token_index": own.convert_tokens_to_ids(f"<{name}>") for name in ("boi", "eoi")}
    soft = own.convert_tokens_to_ids("<soft>")
    config = hf.T5Gemma2Config(
        encoder={
            "text_config": text, "mm_tokens_per_image": 4, "image_token_index": soft,
            "vision_config": {"model_type": "siglip_vision_model", **VISION, "image_size": 16}, **ids,
        },
        decoder=text | {"model_type": "t5gemma2_decoder"}, image_token_index=soft,
    )  # fmt: skip
    processor = hf.Gemma3Processor(Gemma3ImageProcessorPil(size=SQUARE), own, image_seq_length=4)
    return hf.T5Gemma2ForConditionalGeneration(config), processor


def vision_encoder_decoder(own: Any) -> tuple[PreTrainedModel, Any]:
    """It writes captions, and reads no text but what it has written."""
    config = hf.VisionEncoderDecoderConfig.from_encoder_decoder_configs(
        hf.ViTConfig(**VISION, image_size=16),
        hf.BertConfig(**SIZES, vocab_size=len(own), is_decoder=True, add_cross_attention=True),
    )
    config.decoder_start_token_id, config.pad_token_id = 2, 0
    processor = hf.TrOCRProcessor(ViTImageProcessorPil(size=SQUARE), own)
    return hf.VisionEncoderDecoderModel(config), processor


APART = {
    "blip": blip_captions, "git": git, "kosmos-2": kosmos2, "idefics": idefics, "mllama": mllama,
    "pix2struct": pix2struct, "t5gemma2": t5gemma2, "vision-encoder-decoder": vision_encoder_decoder,
}  # fmt: skip
