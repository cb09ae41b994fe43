"""Multi-head attention as a layer; sequences are ``[batch, length, size]``."""

from __future__ import annotations

from dataclasses import replace
from typing import Literal

import torch
from jaxtyping import Float
from torch import Tensor, nn

from glasshead.attention.hooks import has_hooks, run_hooked, run_hooked_sum, run_hooked_weights
from glasshead.attention.input_checks import check_dropout
from glasshead.attention.kernels.few_rows import attend_few_rows, pays
from glasshead.attention.kernels.summed_heads import project_weighted_inputs, sum_heads
from glasshead.attention.mask import Mask
from glasshead.attention.mechanism import AttentionInputs, AttentionOutput, Mechanism
from glasshead.attention.mechanism import mechanism as build
from glasshead.attention.mechanism_spec import Spec
from glasshead.errors import InputError, ParameterError
from glasshead.spelling import spell

HEAD_COMBINATIONS: dict[str, Literal["concat", "add"]] = {
    "concat": "concat", "concatenate": "concat", "sum": "add", "add": "add",
}  # fmt: skip
"""How heads are combined, by every word for it."""


def parse_head_combination(word: str) -> Literal["concat", "add"]:
    """How heads are combined, as saved configurations call it.

    Raises:
        InputError: on another word.
    """
    if word not in HEAD_COMBINATIONS:
        raise ParameterError("head_combination", f"must be concat or sum, not {word!r}")
    return HEAD_COMBINATIONS[word]


