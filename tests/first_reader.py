"""A hand-built GPT-2 that says the second word of its text, whatever the question is: it reads the first
passage alone."""

from typing import Any

import torch
from transformers import PreTrainedTokenizerFast

from induction import INDUCTION_HEAD, induction_model, set_head
from librarian import WORDS

READ, ASKS = 2, 20.0
"""The place of the second word, behind the token that begins a text, and how surely it is read."""


def first_reader() -> tuple[Any, PreTrainedTokenizerFast]:
    """The model and its tokenizer; its induction head looks at one place instead."""
    length = 160
    model, tokenizer = induction_model(0.01, words=WORDS, length=length)
    size = len(tokenizer)
    token, place, _, after = torch.arange(3 * size + length).split([size, length, size, size])
    attention, (layer, number) = model.transformer.h, INDUCTION_HEAD
    width = model.config.n_embd // model.config.n_head
    own = slice(number * width, (number + 1) * width)
    with torch.no_grad():
        for part in range(3):
            moved = slice(part * model.config.n_embd + own.start, part * model.config.n_embd + own.stop)
            attention[layer].attn.c_attn.weight[:, moved] = 0.0
        attention[layer].attn.c_proj.weight[own] = 0.0
        nothing = torch.zeros(length, length)
        set_head(model, INDUCTION_HEAD, place, nothing, place, reads=token, writes=after)
        attention[layer].attn.c_attn.bias[own.start + READ] += ASKS
    return model, tokenizer
