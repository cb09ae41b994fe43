"""Small language models with random weights, and what they write."""

from functools import cache

import torch
from transformers import GPT2Config, GPT2LMHeadModel

from classifier_families import word_tokenizer

PROMPT = "the film was not"


@cache
def small_writer(layers=2, positions=64, width=16):
    """A GPT-2 that seldom ends a text, and its tokenizer of words."""
    torch.manual_seed(0)
    sizes = {"n_embd": width, "n_layer": layers, "n_head": 2, "n_positions": positions}
    model = GPT2LMHeadModel(GPT2Config(vocab_size=32, bos_token_id=1, eos_token_id=1, **sizes)).eval()
    with torch.no_grad():
        for weight in model.parameters():
            if weight.ndim > 1:
                weight.normal_(0.0, 0.4)
        model.transformer.wte.weight[1] = 0.0
    return model, word_tokenizer("")
