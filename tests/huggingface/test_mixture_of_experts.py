"""Mixtures of experts and learned sinks: read as any other model."""

import pytest
import torch
import transformers as hf

import glasshead
from classifier_families import TEXTS, widened, word_tokenizer
from glasshead.huggingface import readable_copy
from glasshead.trace import record
from tolerances import EXACT_MATHS

SIZES = {
    "vocab_size": 60, "hidden_size": 16, "num_hidden_layers": 2, "num_attention_heads": 2,
    "num_key_value_heads": 1, "intermediate_size": 24, "max_position_embeddings": 64,
    "num_experts_per_tok": 2, "pad_token_id": 0, "bos_token_id": 1, "eos_token_id": 1,
}  # fmt: skip
ROUTED = {**SIZES, "num_experts": 4, "moe_intermediate_size": 16}
LATENT = {
    **SIZES, "q_lora_rank": 8, "kv_lora_rank": 8, "qk_rope_head_dim": 4, "qk_nope_head_dim": 8,
    "v_head_dim": 8, "n_routed_experts": 4, "n_group": 2, "topk_group": 1, "moe_intermediate_size": 16,
    "first_k_dense_replace": 1, "n_shared_experts": 1, "num_key_value_heads": 2,
}  # fmt: skip
CONFIGS = {
    "mixtral": lambda: hf.MixtralConfig(**SIZES, num_local_experts=4),
    "qwen3-moe": lambda: hf.Qwen3MoeConfig(**ROUTED, head_dim=8),
    "gpt-oss": lambda: hf.GptOssConfig(**SIZES, num_local_experts=4, head_dim=8),
    "deepseek-v3": lambda: hf.DeepseekV3Config(**LATENT),
    "olmoe": lambda: hf.OlmoeConfig(**ROUTED),
}
METHODS = ("attention", "gradient", "rollout-absolute", "erasure-renormalise", "erasure-delete", "attn-lrp")
ROWS = [{"text": text, "label": f"LABEL_{number % 2}"} for number, text in enumerate(TEXTS * 2)]


@pytest.mark.parametrize("name", CONFIGS)
def test_a_language_model_of_experts_is_explained_and_writes(name):
    model = widened(hf.AutoModelForCausalLM.from_config, CONFIGS[name]())
    options = {"tokenizer": word_tokenizer("")}
    ids = options["tokenizer"](TEXTS[0], return_tensors="pt").input_ids
    with torch.no_grad():
        expected = float(model(ids).logits[0, -1].softmax(-1).max())
    for method in METHODS:
        attributions = glasshead.explain(model, TEXTS, method=method, **options)
        assert attributions[0].prediction == pytest.approx(expected, rel=1e-4)
    written = glasshead.generate(model, "a warm", tokens=2, **options)
    assert len(written.with_maps(["attention", "gradient"]).maps) == 2


def test_a_language_model_of_experts_is_audited():
    model = widened(hf.AutoModelForCausalLM.from_config, CONFIGS["mixtral"]())
    rows = [{"text": row["text"]} for row in ROWS]
    assert glasshead.audit(model, rows, tokenizer=word_tokenizer(""), audits=["perturbation"]).findings


@pytest.mark.parametrize("name", ["mixtral", "gpt-oss"])
def test_a_classifier_of_experts_is_audited_in_double_precision(name):
    config = CONFIGS[name]()
    config.num_labels = 2
    model = widened(hf.AutoModelForSequenceClassification.from_config, config)
    implementation = model.config._experts_implementation
    card = glasshead.audit(model, ROWS, tokenizer=word_tokenizer(""), audits=["agreement"])
    assert card.findings
    assert model.config._experts_implementation == implementation


def test_sinks_are_no_token():
    """Their share is missing in a row, and nothing else."""
    config = CONFIGS["gpt-oss"]()
    config._attn_implementation = "eager"
    model = widened(hf.AutoModelForCausalLM.from_config, config)
    with torch.no_grad():
        for layer in model.model.layers:
            layer.self_attn.sinks.normal_()
    ids = torch.tensor([[3, 7, 8, 9, 10, 11]])
    with torch.no_grad(), record(readable := readable_copy(model)) as trace:
        logits = readable(ids).logits
        expected = model(ids, output_attentions=True)
    torch.testing.assert_close(logits, expected.logits)
    for layer, attention in zip(trace.only, expected.attentions, strict=True):
        torch.testing.assert_close(layer.weights, attention, **EXACT_MATHS)
        again = layer.call.mechanism.weights(layer.call, layer.scores)
        torch.testing.assert_close(again, attention, **EXACT_MATHS)
        assert float(attention.sum(dim=-1).min()) < 0.9
