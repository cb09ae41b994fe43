"""A BERT whose weights are given by a formula, so that any machine can build it again."""

from __future__ import annotations

import torch
import transformers as hf
from transformers import PreTrainedModel, PreTrainedTokenizerFast

from planted_heads import tokenizer_of

WORDS = [f"w{number}" for number in range(4, 12)]
TEXT = "w5 w7 w4 w9 w5"


def closed_form_bert(layers: int = 2) -> tuple[PreTrainedModel, PreTrainedTokenizerFast]:
    """In float64, `filled`."""
    config = hf.BertConfig(
        vocab_size=12,
        hidden_size=8,
        num_attention_heads=2,
        num_hidden_layers=layers,
        intermediate_size=16,
        max_position_embeddings=16,
        type_vocab_size=1,
        attn_implementation="eager",
    )
    return filled(hf.BertForSequenceClassification(config), norm="LayerNorm"), tokenizer_of(WORDS)


def closed_form_gpt2() -> PreTrainedModel:
    """The same of a GPT-2 of two layers with tied embeddings, for the words of `word_tokenizer`."""
    config = hf.GPT2Config(
        vocab_size=32,
        n_positions=16,
        n_embd=8,
        n_layer=2,
        n_head=2,
        bos_token_id=1,
        eos_token_id=1,
        attn_implementation="eager",
    )
    return filled(hf.GPT2LMHeadModel(config), norm="ln_")


def filled(model: PreTrainedModel, norm: str) -> PreTrainedModel:
    """Entry k of parameter i is 0.6 sin(1.7 k + 0.9 i), and 1 more in the weights of norms."""
    model = model.eval().double()
    with torch.no_grad():
        for index, (name, parameter) in enumerate(model.named_parameters()):
            entries = torch.arange(parameter.numel(), dtype=torch.float64)
            is_norm = norm in name and name.endswith("weight")
            values = 0.6 * torch.sin(1.7 * entries + 0.9 * index) + is_norm
            parameter.copy_(values.view_as(parameter))
    return model
