"""Where a model keeps its attention, and what its modules say of their sizes, read off their structure."""

from __future__ import annotations

import copy
import inspect
import re
from collections.abc import Iterator

from torch import nn
from transformers import PreTrainedConfig, PreTrainedModel

from glasshead.attention import AttentionPooling, LearnedQueryAttention, MultiHeadAttention

HEAD_FIELDS = ("num_heads", "num_attention_heads", "n_heads", "n_head", "num_head")
KEY_SIZES = ("qk_head_dim", "head_dim", "attention_head_size", "key_value_proj_dim", "head_size", "d_kv")
VALUE_SIZES = ("v_head_dim",)
WIDTHS = ("embed_dim", "hidden_size", "dim", "d_model")
"""What models call the sizes of their heads, on the attention module or in its configuration."""

TABLE = re.compile(r"(^|\.)(wpe|\w*positions?_emb\w*|pos_emb\w*|embed_positions|positions\.embedding)$")
RELATIVE = re.compile(r"(^|_)rel(ative)?_\w*$")
"""What models call the table of their learned places, and that of distances."""


def attention_modules(model: nn.Module) -> Iterator[tuple[str, nn.Module]]:
    """The modules that call the registered attention function, with their names."""
    for name, module in model.named_modules():
        if dispatches(module):
            yield name, module


def dispatches(module: nn.Module) -> bool:
    """Whether a module's own forward looks its attention function up: its code says so, no list of names."""
    code = getattr(inspect.unwrap(type(module).forward), "__code__", None)
    return code is not None and "ALL_ATTENTION_FUNCTIONS" in code.co_names


def find_built_in_attention(model: nn.Module) -> Iterator[tuple[str, nn.Module]]:
    """The attention of our own models, which has its mechanism or its activation from the start."""
    for name, module in model.named_modules():
        if isinstance(module, (MultiHeadAttention, LearnedQueryAttention, AttentionPooling)):
            yield name, module


def find_undispatched_attention(model: nn.Module) -> Iterator[tuple[str, nn.Module]]:
    """Outermost modules that are attention by name, have weights, and neither dispatch nor hold what does."""
    reached = [name for name, _ in attention_modules(model)]
    missed: list[str] = []
    for name, module in model.named_modules():
        around = any(is_within(inner, name) for inner in reached)
        inside = any(is_within(name, outer) for outer in (*reached, *missed))
        if "Attention" in type(module).__name__ and not inside and not around and has_weights(module):
            missed.append(name)
            yield name, module


def every_attention(model: nn.Module) -> Iterator[nn.Module]:
    """All attention modules of a model, also those that compute their weights themselves."""
    for find in (attention_modules, find_built_in_attention, find_undispatched_attention):
        for _, module in find(model):
            yield module


def pluggable_parts(model: nn.Module) -> list[str]:
    """The outermost parts of a model that dispatch all their attention."""
    reached = [name for name, _ in attention_modules(model)]
    missed = [name for name, _ in find_undispatched_attention(model)]
    parts: list[str] = []
    for name, _ in model.named_modules():
        whole = not any(is_within(inner, name) for inner in missed) and any(
            is_within(inner, name) for inner in reached
        )
        if whole and not any(is_within(name, part) for part in parts):
            parts.append(name)
    return parts


def is_within(name: str, outer: str) -> bool:
    """Whether a module is another one or in it."""
    return name == outer or not outer or name.startswith(f"{outer}.")


def as_python(name: str) -> str:
    """How one writes a module of ``model``: ``encoder.layer.0`` is ``model.encoder.layer[0]``."""
    return "model" + "".join(
        f"[{part}]" if part.isdigit() else f".{part}" for part in name.split(".") if part
    )


def has_weights(module: nn.Module) -> bool:
    """Whether a module has parameters."""
    return next(module.parameters(), None) is not None


def is_cross_attention(name: str, module: nn.Module) -> bool:
    """Whether a module attends to another sequence than its own, by its flag or by how it is named."""
    if getattr(module, "is_cross_attention", False):
        return True
    named = f"{'.'.join(name.split('.')[-2:])} {type(module).__name__}"
    return re.search(r"cross|enc(oder)?_?dec|encoder_attn", named, flags=re.IGNORECASE) is not None


def head_sizes(module: nn.Module) -> tuple[int | None, int | None, int | None]:
    """Heads, size of a key, size of a value; None where the module does not say."""
    heads, head_dim = first_int_attr(module, HEAD_FIELDS), first_int_attr(module, KEY_SIZES)
    if head_dim is None and heads is not None:
        width = first_int_attr(module, WIDTHS)
        head_dim = None if width is None else width // heads
    return heads, head_dim, first_int_attr(module, VALUE_SIZES) or head_dim


def first_int_attr(module: nn.Module, names: tuple[str, ...]) -> int | None:
    """The first of these attributes that is a number, on the module or else in its configuration."""
    for owner in (module, getattr(module, "config", None)):
        for name in names:
            value = getattr(owner, name, None)
            if isinstance(value, int) and not isinstance(value, bool):
                return value
    return None


def position_limit(model: PreTrainedModel) -> int | None:
    """The number of learned positions, beyond which a call fails; None without such a table."""
    counts = []
    for name, module in model.named_modules():
        table = isinstance(module, nn.Embedding) and TABLE.search(name) and not RELATIVE.search(name)
        if table and reads_text(model, name):
            # RoBERTa and its like count from the place of the padding on, BART and OPT from the third row on.
            skipped = getattr(module, "offset", 0) if module.padding_idx is None else module.padding_idx + 1
            counts.append(module.num_embeddings - skipped)
    return min(counts, default=None)


def reads_text(model: PreTrainedModel, name: str) -> bool:
    """Whether the innermost model around a module reads tokens."""
    owner: PreTrainedModel = model
    for part, module in model.named_modules():
        if isinstance(module, PreTrainedModel) and is_within(name, part):
            owner = module
    if isinstance(owner.config, type(getattr(model.config, "vision_config", ()) or ())):
        return False  # Idefics does not say that its encoder reads images
    return owner.main_input_name in ("input_ids", "decoder_input_ids")


def positions_of(model: PreTrainedModel) -> int | None:
    """How long a text may be; None where there is no limit."""
    learned = position_limit(model)
    longest = getattr(model.config, "max_position_embeddings", None) if learned is None else learned
    return None if longest is None or longest < 0 else longest  # XLNet has −1


def config_to_save(model: PreTrainedModel) -> PreTrainedConfig:
    """The configuration of a model as it would be saved, with the name of its class."""
    config = copy.copy(model.config)
    config.architectures = [type(model).__name__]
    return config
