"""A hand-built GPT-2 of two layers that does induction: A B … A → B.

One head of layer 0 looks at the token before and writes which it was; one head of layer 1 looks for the
place whose token before is the token that is read, and writes what stands there. All else is small noise.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
import transformers as hf
from tokenizers import Tokenizer, models, pre_tokenizers, processors

WORDS = tuple(f"w{number:02}" for number in range(14))
BEGIN = "<s>"
VOCABULARY = (BEGIN, "<unk>", *WORDS)
LENGTH, LAYERS, HEADS = 24, 2, 3
PREVIOUS_TOKEN_HEAD, INDUCTION_HEAD = (0, 1), (1, 2)
"""(layer, head)"""
SHARPNESS, SIZE, NOISE = 4.0, 1.0, 0.01


def induction_model(
    noise: float = NOISE, seed: int = 0, words: Sequence[str] = WORDS, length: int = LENGTH
) -> tuple[Any, hf.PreTrainedTokenizerFast]:
    """The model and its tokenizer of ``words``, which begins every text with `BEGIN`.

    A vector has four parts: which token it is, where it stands, which token is before it, and what comes
    next, the only one that the vocabulary reads.
    """
    size = len(words) + 2
    width = HEADS * max(-(-(3 * size + length) // HEADS), length)
    token, place, before, after = torch.arange(3 * size + length).split([size, length, size, size])
    config = hf.GPT2Config(
        vocab_size=size, n_embd=width, n_layer=LAYERS, n_head=HEADS, n_inner=8,
        n_positions=length, bos_token_id=0, eos_token_id=0, tie_word_embeddings=False,
    )  # fmt: skip
    generator = torch.Generator().manual_seed(seed)
    model: Any = hf.GPT2LMHeadModel(config).eval()
    with torch.no_grad():
        for name, weight in model.named_parameters():
            weight.normal_(0.0, noise, generator=generator)
            if "ln_" in name and name.endswith("weight"):
                weight.add_(1.0)
        model.transformer.wte.weight[:, token] += torch.eye(size)
        model.transformer.wpe.weight[:, place] += torch.eye(length)
        model.lm_head.weight[:, after] += torch.eye(size)
        one_back = torch.diag(torch.ones(length - 1), -1)
        one_back[0, 0] = 1  # row: the place of the query
        set_head(model, PREVIOUS_TOKEN_HEAD, place, one_back, place, reads=token, writes=before)
        set_head(model, INDUCTION_HEAD, token, torch.eye(size), before, reads=token, writes=after)
    return model, word_tokenizer(words)


def set_head(
    model: Any,
    head: tuple[int, int],
    asks: torch.Tensor,
    about: torch.Tensor,
    keys: torch.Tensor,
    *,
    reads: torch.Tensor,
    writes: torch.Tensor,
) -> None:
    """A head whose query is the part ``asks`` times ``about``, whose key is the part ``keys``, and which
    moves one part of a vector to another."""
    layer, number = head
    attention = model.transformer.h[layer].attn
    wide, size = model.config.n_embd, model.config.n_embd // HEADS
    first = number * size
    count = len(keys)
    attention.c_attn.weight[asks, first : first + count] += SHARPNESS * about
    attention.c_attn.weight[keys, wide + first : wide + first + count] += torch.eye(count)
    moved = 2 * wide + first + torch.arange(len(reads))
    attention.c_attn.weight[reads, moved] += SIZE / 4
    attention.c_proj.weight[first + torch.arange(len(writes)), writes] += SIZE


def word_tokenizer(words: Sequence[str] = WORDS) -> hf.PreTrainedTokenizerFast:
    """A tokenizer of ``words``."""
    vocabulary = {word: i for i, word in enumerate((BEGIN, "<unk>", *words))}
    inner = Tokenizer(models.WordLevel(vocabulary, unk_token="<unk>"))
    inner.pre_tokenizer = pre_tokenizers.Whitespace()  # type: ignore[assignment]
    inner.post_processor = processors.TemplateProcessing(single=f"{BEGIN} $A", special_tokens=[(BEGIN, 0)])  # type: ignore[assignment]
    return hf.PreTrainedTokenizerFast(
        tokenizer_object=inner, bos_token=BEGIN, eos_token=BEGIN, pad_token=BEGIN, unk_token="<unk>"
    )


def repeated_text(length: int = 8, again: int = 4, seed: int = 0) -> tuple[str, str]:
    """Different words in random order, and the first of them again; and the word that comes next."""
    order = torch.randperm(len(WORDS), generator=torch.Generator().manual_seed(seed))[:length]
    words = [WORDS[index] for index in order]
    return " ".join([*words, *words[:again]]), words[again]
