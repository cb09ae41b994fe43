"""Every text model that Transformers' AutoModel classes load for a task, tiny and random."""

from __future__ import annotations

import dataclasses
import warnings
from typing import Any

import torch
import transformers as hf
from transformers import CONFIG_MAPPING, PreTrainedConfig, PreTrainedModel
from transformers.models.auto import modeling_auto

from families import GROUPED, PATCHES, SIZES, VOCABULARY

MAPPINGS = {
    "classes": modeling_auto.MODEL_FOR_SEQUENCE_CLASSIFICATION_MAPPING_NAMES,
    "tags": modeling_auto.MODEL_FOR_TOKEN_CLASSIFICATION_MAPPING_NAMES,
    "spans": modeling_auto.MODEL_FOR_QUESTION_ANSWERING_MAPPING_NAMES,
    "hidden words": modeling_auto.MODEL_FOR_MASKED_LM_MAPPING_NAMES,
    "choices": modeling_auto.MODEL_FOR_MULTIPLE_CHOICE_MAPPING_NAMES,
    "next tokens": modeling_auto.MODEL_FOR_CAUSAL_LM_MAPPING_NAMES,
}
"""The classes of models by `model_type`, for each task."""

TINY: dict[str, Any] = {
    **dict.fromkeys(["vocab_size"], VOCABULARY),
    **dict.fromkeys(["hidden_size", "d_model", "dim", "emb_dim", "n_embd", "embedding_size"], 32),
    **dict.fromkeys(["intermediate_size", "d_ff", "ffn_dim", "hidden_dim", "n_inner", "d_inner"], 32),
    **dict.fromkeys(["encoder_ffn_dim", "decoder_ffn_dim", "dff", "ffn_hidden_size"], 32),
    **dict.fromkeys(["moe_intermediate_size", "shared_expert_intermediate_size", "word_embed_proj_dim"], 32),
    **dict.fromkeys(["num_hidden_layers", "n_layer", "n_layers", "num_layers"], 2),
    **dict.fromkeys(["encoder_layers", "decoder_layers"], 2),
    **dict.fromkeys(["num_attention_heads", "n_head", "n_heads", "num_heads"], 4),
    **dict.fromkeys(["encoder_attention_heads", "decoder_attention_heads"], 4),
    **dict.fromkeys(["num_key_value_heads", "head_dim", "d_kv"], 8),
    "num_key_value_heads": 2,
    **dict.fromkeys(["num_experts", "num_local_experts", "n_routed_experts"], 4),
    **dict.fromkeys(["num_experts_per_tok", "moe_topk"], 2),
    **dict.fromkeys(["sliding_window", "local_attention", "attention_window", "window_size"], 4),
    **dict.fromkeys(["max_position_embeddings", "n_positions", "max_seq_len", "max_sequence_length"], 64),
    **dict.fromkeys(["kv_lora_rank", "q_lora_rank", "qk_nope_head_dim", "v_head_dim"], 8),
    **dict.fromkeys(["linear_head_dim", "rotary_dim", "index_head_dim", "swa_head_dim", "kv_channels"], 8),
    **dict.fromkeys(["qk_rope_head_dim", "index_topk", "index_block_size", "d_rel"], 4),
    **dict.fromkeys(["sliding_window_size", "swa_num_attention_heads"], 4),
    **dict.fromkeys(["linear_num_heads", "index_topk_blocks", "swa_num_key_value_heads"], 2),
    **dict.fromkeys(["mamba_n_heads", "mamba_num_heads", "zero_expert_num", "prompt_length"], 2),
    **dict.fromkeys(["mamba_d_state", "ssm_state_size", "mamba_head_dim"], 8),
    **dict.fromkeys(["mamba_chunk_size", "chunk_size"], 8),
    **dict.fromkeys(["n_group", "topk_group", "n_groups", "n_shared_experts", "first_k_dense_replace"], 1),
    **dict.fromkeys(["expert_ffn_hidden_size", "shared_intermediate_size", "dense_intermediate_size"], 32),
    **dict.fromkeys(["shared_experts_intermediate_size", "dim_ff"], 32),
    **dict.fromkeys(["vocab_size_per_layer_input", "unpadded_vocab_size"], VOCABULARY),
    **dict.fromkeys(["hidden_size_per_layer_input", "laurel_rank", "dim_head"], 8),
    "mamba_d_ssm": 64,
    **dict.fromkeys(["rel_extent", "index_n_heads"], 16),
    "pad_token_id": 0,
    "eos_token_id": 1,
    "decoder_start_token_id": 0,
    "bos_token_id": 3,
    "cls_token_id": 3,
    "sep_token_id": 4,
}  # fmt: skip
"""Sizes by the names that configurations have for them."""

