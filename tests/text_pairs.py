"""Pairs of texts for exchanges of activations, and small language models before them."""

from functools import cache

import torch
import transformers as hf

from classifier_families import word_tokenizer as words
from induction import VOCABULARY, WORDS

SENTENCES = (
    ("the film was good and warm", "the film was bad and warm", "good", "bad"),
    ("a film is bad and warm", "a film is good and warm", "bad", "good"),
    ("the film was bad", "the film was good", "bad", "good"),
    ("a warm film was", "a bad film was", "warm", "bad"),
)


def rows_of(sentences):
    return [dict(zip(("clean", "corrupted", "answer", "against"), row, strict=True)) for row in sentences]


def induction_rows(count=12, cue=False, noun=3):
    """Repeated random words. The corrupted text has another word where the answer stands, or (``cue``) before
    it, so that nothing tells what follows."""
    rows = []
    for number in range(count):
        generator = torch.Generator().manual_seed(number)
        order = [WORDS[index] for index in torch.randperm(len(WORDS), generator=generator)[: 9 + number % 2]]
        first, other, extra = order[:-1], order[:-1], order[-1]
        other[noun - cue] = extra
        again = first[:noun]
        rows.append(
            {
                "clean": " ".join([*first, *again]),
                "corrupted": " ".join([*other, *again]),
                "answer": first[noun],
                "against": first[noun + 1] if cue else extra,
            }
        )
    return rows


@cache
def language_model(kind):
    torch.manual_seed(0)
    sizes = {"vocab_size": 32, "bos_token_id": 1, "eos_token_id": 1}
    if kind == "gpt2":
        config = hf.GPT2Config(n_embd=24, n_layer=3, n_head=3, n_positions=32, **sizes)
    elif kind == "gpt_neox":
        config = hf.GPTNeoXConfig(
            hidden_size=24, num_hidden_layers=3, num_attention_heads=3, intermediate_size=40, **sizes
        )
    elif kind == "opt":
        config = hf.OPTConfig(
            hidden_size=24, num_hidden_layers=3, num_attention_heads=3, ffn_dim=40, word_embed_proj_dim=24,
            max_position_embeddings=32, pad_token_id=0, **sizes,
        )  # fmt: skip
    else:
        config = hf.LlamaConfig(
            hidden_size=24, num_hidden_layers=3, num_attention_heads=3, num_key_value_heads=1,
            intermediate_size=40, **sizes,
        )  # fmt: skip
    model = hf.AutoModelForCausalLM.from_config(config).eval()
    with torch.no_grad():
        for weight in model.parameters():
            if weight.ndim > 1:
                weight.normal_(0.0, 0.3)
    return model, words("")


def parts_of(kind, model):
    """Blocks, output projections and MLPs by their names: what the product must find by itself."""
    if kind == "gpt2":
        blocks = model.transformer.h
        return blocks, [b.attn.c_proj for b in blocks], [b.mlp for b in blocks]
    if kind == "gpt_neox":
        blocks = model.gpt_neox.layers
        return blocks, [b.attention.dense for b in blocks], [b.mlp for b in blocks]
    if kind == "opt":
        blocks = model.model.decoder.layers
        return blocks, [b.self_attn.out_proj for b in blocks], [b.fc2 for b in blocks]
    blocks = model.model.layers
    return blocks, [b.self_attn.o_proj for b in blocks], [b.mlp for b in blocks]


def random_model(seed):
    """A GPT-2 or a Llama, with small or large weights."""
    torch.manual_seed(seed)
    sizes = {"vocab_size": len(VOCABULARY), "bos_token_id": 0, "eos_token_id": 0, "pad_token_id": 0}
    sizes["initializer_range"] = (0.02, 0.2)[seed // 2 % 2]
    gpt = hf.GPT2Config(n_embd=32, n_layer=2, n_head=4, n_positions=24, **sizes)
    llama = hf.LlamaConfig(
        hidden_size=32, intermediate_size=64, num_hidden_layers=2, num_attention_heads=4, **sizes
    )
    return hf.AutoModelForCausalLM.from_config((gpt, llama)[seed % 2])
