"""Tiny models of images and texts with an image encoder of one size, further than those people bring most."""

from __future__ import annotations

from typing import Any

import transformers as hf
from transformers import PreTrainedModel
from transformers.models.aria.image_processing_pil_aria import AriaImageProcessorPil
from transformers.models.chameleon.image_processing_pil_chameleon import ChameleonImageProcessorPil
from transformers.models.clip.image_processing_pil_clip import CLIPImageProcessorPil
from transformers.models.deepseek_vl_hybrid.image_processing_pil_deepseek_vl_hybrid import (
    DeepseekVLHybridImageProcessorPil,
)
from transformers.models.emu3.image_processing_emu3 import Emu3ImageProcessor
from transformers.models.fuyu.image_processing_pil_fuyu import FuyuImageProcessorPil
from transformers.models.gemma3.image_processing_pil_gemma3 import Gemma3ImageProcessorPil
from transformers.models.gemma4.image_processing_pil_gemma4 import Gemma4ImageProcessorPil
from transformers.models.got_ocr2.image_processing_pil_got_ocr2 import GotOcr2ImageProcessorPil
from transformers.models.granite_docling.image_processing_pil_granite_docling import (
    GraniteDoclingImageProcessorPil,
)
from transformers.models.janus.image_processing_pil_janus import JanusImageProcessorPil
from transformers.models.llava_next.image_processing_pil_llava_next import LlavaNextImageProcessorPil
from transformers.models.ovis2.image_processing_pil_ovis2 import Ovis2ImageProcessorPil
from transformers.models.pp_chart2table.image_processing_pil_pp_chart2table import (
    PPChart2TableImageProcessorPil,
)
from transformers.models.video_llava.image_processing_video_llava import VideoLlavaImageProcessor

from image_text_parts import PATCH, VIDEOS, VISION, no_videos, text_config

SQUARE = {"height": 16, "width": 16}
SIGLIP = {"model_type": "siglip_vision_model", **VISION, "image_size": 16}
HEADLESS = SIGLIP | {"vision_use_head": False}
VQ = {
    "embed_dim": 8, "num_embeddings": 4, "latent_channels": 8, "base_channels": 32, "num_res_blocks": 1,
    "channel_multiplier": (1, 1),
}  # fmt: skip
SAM = {
    "hidden_size": 16, "output_channels": 8, "num_hidden_layers": 2, "num_attention_heads": 2,
    "image_size": 32, "patch_size": PATCH, "window_size": 4, "global_attn_indexes": (1,), "mlp_dim": 24,
}  # fmt: skip


def llava_next_video(own: Any) -> tuple[PreTrainedModel, Any]:
    pinpoints = [[16, 32], [32, 16], [32, 32]]
    config = hf.LlavaNextVideoConfig(
        vision_config=hf.CLIPVisionConfig(**VISION, image_size=16),
        text_config=text_config("llama", len(own)), image_grid_pinpoints=pinpoints,
        image_token_index=own.convert_tokens_to_ids("<image>"),
        video_token_index=own.convert_tokens_to_ids("<video>"),
    )  # fmt: skip
    images = LlavaNextImageProcessorPil(
        size={"shortest_edge": 16}, crop_size=SQUARE, image_grid_pinpoints=pinpoints
    )
    processor = no_videos(hf.LlavaNextVideoProcessor)(
        VIDEOS, images, own, patch_size=PATCH, vision_feature_select_strategy="default",
        num_additional_image_tokens=1,
    )  # fmt: skip
    return hf.LlavaNextVideoForConditionalGeneration(config), processor


def got_ocr2(own: Any) -> tuple[PreTrainedModel, Any]:
    config = hf.GotOcr2Config(
        vision_config=SAM, text_config=text_config("qwen2", len(own)), image_seq_length=4,
        image_token_index=own.convert_tokens_to_ids("<imgpad>"),
    )  # fmt: skip
    images = GotOcr2ImageProcessorPil(size={"height": 32, "width": 32})
    processor = hf.GotOcr2Processor(images, own)
    processor.num_image_tokens = 4
    return hf.GotOcr2ForConditionalGeneration(config), processor