VISION = {
    "model_type": "siglip_vision_model",
    "image_size": 16,
    **{name: size for name, size in PATCHES.items() if name != "image_size"},
}
LINEAR = {
    "linear_key_head_dim": 8, "linear_value_head_dim": 8, "linear_num_key_heads": 2,
    "linear_num_value_heads": 2, "layer_types": ["linear_attention", "full_attention"],
}  # fmt: skip
LAYERS = {"layer_types": ["linear_attention", "full_attention"]}
DENSE_FIRST = {"mlp_layer_types": ["dense", "sparse"]}
SHARED_KEYS = {
    "num_hidden_layers": 4,
    "layer_types": ["sliding_attention", "full_attention"] * 2,
    "num_kv_shared_layers": 2,
}
ASSISTANT = {
    **GROUPED,
    "hidden_size_per_layer_input": 0,
    "vocab_size_per_layer_input": 0,
    "layer_types": ["sliding_attention", "full_attention"],
    "num_kv_shared_layers": 2,
}
ASSISTING = {"backbone_hidden_size": 32, "num_centroids": 4, "centroid_intermediate_top_k": 2}
BYTES = {**GROUPED, "num_key_value_heads": 4, "hidden_size": 32, "head_dim": None}
WITH_IMAGES = {"vision_config": VISION, "image_token_id": 59, "pixel_shuffle_factor": 2}
OTHERWISE: dict[str, dict[str, Any]] = {
    "minicpm3": {"head_dim": None},
    "big_bird": {"attention_type": "original_full"},
    "bigbird_pegasus": {"attention_type": "original_full"},
    "canine": {"num_hash_buckets": 64, "local_transformer_stride": 8},
    "cohere_compass_text": {
        "layer_types": ["sliding_attention", "full_attention"],
        "rope_parameters": {
            "sliding_attention": {"rope_type": "default", "rope_theta": 1e4},
            "full_attention": {"rope_type": "default", "rope_theta": 1e4},
        },
    },
    "esmc": {"num_key_value_heads": None},
    "bailing_hybrid": LAYERS,
    "bamba": {"attn_layer_indices": [1]},
    "blt": {
        "patcher_config": {**BYTES, "sliding_window": 4},
        "encoder_config": {**BYTES, "hidden_size_global": 32},
        "decoder_config": {**BYTES, "hidden_size_global": 32},
        "global_config": BYTES,
        "encoder_hash_byte_group_size": [3],
        "encoder_hash_byte_group_vocab": 20,
    },
    "dbrx": {
        "attn_config": {"kv_n_heads": 2, "rope_theta": 1e4, "clip_qkv": 8},
        "ffn_config": {"hidden_size": 32, "ffn_hidden_size": 32},
    },
    "deepseek_v32": DENSE_FIRST,
    "dots3_note_text": DENSE_FIRST,
    "glm_moe_dsa": DENSE_FIRST,
    "funnel": {"block_sizes": [1, 1], "num_decoder_layers": 1, "d_head": 8},
    "gemma3": {"vision_config": VISION, "image_token_index": 59, "mm_tokens_per_image": 4},
    "t5gemma2_encoder": {"vision_config": VISION, "image_token_index": 59, "mm_tokens_per_image": 4},
    "t5gemma2": {"image_token_index": 59},
    "fuyu": {"text_config": {"model_type": "persimmon", **SIZES}, "patch_size": 4},
    "gemma3n_text": SHARED_KEYS,
    "gemma4": {
        "vision_config": {**VISION, "model_type": "gemma4_vision"},
        "audio_config": None,
        "image_token_id": 59,
    },
    "gemma4_text": SHARED_KEYS,
    "gemma4_unified": {
        "vision_config": {"mm_embed_dim": 32, "mm_posemb_size": 8, "output_proj_dims": 32, "patch_size": 4},
        "audio_config": {"audio_embed_dim": 8},
        "image_token_id": 59,
    },
    "gemma4_assistant": {"text_config": {"model_type": "gemma4_text", **ASSISTANT}, **ASSISTING},
    "gemma4_unified_assistant": {
        "text_config": {"model_type": "gemma4_unified_text", **ASSISTANT},
        **ASSISTING,
    },
    "longcat_flash": {"head_dim": 4},
    "got_ocr2": {
        "text_config": {"model_type": "qwen2", **GROUPED},
        "vision_config": {
            **VISION,
            "model_type": "got_ocr2",
            "output_channels": 8,
            "mlp_dim": 32,
            "window_size": 2,
        },
        "image_token_index": 59,
    },
    "granitemoehybrid": {"layer_types": ["mamba", "attention"]},
    "kimi_linear": LAYERS,
    "lfm2_moe": {"layer_types": ["conv", "full_attention"]},
    "lfm3": {"layer_types": ["conv", "full_attention"]},
    "mamba2": {"head_dim": 16, "state_size": 8},
    "moss_transcribe_diarize": {
        "text_config": {"model_type": "qwen3", **GROUPED},
        "audio_config": {
            "hidden_size": 16,
            "intermediate_size": 32,
            "num_hidden_layers": 1,
            "num_attention_heads": 2,
        },
        "audio_token_id": 59,
    },
    "gpt_neo": {"attention_types": [[["global", "local"], 1]]},
    "layoutlmv3": {
        "input_size": 16,
        "patch_size": 8,
        "coordinate_size": 6,
        "shape_size": 4,
        "max_2d_position_embeddings": 64,
    },
    "mobilebert": {"embedding_size": 16},
    "gptj": {"rotary_dim": 8},
    "jamba": {"attn_layer_period": 2, "attn_layer_offset": 1, "use_mamba_kernels": False, "mamba_dt_rank": 4},
    "led": {
        "max_encoder_position_embeddings": 64,
        "max_decoder_position_embeddings": 64,
        "attention_window": [4, 4],
    },
    "lilt": {"hidden_size": 48},
    "neomme": {"head_dim": 16, "embedding_rank": 8, "patch_size": 4},
    "qwen3_asr": {
        "audio_config": {
            "model_type": "qwen3_asr_encoder",
            "d_model": 32,
            "encoder_layers": 1,
            "encoder_attention_heads": 4,
            "encoder_ffn_dim": 32,
            "output_dim": 32,
            "num_mel_bins": 8,
            "downsample_hidden_size": 8,
            "max_source_positions": 16,
        },
        "text_config": {"model_type": "qwen3", **GROUPED},
        "audio_token_id": 59,
        "timestamp_token_id": 58,
    },
    "xmod": {"default_language": "en_XX"},
    "zamba": {
        "num_hidden_layers": 3,
        "layers_block_type": ["linear_attention", "hybrid", "hybrid"],
        "use_mamba_kernels": False,
    },
    "zamba2": {
        "layers_block_type": ["linear_attention", "hybrid"],
        "use_mamba_kernels": False,
        "n_mamba_heads": 2,
        "mamba_d_state": 8,
        "adapter_rank": 8,
    },
    "luke": {"entity_vocab_size": 10, "entity_emb_size": 8},
    "markuplm": {
        "max_xpath_tag_unit_embeddings": 20,
        "max_xpath_subs_unit_embeddings": 20,
        "tag_pad_id": 2,
        "subs_pad_id": 2,
        "max_depth": 4,
        "xpath_unit_hidden_size": 4,
    },
    "modernvbert": {
        "text_config": {"model_type": "modernbert", **SIZES, "local_attention": 4},
        **WITH_IMAGES,
    },
    "ultravbert": {"text_config": {"model_type": "ultrabert", **SIZES, "sliding_window": 4}, **WITH_IMAGES},
    "perceiver": {
        "num_latents": 8,
        "d_latents": 32,
        "num_self_attends_per_block": 2,
        "num_self_attention_heads": 4,
        "num_cross_attention_heads": 4,
        "image_size": 8,
        "train_size": [8, 8],
        "num_frames": 2,
    },
    **dict.fromkeys(["qwen3_5_text", "qwen3_5_moe_text", "qwen3_next"], LINEAR),
    "qwen4_exp_text": {
        **LINEAR,
        "ngram_vocab_size_base": 20,
        "make_ngram_vocab_size_divisible_by": 4,
        "split_ngram_parts": 1,
        "hc_lowrank": 4,
        "indexer_n_heads": 2,
        "indexer_kv_heads": 1,
        "indexer_head_dim": 8,
        "indexer_budget": 8,
        "indexer_compress_ratio": 2,
    },
    "recurrent_gemma": {"block_types": ["recurrent", "attention"], "attention_window_size": 4},
    "xlstm": {"chunk_size": 64, "qk_dim_factor": 1.0},
    "zaya": {"num_experts_per_tok": 1, "router_hidden_size": 8},
    "reformer": {
        "axial_pos_shape": [8, 8],
        "axial_pos_embds_dim": [16, 16],
        "attn_layers": ["local", "lsh"],
        "attention_head_size": 8,
        "feed_forward_size": 32,
        "local_attn_chunk_length": 4,
        "lsh_attn_chunk_length": 4,
        "num_buckets": 2,
        "hash_seed": 0,
    },
    "roc_bert": {
        "pronunciation_vocab_size": 60,
        "shape_vocab_size": 60,
        "pronunciation_embed_dim": 8,
        "shape_embed_dim": 8,
    },
}
"""What some kinds need besides, by `model_type`."""


