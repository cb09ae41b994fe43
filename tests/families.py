"""Tiny random models of every family that the plug is verified on, and of some that it refuses."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import torch
import transformers as hf
from torch import Tensor
from transformers import PreTrainedModel

from glasshead.models import PooledClassifier, PooledConfig

VOCABULARY = 60
PAD = 0
SIZES: dict[str, Any] = {
    "vocab_size": VOCABULARY,
    "hidden_size": 16,
    "num_hidden_layers": 2,
    "num_attention_heads": 2,
    "intermediate_size": 32,
    "pad_token_id": PAD,
    "bos_token_id": 1,
    "eos_token_id": 2,
}
PATCHES: dict[str, Any] = {
    "hidden_size": 16,
    "num_hidden_layers": 2,
    "num_attention_heads": 2,
    "intermediate_size": 32,
    "image_size": 12,
    "patch_size": 4,
}
GROUPED: dict[str, Any] = {**SIZES, "num_attention_heads": 4, "num_key_value_heads": 2, "head_dim": 8}


@dataclass(frozen=True)
class Family:
    """A model class with a tiny configuration, and what it reads."""

    kind: str
    """``encoder``, ``decoder``, ``both`` (an encoder and a decoder), ``speech`` (both) or ``image``."""
    model: Callable[[Any], PreTrainedModel]
    config: Callable[..., Any]
    options: dict[str, Any]

    @property
    def crosses(self) -> bool:
        """Whether there is cross-attention, where positions mean nothing."""
        return self.kind in ("both", "speech")

    def build(self, implementation: str = "eager", *, spread: float = 0.3, **changes: Any) -> PreTrainedModel:
        """The model with weights large enough that attention is far from uniform, always the same ones."""
        if implementation == "sdpa" and not self.model._supports_sdpa:
            implementation = "eager"
        torch.manual_seed(0)
        model = self.model(self.config(**{**self.options, "attn_implementation": implementation, **changes}))
        with torch.no_grad():
            for weight in model.parameters():
                if weight.ndim > 1:
                    weight.normal_(0.0, spread)
        return model.eval()

    def inputs(self, lengths: Sequence[int], side: str = "right") -> dict[str, Tensor]:
        """A batch of texts of these lengths (the same text whatever else is in the batch), or as many images
        or sounds."""
        if self.kind == "image":
            shape = (1, 3, 12, 12)
            return {"pixel_values": noise(shape, lengths)}
        written = torch.tensor([[1, 7, 9, 4, 8]]).repeat(len(lengths), 1)
        if self.kind == "speech":
            return {"input_values": noise((1, 2500), lengths), "decoder_input_ids": written}
        ids = torch.full((len(lengths), max(lengths)), PAD)
        for row, length in enumerate(lengths):
            generator = torch.Generator().manual_seed(length)
            text = torch.randint(3, VOCABULARY, (length,), generator=generator)
            ids[row, slice(-length, None) if side == "left" else slice(length)] = text
        given = {"input_ids": ids, "attention_mask": (ids != PAD).long()}
        if self.kind == "both":
            given["decoder_input_ids"] = written
        if self.kind == "decoder" and side == "left" and not isinstance(self.config(), hf.OPTConfig):
            given["position_ids"] = (given["attention_mask"].cumsum(-1) - 1).clamp(min=0)
        return given

    def read(self, model: PreTrainedModel, given: dict[str, Tensor]) -> list[Tensor]:
        """What the model makes of each text at its real tokens: logits, or the last hidden states."""
        made = model(**given)
        made = made.logits if "logits" in made else made.last_hidden_state
        if self.kind in ("encoder", "decoder"):
            return [row[real.bool()] for row, real in zip(made, given["attention_mask"], strict=True)]
        return list(made)


def noise(shape: tuple[int, ...], seeds: Sequence[int]) -> Tensor:
    """Random numbers in rows, each of a seed of its own."""
    return torch.cat([torch.randn(shape, generator=torch.Generator().manual_seed(seed)) for seed in seeds])


FAMILIES: dict[str, Family] = {
    "albert": Family("encoder", hf.AlbertModel, hf.AlbertConfig, {**SIZES, "embedding_size": 8}),
    "bart": Family(
        "both",
        hf.BartForConditionalGeneration,
        hf.BartConfig,
        {
            "vocab_size": VOCABULARY,
            "d_model": 16,
            "encoder_layers": 2,
            "decoder_layers": 2,
            "encoder_attention_heads": 2,
            "decoder_attention_heads": 2,
            "encoder_ffn_dim": 32,
            "decoder_ffn_dim": 32,
            "max_position_embeddings": 64,
            "pad_token_id": PAD,
            "bos_token_id": 1,
            "eos_token_id": 2,
            "forced_eos_token_id": None,
            "decoder_start_token_id": 1,
        },
    ),
    "beit": Family(
        "image",
        hf.BeitModel,
        hf.BeitConfig,
        {**PATCHES, "use_relative_position_bias": True, "layer_scale_init_value": 1.0},
    ),
    "bert": Family("encoder", hf.BertModel, hf.BertConfig, SIZES),
    "distilbert": Family(
        "encoder",
        hf.DistilBertModel,
        hf.DistilBertConfig,
        {
            "vocab_size": VOCABULARY,
            "dim": 16,
            "n_layers": 2,
            "n_heads": 2,
            "hidden_dim": 32,
            "pad_token_id": PAD,
        },
    ),
    "gemma2": Family(
        "decoder",
        hf.Gemma2ForCausalLM,
        hf.Gemma2Config,
        {**GROUPED, "query_pre_attn_scalar": 8, "sliding_window": 4, "attn_logit_softcapping": None},
    ),
    "gpt2": Family(
        "decoder",
        hf.GPT2LMHeadModel,
        hf.GPT2Config,
        {
            "vocab_size": VOCABULARY,
            "n_embd": 16,
            "n_layer": 2,
            "n_head": 2,
            "n_positions": 64,
            "bos_token_id": 1,
            "eos_token_id": 2,
            "pad_token_id": PAD,
        },
    ),
    "llama": Family("decoder", hf.LlamaForCausalLM, hf.LlamaConfig, GROUPED),
    "modernbert": Family(
        "encoder",
        hf.ModernBertModel,
        hf.ModernBertConfig,
        {**SIZES, "num_hidden_layers": 4, "local_attention": 6, "cls_token_id": 1, "sep_token_id": 2},
    ),
    "moonshine": Family(
        "speech",
        hf.MoonshineForConditionalGeneration,
        hf.MoonshineConfig,
        {
            "vocab_size": VOCABULARY,
            "hidden_size": 16,
            "intermediate_size": 32,
            "encoder_num_hidden_layers": 2,
            "decoder_num_hidden_layers": 2,
            "encoder_num_attention_heads": 2,
            "decoder_num_attention_heads": 2,
            "max_position_embeddings": 64,
            "pad_token_id": PAD,
            "bos_token_id": 1,
            "eos_token_id": 2,
            "decoder_start_token_id": 1,
        },
    ),
    "nllb-moe": Family(
        "both",
        hf.NllbMoeForConditionalGeneration,
        hf.NllbMoeConfig,
        {
            "vocab_size": VOCABULARY,
            "d_model": 16,
            "encoder_layers": 2,
            "decoder_layers": 2,
            "encoder_attention_heads": 2,
            "decoder_attention_heads": 2,
            "encoder_ffn_dim": 32,
            "decoder_ffn_dim": 32,
            "encoder_sparse_step": 2,
            "decoder_sparse_step": 2,
            "num_experts": 2,
            "moe_token_dropout": 0.0,
            "encoder_layerdrop": 0.0,
            "decoder_layerdrop": 0.0,
            "max_position_embeddings": 64,
            "pad_token_id": PAD,
            "bos_token_id": 1,
            "eos_token_id": 2,
            "decoder_start_token_id": 1,
        },
    ),
    "opt": Family(
        "decoder",
        hf.OPTForCausalLM,
        hf.OPTConfig,
        {
            **{name: size for name, size in SIZES.items() if name != "intermediate_size"},
            "ffn_dim": 32,
            "word_embed_proj_dim": 16,
            "max_position_embeddings": 64,
        },
    ),
    "qwen2": Family("decoder", hf.Qwen2ForCausalLM, hf.Qwen2Config, GROUPED),
    "qwen3": Family("decoder", hf.Qwen3ForCausalLM, hf.Qwen3Config, GROUPED),
    "roberta": Family(
        "encoder", hf.RobertaModel, hf.RobertaConfig, {**SIZES, "max_position_embeddings": 64}
    ),
    "siglip-text": Family(
        "encoder", hf.SiglipTextModel, hf.SiglipTextConfig, {**SIZES, "max_position_embeddings": 64}
    ),
    "siglip-vision": Family(
        "image", hf.SiglipVisionModel, hf.SiglipVisionConfig, {**PATCHES, "vision_use_head": False}
    ),
    "t5": Family(
        "both",
        hf.T5ForConditionalGeneration,
        hf.T5Config,
        {
            "vocab_size": VOCABULARY,
            "d_model": 16,
            "d_kv": 8,
            "d_ff": 32,
            "num_layers": 2,
            "num_heads": 2,
            "pad_token_id": PAD,
            "eos_token_id": 2,
            "decoder_start_token_id": 1,
            "relative_attention_num_buckets": 8,
            "relative_attention_max_distance": 16,
        },
    ),
    "vit": Family("image", hf.ViTModel, hf.ViTConfig, PATCHES),
}  # fmt: skip

REFUSED: dict[str, Callable[[], PreTrainedModel]] = {
    "bloom": lambda: hf.BloomModel(
        hf.BloomConfig(vocab_size=VOCABULARY, hidden_size=16, n_layer=1, n_head=2)
    ),
    "deberta": lambda: hf.DebertaModel(hf.DebertaConfig(**SIZES)),
    "deberta-v2": lambda: hf.DebertaV2Model(hf.DebertaV2Config(**SIZES)),
    "gptj": lambda: hf.GPTJModel(
        hf.GPTJConfig(vocab_size=VOCABULARY, n_embd=16, n_layer=1, n_head=2, rotary_dim=8)
    ),
    "longformer": lambda: hf.LongformerModel(hf.LongformerConfig(**SIZES, attention_window=[4, 4])),
    "mpnet": lambda: hf.MPNetModel(hf.MPNetConfig(**SIZES)),
    "xlnet": lambda: hf.XLNetModel(
        hf.XLNetConfig(vocab_size=VOCABULARY, d_model=16, n_layer=1, n_head=2, d_inner=32)
    ),
}

STOPPED: dict[str, Callable[[], PreTrainedModel]] = {
    **REFUSED,
    "gemma2": lambda: hf.Gemma2Model(hf.Gemma2Config(**GROUPED)),
    "gpt-oss": lambda: hf.GptOssModel(hf.GptOssConfig(**GROUPED, num_local_experts=2)),
    "deepseek": lambda: hf.DeepseekV32Model(
        hf.DeepseekV32Config(
            **{**SIZES, "num_key_value_heads": 2, "moe_intermediate_size": 16, "n_routed_experts": 4},
            num_experts_per_tok=2, n_group=1, topk_group=1, first_k_dense_replace=2, kv_lora_rank=8,
            q_lora_rank=8, qk_rope_head_dim=4, qk_nope_head_dim=4, v_head_dim=8, index_topk=2,
            index_n_heads=2, index_head_dim=8,
        )
    ),
    "mamba": lambda: hf.MambaModel(
        hf.MambaConfig(vocab_size=VOCABULARY, hidden_size=16, num_hidden_layers=1, state_size=4)
    ),
    "siglip": lambda: hf.SiglipVisionModel(hf.SiglipVisionConfig(**PATCHES)),
    "ours": lambda: PooledClassifier(PooledConfig(vocab_size=VOCABULARY)),
}  # fmt: skip
"""Models that the doctor says cannot be plugged."""