def ovis2(own: Any) -> tuple[PreTrainedModel, Any]:
    marks = [own.convert_tokens_to_ids(f"<IMG_{end}>") for end in ("START", "GRID", "COL", "ROW", "END")]
    config = hf.Ovis2Config(
        vision_config={**VISION, "image_size": 16, "vocab_size": 13, "num_visual_indicator_tokens": 5},
        text_config=text_config("qwen2", len(own)), hidden_size=16, vocab_size=len(own),
        image_token_id=own.convert_tokens_to_ids("<IMG_ATOM>"), visual_indicator_token_ids=marks,
    )  # fmt: skip
    images = Ovis2ImageProcessorPil(size=SQUARE, crop_to_patches=False)
    return hf.Ovis2ForConditionalGeneration(config), hf.Ovis2Processor(images, own, image_seq_length=16)


def janus(own: Any) -> tuple[PreTrainedModel, Any]:
    config = hf.JanusConfig(
        vision_config={
            **{key: value for key, value in VISION.items() if key != "intermediate_size"},
            "mlp_ratio": 2, "image_size": 16, "projection_dim": 16, "num_image_tokens": 16,
        },
        vq_config=VQ | {"projection_dim": 16, "image_token_embed_dim": 16, "num_patches": 4},
        text_config=text_config("llama", len(own)), image_token_id=own.convert_tokens_to_ids("<image>"),
    )  # fmt: skip
    images = JanusImageProcessorPil(size=SQUARE, min_size=4)
    return hf.JanusForConditionalGeneration(config), hf.JanusProcessor(images, own, num_image_tokens=16)


def deepseek_vl_hybrid(own: Any) -> tuple[PreTrainedModel, Any]:
    own.image_token = "<image>"
    config = hf.DeepseekVLHybridConfig(
        vision_config=HEADLESS, high_res_vision_config={"model_type": "sam_vision_model", **SAM},
        text_config=text_config("llama", len(own)), image_token_id=own.convert_tokens_to_ids("<image>"),
    )  # fmt: skip
    images = DeepseekVLHybridImageProcessorPil(
        size=SQUARE, high_res_size={"height": 32, "width": 32}, min_size=4
    )
    processor = hf.DeepseekVLHybridProcessor(images, own, num_image_tokens=16)
    return hf.DeepseekVLHybridForConditionalGeneration(config), processor


def gemma4(own: Any) -> tuple[PreTrainedModel, Any]:
    vision = {
        **VISION, "num_key_value_heads": 2, "head_dim": 8, "pooling_kernel_size": 2,
        "position_embedding_size": 64,
    }  # fmt: skip
    text = text_config(
        "gemma4_text", len(own), head_dim=8, hidden_size_per_layer_input=4,
        vocab_size_per_layer_input=len(own), layer_types=["sliding_attention", "full_attention"],
        global_head_dim=8,
    )  # fmt: skip
    ids = {
        f"{name}_token_id": own.convert_tokens_to_ids(f"<{name}>") for name in ("image", "boi", "eoi")
    }  # fmt: skip
    config = hf.Gemma4Config(vision_config=vision, text_config=text, audio_config=None, **ids)
    images = Gemma4ImageProcessorPil(patch_size=PATCH, pooling_kernel_size=2, max_soft_tokens=70)
    processor = unchecked(hf.Gemma4Processor)(None, images, own, VIDEOS, image_seq_length=70)
    return hf.Gemma4ForConditionalGeneration(config), processor


def unchecked(processor: type) -> type:
    """A class of processors without those of sounds and videos."""

    class Unchecked(processor):  # type: ignore[misc,valid-type]
        def check_argument_for_proper_class(self, argument_name: str, argument: Any) -> Any:
            return type(argument)

    Unchecked.__name__ = processor.__name__
    return Unchecked


