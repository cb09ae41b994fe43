"""A hand-built GPT-2 one of whose MLPs is a memory: behind each word it writes the word that goes with it.

Each hidden unit of that MLP is a key, which fires at one word, and its output row is the value (Geva et al.
2021). The heads and the other MLPs are small noise.
"""

from __future__ import annotations

from typing import Any

import torch
import transformers as hf

from induction import LENGTH, NOISE, VOCABULARY, WORDS, word_tokenizer

LAYERS, MEMORY = 3, 1
VALUES = {word: WORDS[(number + 5) % len(WORDS)] for number, word in enumerate(WORDS)}
"""What goes with each word."""
THRESHOLD = 2.5
"""A normalised one-hot vector has about 5 at its place and −0.2 elsewhere."""


def memory_model(noise: float = NOISE, seed: int = 0) -> tuple[Any, hf.PreTrainedTokenizerFast]:
    """The model and its tokenizer of words. A vector has three parts: which token it is, where it stands, and
    what comes next, the only one that the vocabulary reads."""
    size = len(VOCABULARY)
    token, place, after = torch.arange(2 * size + LENGTH).split([size, LENGTH, size])
    config = hf.GPT2Config(
        vocab_size=size, n_embd=2 * size + LENGTH, n_layer=LAYERS, n_head=2, n_inner=len(WORDS),
        n_positions=LENGTH, bos_token_id=0, eos_token_id=0, tie_word_embeddings=False,
    )  # fmt: skip
    generator = torch.Generator().manual_seed(seed)
    model: Any = hf.GPT2LMHeadModel(config).eval()
    with torch.no_grad():
        for name, weight in model.named_parameters():
            weight.normal_(0.0, noise, generator=generator)
            if "ln_" in name and name.endswith("weight"):
                weight.add_(1.0)
        model.transformer.wte.weight[:, token] += torch.eye(size)
        model.transformer.wpe.weight[:, place] += torch.eye(LENGTH)
        model.lm_head.weight[:, after] += torch.eye(size)
        mlp = model.transformer.h[MEMORY].mlp
        mlp.c_fc.bias -= THRESHOLD
        for unit, (key, value) in enumerate(VALUES.items()):
            mlp.c_fc.weight[token[VOCABULARY.index(key)], unit] += 1.0
            mlp.c_proj.weight[unit, after[VOCABULARY.index(value)]] += 1.0
    return model, word_tokenizer()