class MultiHeadAttention(nn.Module):
    """Self- and cross-attention by any mechanism, with d_k and d_v of one's choice.

    ``head_combination="concat"`` concatenates the heads and projects them: Y = [A_1 V_1 … A_H V_H] D + b with
    D of ``[H·d_v, d_e]``, which is Σ_h A_h V_h D_h + b. ``head_combination="sum"`` sums them first: Y = (Σ_h
    A_h V_h) D + b, where d_v is d_e and D, ``[d_e, d_e]``, is the same for all heads.

    d_k and d_v are d_e / H unless ``head_dim`` and ``value_dim`` are given. H / ``kv_heads`` query heads
    read the same keys and values. ``context_size`` is the width of the other sequence in cross-attention.
    ``dropout`` acts on the weights, in training only. Maps start Glorot-uniform, biases at 0.

    Raises:
        InputError: on sizes that do not fit each other.

    Source: Vaswani et al. (2017), section 3.2.2; Bhardwaj et al. (2021), sections 2.2 (D_h) and 4 (addition),
    and the caption of table 1 (D after the sum).
    """

    def __init__(
        self,
        size: int,
        num_heads: int,
        mechanism: str | Spec | Mechanism = "softmax",
        *,
        head_dim: int | None = None,
        value_dim: int | None = None,
        kv_heads: int | None = None,
        context_size: int | None = None,
        head_combination: str = "concat",
        dropout: float = 0.0,
        bias: bool = True,
    ) -> None:
        super().__init__()
        head_combination = parse_head_combination(head_combination)
        check_dropout(dropout)
        self.size, self.num_heads, self.dropout, self.head_combination = (
            size,
            num_heads,
            dropout,
            head_combination,
        )
        self.kv_heads = num_heads if kv_heads is None else kv_heads
        self.context_size = size if context_size is None else context_size
        if num_heads < 1 or self.kv_heads < 1 or num_heads % self.kv_heads:
            raise InputError(f"{num_heads} query heads cannot share {self.kv_heads} key heads")
        self.head_dim = size_per_head(size, num_heads, "head_dim") if head_dim is None else head_dim
        if value_dim is not None:
            self.value_dim = value_dim
        else:
            self.value_dim = (
                size if head_combination == "add" else size_per_head(size, num_heads, "value_dim")
            )
        if head_combination == "add" and self.value_dim != size:
            raise InputError(
                f"summed heads have the size {size} of the layer, not {self.value_dim}: "
                f"leave {spell('value_dim')} out, or use {spell('head_combination', 'concat')}"
            )
        sizes = {"head_dim": self.head_dim, "value_dim": self.value_dim, "context_size": self.context_size}
        for name, number in ({"size": size} | sizes).items():
            if number < 1:
                raise ParameterError(name, f"must be at least 1, not {number}")
        self.mechanism = build(
            mechanism, num_heads=num_heads, head_dim=self.head_dim, value_dim=self.value_dim
        )
        self.query = nn.Linear(size, num_heads * self.head_dim, bias=bias)
        self.key = nn.Linear(self.context_size, self.kv_heads * self.head_dim, bias=bias)
        self.value = nn.Linear(self.context_size, self.kv_heads * self.value_dim, bias=bias)
        self.output = nn.Linear(
            (1 if head_combination == "add" else num_heads) * self.value_dim, size, bias=bias
        )
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Give the linear maps new initial values; the mechanism keeps its own."""
        for linear in (self.query, self.key, self.value, self.output):
            nn.init.xavier_uniform_(linear.weight)
            if linear.bias is not None:
                nn.init.zeros_(linear.bias)

    def forward(
        self,
        x: Float[Tensor, "b q d_e"],
        context: Float[Tensor, "b k d_c"] | None = None,
        *,
        mask: Tensor | Mask | None = None,
        is_causal: bool = False,
        rows: slice = slice(None),
        need_weights: bool = False,
    ) -> AttentionOutput:
        """Output ``[B, Q, d_e]`` and, if requested, the weights ``[B, H, Q, K]`` before dropout.

        Keys and values are those of ``context``, or of ``x`` itself. True in ``mask`` means that a query
        may attend. It is padding ``[B, K]``, anything that broadcasts to ``[B, H, Q, K]``, or a `Mask`. The
        causal mask keeps the diagonal: the first token attends to itself. ``rows`` are the queries to
        compute.

        Raises:
            InputError: on shapes, types or masks that do not fit, and on a causal mask across two sequences.
        """
        check_sequence(x, self.size, "x")
        if context is None and self.context_size != self.size:
            raise InputError(f"this layer reads a context [batch, length, {self.context_size}]: give it one")
        source = x if context is None else context
        check_sequence(source, self.context_size, "context")
        allowed = mask_of(x, source, self.num_heads, mask, is_causal, crossing=context is not None).rows(rows)
        q = split_heads(self.query(x[:, rows]), self.num_heads)
        dropout = self.dropout if self.training else 0.0
        adds = self.head_combination == "add"
        if not need_weights and self.asks_few_rows(q, source) and not has_hooks():
            heads = attend_few_rows(
                self.mechanism, q, source, self.key, self.value, mask=allowed, dropout=dropout, adds=adds
            )
            return AttentionOutput(self.output(heads.transpose(1, 2).flatten(2)), None)
        k = split_heads(self.key(source), self.kv_heads)

        def call(v: Tensor | None = None) -> AttentionInputs:
            v = split_heads(self.value(source), self.kv_heads) if v is None else v
            return AttentionInputs.of(self.mechanism, q, k, v, mask=allowed, dropout=dropout)

        weights = None
        if need_weights:
            heads, weights = run_hooked_weights(self, call(), adds)
        elif not adds:
            heads = run_hooked(self, call())
        elif self.reads_before_it_maps(q, k):
            tokens = source[:, None].expand(-1, self.kv_heads, -1, -1)
            heads = run_hooked_sum(self, call, lambda: project_weighted_inputs(call(tokens), self.value))
        else:
            heads = run_hooked_sum(self, call, lambda: sum_heads(call()))
        output = self.output(heads.transpose(1, 2).flatten(2))  # [B, H or 1, Q, d_v] → [B, Q, d_e]
        return AttentionOutput(output, None if weights is None else weights.to(output.dtype))

    def asks_few_rows(self, q: Tensor, source: Tensor) -> bool:
        """Whether keys and values of all tokens cost more than these few queries (`attend_few_rows`)."""
        plain = not self.mechanism.position.needs_positions and not torch.is_autocast_enabled(q.device.type)
        sizes, keys = (self.head_dim, self.value_dim), source.shape[1]
        pay = plain and all(pays(q.shape[2], keys, size) for size in sizes)
        return pay and is_weights_alone(self.key) and is_weights_alone(self.value)

    def reads_before_it_maps(self, q: Tensor, k: Tensor) -> bool:
        """Whether summed heads read tokens first and then map what they have read, which is cheaper for few
        queries."""
        fits = self.context_size == self.value_dim and not self.mechanism.position.changes_output
        return fits and q.shape[2] < k.shape[2] and is_weights_alone(self.value)

    def extra_repr(self) -> str:
        return (
            f"num_heads={self.num_heads}, d_k={self.head_dim}, d_v={self.value_dim}, dropout={self.dropout}"
        )


def is_weights_alone(linear: nn.Module) -> bool:
    """Whether a module computes W x + b and nobody listens: no adapter, parametrization or hook, which would
    be passed over where its weights are read without calling it."""
    hooks = ("_forward_hooks", "_forward_pre_hooks", "_backward_hooks", "_backward_pre_hooks")
    heard = any(getattr(linear, each) for each in hooks) or "forward" in vars(linear)
    return type(linear) is nn.Linear and type(linear.weight) is nn.Parameter and not heard


def size_per_head(size: int, heads: int, option: str) -> int:
    """d_e / H."""
    if size % heads:
        raise InputError(f"{heads} heads do not divide the size {size}: give {spell(option)}")
    return size // heads


def check_sequence(sequence: Tensor, size: int, name: str) -> None:
    """Raise InputError unless this is a batch of sequences of vectors of that size."""
    if sequence.ndim != 3 or sequence.shape[2] != size:
        raise InputError(f"{name} must be [batch, length, {size}], not {list(sequence.shape)}")


def split_heads(joined: Float[Tensor, "b n s"], heads: int) -> Float[Tensor, "b h n d"]:
    """The heads of a projection."""
    return joined.unflatten(2, (heads, -1)).transpose(1, 2)


def mask_of(
    x: Tensor, source: Tensor, heads: int, mask: Tensor | Mask | None, is_causal: bool, *, crossing: bool
) -> Mask:
    """The mask of all queries. Two dimensions are always padding, also where a batch has Q sequences."""
    if isinstance(mask, Tensor) and mask.ndim == 2:
        if mask.shape != source.shape[:2]:
            raise InputError(
                f"a mask of two dimensions is padding [batch, keys] = {list(source.shape[:2])}, "
                f"not {list(mask.shape)}: give pairs [queries, keys] as mask[None, None]"
            )
        mask = mask[:, None, None]
    # All that is read of queries and keys is how many there are.
    queries, k = x[:, None, :, :1].expand(-1, heads, -1, -1), source[:, None, :, :1]
    if not crossing or isinstance(mask, Mask):
        return Mask.of(queries, k, mask, is_causal)
    if is_causal:
        raise InputError("is_causal has no meaning across two sequences: leave context out")
    return replace(Mask.of(queries, k, mask), query_positions=None)