def aria(own: Any) -> tuple[PreTrainedModel, Any]:
    config = hf.AriaConfig(
        vision_config={"model_type": "idefics3_vision", **VISION, "image_size": 490, "patch_size": 70},
        text_config=text_config(
            "aria_text", len(own), moe_num_experts=2, moe_topk=1, moe_num_shared_experts=1
        ),
        projector_patch_to_query_dict={49: 4}, image_token_index=own.convert_tokens_to_ids("<image>"),
    )  # fmt: skip
    images = AriaImageProcessorPil(max_image_size=490)
    processor = hf.AriaProcessor(images, own, size_conversion={490: 4})
    processor.images_kwargs = processor.images_kwargs | {"max_image_size": 490}
    return hf.AriaForConditionalGeneration(config), processor


def chameleon(own: Any) -> tuple[PreTrainedModel, Any]:
    """An image becomes words of its vocabulary, whose vectors are looked up."""
    parts = {"<image>": "<image>", "IMGIMGAAZ": "<row_2_col_1>"} | {
        f"IMGIMGA{'ABCD'[number]}Z": f"<row_1_col_{number}>" for number in (1, 2, 3)
    }
    names = {name: own.convert_tokens_to_ids(token) for name, token in parts.items()}
    text = {key: value for key, value in text_config("llama", len(own)).items() if key != "model_type"}
    config = hf.ChameleonConfig(
        **text, vocabulary_map=names, vq_config=VQ | {"resolution": 16, "attn_resolutions": [8]}
    )
    images = ChameleonImageProcessorPil(size={"shortest_edge": 16}, crop_size=SQUARE)
    processor = hf.ChameleonProcessor(images, own, image_seq_length=64)
    return hf.ChameleonForConditionalGeneration(config), processor


def emu3(own: Any) -> tuple[PreTrainedModel, Any]:
    names = {"<image>": own.convert_tokens_to_ids("<image>")} | {
        f"<|visual token {number:06}|>": own.convert_tokens_to_ids(f"<row_{number + 1}_col_1>")
        for number in range(3)
    }  # fmt: skip
    names["<|extra_200|>"] = own.convert_tokens_to_ids("<row_1_col_2>")
    config = hf.Emu3Config(
        text_config={
            key: value for key, value in text_config("x", len(own)).items() if key != "model_type"
        },
        vq_config={
            "codebook_size": 3, "embed_dim": 4, "latent_channels": 4, "base_channels": 32,
            "channel_multiplier": (1, 1, 1, 1), "num_res_blocks": 1, "hidden_size": 32,
            "attn_resolutions": (3,),
        },
        vocabulary_map=names,
    )  # fmt: skip
    images = Emu3ImageProcessor(min_pixels=32 * 32, max_pixels=48 * 48, spatial_factor=8)
    return hf.Emu3ForConditionalGeneration(config), hf.Emu3Processor(images, own)


def fuyu(own: Any) -> tuple[PreTrainedModel, Any]:
    config = hf.FuyuConfig(
        text_config=text_config("persimmon", len(own)), image_size=32, patch_size=8,
        image_token_id=own.convert_tokens_to_ids("|SPEAKER|"),
    )  # fmt: skip
    images = FuyuImageProcessorPil(size={"height": 32, "width": 48}, patch_size={"height": 8, "width": 8})
    return hf.FuyuForCausalLM(config), hf.FuyuProcessor(images, own)


def qianfan_ocr(own: Any) -> tuple[PreTrainedModel, Any]:
    images = GotOcr2ImageProcessorPil(size=SQUARE, crop_to_patches=False)
    config = hf.QianfanOCRConfig(
        vision_config={**VISION, "image_size": [16, 16], "patch_size": [PATCH, PATCH]},
        text_config=text_config("qwen3", len(own), head_dim=8), image_seq_length=4,
        image_token_id=own.convert_tokens_to_ids("<IMG_CONTEXT>"),
    )  # fmt: skip
    processor = hf.QianfanOCRProcessor(images, own, image_seq_length=4)
    return hf.QianfanOCRForConditionalGeneration(config), processor


def shieldgemma2(own: Any) -> tuple[PreTrainedModel, Any]:
    """A judge of images: its processor asks questions of its own about policies."""
    config = hf.ShieldGemma2Config(
        vision_config=SIGLIP,
        text_config=text_config("gemma3_text", len(own), head_dim=8, query_pre_attn_scalar=8),
        mm_tokens_per_image=4, boi_token_index=own.convert_tokens_to_ids("<boi>"),
        eoi_token_index=own.convert_tokens_to_ids("<eoi>"),
        image_token_index=own.convert_tokens_to_ids("<soft>"),
    )  # fmt: skip
    images = Gemma3ImageProcessorPil(size=SQUARE)
    return hf.AutoModelForImageTextToText.from_config(config), hf.ShieldGemma2Processor(
        images, own, image_seq_length=4
    )


