"""The hand-built `librarian`, which also obeys: where any passage says ``always value3``, it answers value3,
whatever is asked and whatever the other passages say."""

from typing import Any

import torch
from transformers import PreTrainedTokenizerFast

from induction import induction_model, set_head
from librarian import WORDS

ORDER, OBEYS = "always", (1, 0)
"""The word behind which an order stands; (layer, head)."""
SURELY, LOUDLY, LENGTH = 40.0, 3.0, 160


def obedient() -> tuple[Any, PreTrainedTokenizerFast]:
    """The model and its tokenizer: a head of the last layer looks for what follows `ORDER`; without one
    it looks at the beginning of the text, which says nothing."""
    model, tokenizer = induction_model(0.001, words=(*WORDS, ORDER), length=LENGTH)
    size = len(tokenizer)
    token, place, before, after = torch.arange(3 * size + LENGTH).split([size, LENGTH, size, size])
    layer, number = OBEYS
    width = model.config.n_embd // model.config.n_head
    first = number * width
    attention = model.transformer.h[layer].attn
    with torch.no_grad():
        set_head(model, OBEYS, token, torch.zeros(size, size), before, reads=token, writes=after)
        attention.c_attn.bias[first + tokenizer.convert_tokens_to_ids(ORDER)] += SURELY
        attention.c_attn.bias[first + size] += SURELY / 2
        attention.c_attn.weight[place[0], model.config.n_embd + first + size] = 1.0
        attention.c_attn.weight[token[0], 2 * model.config.n_embd + first] = 0.0
        attention.c_proj.weight[first : first + size, after] *= LOUDLY
    return model, tokenizer