SPREAD = {"mobilebert": 0.15}
"""Weights of those whose states would grow without bounds."""


NOT_BUILT = ("layoutlmv2", "gemma3n", "gemma4_assistant", "gemma4_unified_assistant")
"""Kinds that need packages of their own, or the states of another model."""


def kinds(task: str) -> list[str]:
    """The kinds of models that there are for a task."""
    return [kind for kind in MAPPINGS[task] if kind not in NOT_BUILT]


def tiny(kind: type[PreTrainedConfig], **changes: Any) -> PreTrainedConfig:
    """A small configuration."""
    fields = {field.name for field in dataclasses.fields(kind)}
    sizes = {name: size for name, size in TINY.items() if name in fields or name == "decoder_start_token_id"}
    if "kv_lora_rank" in fields:  # latent attention has no groups
        sizes["num_key_value_heads"] = TINY["num_attention_heads"]
    own = OTHERWISE.get(kind.model_type, {})
    parts = {name: tiny(part) for name, part in kind.sub_configs.items() if dataclasses.is_dataclass(part)}
    return kind(**{**sizes, **parts, **own, **changes})


def build(task: str, model_type: str, **changes: Any) -> PreTrainedModel:
    """The model of a kind for a task, always the same."""
    cls, kind = getattr(hf, MAPPINGS[task][model_type]), CONFIG_MAPPING[model_type]
    writes = task == "next tokens"
    config = tiny(
        cls.config_class if writes and cls.config_class in kind.sub_configs.values() else kind, **changes
    )
    if writes and hasattr(config, "is_decoder") and not config.is_encoder_decoder:
        config.is_decoder = True
    if writes and hasattr(config, "causal"):  # XLM has one class for both
        config.causal = True
    torch.manual_seed(0)
    with warnings.catch_warnings(action="ignore"):  # of sizes as small as these
        model: PreTrainedModel = cls(config)
    with torch.no_grad():
        for weight in model.parameters():
            if weight.ndim > 1:
                weight.normal_(0.0, SPREAD.get(model_type, 0.3))
    return model.eval()