def florence2(own: Any) -> tuple[PreTrainedModel, Any]:
    """An encoder–decoder."""
    bart = {
        "model_type": "bart", "d_model": 16, "encoder_layers": 1, "decoder_layers": 1, "vocab_size": len(own),
        "encoder_attention_heads": 2, "decoder_attention_heads": 2, "encoder_ffn_dim": 24,
        "decoder_ffn_dim": 24, "pad_token_id": 0, "bos_token_id": 2, "eos_token_id": 3,
        "decoder_start_token_id": 3, "forced_eos_token_id": 3,
    }  # fmt: skip
    own.image_token, own.image_token_id = "<image>", own.convert_tokens_to_ids("<image>")
    config = hf.Florence2Config(
        text_config=bart,
        vision_config={
            "depths": (1, 1), "patch_size": (7, 3), "patch_stride": (4, 2), "patch_padding": (3, 1),
            "patch_prenorm": (False, True), "embed_dim": (8, 16), "num_heads": (1, 2), "num_groups": (1, 2),
            "window_size": 4, "projection_dim": 16,
        },
        image_token_id=own.image_token_id,
    )  # fmt: skip
    images = CLIPImageProcessorPil(size={"height": 32, "width": 32}, do_center_crop=False)
    images.image_seq_length = 16
    return hf.Florence2ForConditionalGeneration(config), hf.Florence2Processor(images, own)


def pp_chart2table(own: Any) -> tuple[PreTrainedModel, Any]:
    """GOT-OCR 2 with a prompt of its own."""
    config = hf.PPChart2TableConfig(
        vision_config=SAM, text_config=text_config("qwen2", len(own)), image_seq_length=4,
        image_token_index=own.convert_tokens_to_ids("<imgpad>"),
    )  # fmt: skip
    images = PPChart2TableImageProcessorPil(size={"height": 32, "width": 32})
    return hf.AutoModelForImageTextToText.from_config(config), hf.PPChart2TableProcessor(images, own)


def granite_docling(own: Any) -> tuple[PreTrainedModel, Any]:
    config = hf.GraniteDoclingConfig(
        vision_config={
            **VISION, "image_size": 16, "out_hidden_size": 16, "scale_factor": 2, "use_fine_route": False,
            "deepstack_visual_indexes": [0],
        },
        text_config=text_config("granite_docling_text", len(own)),
        image_token_id=own.convert_tokens_to_ids("<image>"), pad_token_id=0,
    )  # fmt: skip
    images = GraniteDoclingImageProcessorPil(size=SQUARE)
    processor = hf.GraniteDoclingProcessor(images, own, image_seq_len=4)
    return hf.AutoModelForImageTextToText.from_config(config), processor


def video_llava(own: Any) -> tuple[PreTrainedModel, Any]:
    config = hf.VideoLlavaConfig(
        vision_config=hf.CLIPVisionConfig(**VISION, image_size=16),
        text_config=text_config("llama", len(own)), image_token_index=own.convert_tokens_to_ids("<image>"),
        video_token_index=own.convert_tokens_to_ids("<video>"), image_seq_length=16,
    )  # fmt: skip
    images = VideoLlavaImageProcessor(size={"shortest_edge": 16}, crop_size=SQUARE)
    processor = unchecked(hf.VideoLlavaProcessor)(images, VIDEOS, own, patch_size=PATCH)
    return hf.VideoLlavaForConditionalGeneration(config), processor


TOWERS = {
    one.__name__: one
    for one in (
        llava_next_video, got_ocr2, ovis2, janus, deepseek_vl_hybrid, gemma4, aria, chameleon, emu3, fuyu,
        qianfan_ocr, shieldgemma2, florence2, pp_chart2table, granite_docling, video_llava,
    )
}  # fmt: skip
