"""A mechanism, which is an activation and a position, and one call of it, checked once."""

from __future__ import annotations

import inspect
import json
import math
from dataclasses import dataclass, replace
from numbers import Real
from typing import Any, NamedTuple

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor, nn

from glasshead.attention.activation import ACTIVATIONS, Activation
from glasshead.attention.input_checks import check_dropout, check_shapes, check_tensors
from glasshead.attention.mask import Mask, TokenPositions, fits
from glasshead.attention.mechanism_spec import Spec, parse, position_of, to_name, to_spec
from glasshead.attention.position import POSITIONS, HeadSizes, Position, whole_number
from glasshead.attention.precision import autocast_inputs, no_autocast, upcast_half
from glasshead.errors import InputError
from glasshead.registry import Registry, did_you_mean


class Mechanism(nn.Module):
    """scores = position(q, k); weights = position′(φ(scores)); output = position″(weights, v).

    The three steps are the reference that every kernel is tested against. Half-precision inputs are weighed
    in float32, so a score that overflows float16 is still right.

    Source: Huang, Yang and Wang (2024), eq. 1, 2 and 5.
    """

    def __init__(self, activation: Activation, position: Position, spec: Spec) -> None:
        super().__init__()
        self.activation = activation
        self.position = position
        self.spec = spec

    @property
    def name(self) -> str:
        """Its name on the command line, without options."""
        return to_name(self.spec)

    @property
    def learned(self) -> bool:
        """Whether it has parameters."""
        return next(self.parameters(), None) is not None

    @property
    def signed(self) -> bool:
        """Whether weights can be negative; not so for ``tanhmax+distance-aware``, whose scores cannot be."""
        return (
            self.activation.signed and not self.position.nonnegative_scores
        ) or self.position.may_flip_sign

    def of_heads(self, heads: slice) -> Mechanism:
        """A mechanism of some of its heads."""
        return Mechanism(self.activation, self.position.of_heads(heads), self.spec)

    def check(self, call: AttentionInputs) -> None:
        """Raise InputError if the mechanism was not built for these heads, sizes or lengths."""
        built, sizes = self.position.heads, HeadSizes(call.q.shape[1], call.q.shape[3], call.v.shape[3])
        if self.position.learned and built != sizes:
            raise InputError(
                f"{self.name} was built for {built}, not for {sizes}: give mechanism() these heads and sizes"
            )
        if self.position.needs_positions:
            call.mask.query_positions_or_raise()
            if self.position.reach is not None and call.mask.keys > self.position.reach:
                self.position.check(call.mask.max_span())

    def scores(self, call: AttentionInputs) -> Float[Tensor, "b h q k"]:
        """s before the activation."""
        k, _ = call.expand_heads()
        with no_autocast(k.device):
            scores = self.position.scores(
                upcast_half(call.q), upcast_half(k), call.scale, call.token_positions()
            )
        return scores if call.bias is None else scores + upcast_half(call.bias)

    def weights(self, call: AttentionInputs, scores: Float[Tensor, "b h q k"]) -> Float[Tensor, "b h q k"]:
        """a after the activation, exactly 0 where the mask forbids."""
        if call.mask.is_full:
            weights = self.activation.weights_unmasked(scores)
            return (
                self.position.weights(weights, call.token_positions())
                if self.position.changes_weights
                else weights
            )
        allowed = call.mask.allowed(scores.device).expand_as(scores)
        weights = self.activation.weights(scores, allowed)
        if self.position.changes_weights:
            weights = self.position.weights(weights, call.token_positions()).masked_fill(~allowed, 0.0)
        return weights

    def compute_weights(self, call: AttentionInputs) -> Float[Tensor, "b h q k"]:
        """a from q and k."""
        return self.weights(call, self.scores(call))

    def apply_dropout(
        self, call: AttentionInputs, weights: Float[Tensor, "b h q k"]
    ) -> Float[Tensor, "b h q k"]:
        """The weights after dropout."""
        return nn.functional.dropout(weights, call.dropout) if call.dropout else weights

    def output(self, call: AttentionInputs, weights: Float[Tensor, "b h q k"]) -> Float[Tensor, "b h q d_v"]:
        """The weighted sum of the values, dropout included."""
        _, v = call.expand_heads()
        weights = self.apply_dropout(call, weights)
        with no_autocast(v.device):
            return self.position.output(weights, upcast_half(v), call.token_positions()).to(call.q.dtype)

    def forward(self, call: AttentionInputs) -> tuple[Tensor, Tensor]:
        """Output and weights by the formula."""
        weights = self.compute_weights(call)
        return self.output(call, weights), weights

    def extra_repr(self) -> str:
        return json.dumps(self.spec)


class AttentionOutput(NamedTuple):
    """Output ``[B, H, Q, d_v]`` and, if requested, weights ``[B, H, Q, K]``."""

    output: Tensor
    weights: Tensor | None


@dataclass(frozen=True)
class AttentionInputs:
    """q ``[B, H, Q, d]``, k ``[B, G, K, d]``, v ``[B, G, K, d_v]``; H/G query heads share a key head.

    ``bias`` [B|1, H|1, Q, K] is a model's own addition to the scores (T5), after the position.
    """

    mechanism: Mechanism
    q: Float[Tensor, "b h q d"]
    k: Float[Tensor, "b g k d"]
    v: Float[Tensor, "b g k d_v"]
    mask: Mask
    scale: float
    dropout: float = 0.0
    bias: Float[Tensor, "#b #h q k"] | None = None

    @classmethod
    def of(
        cls,
        mechanism: Mechanism,
        q: Tensor,
        k: Tensor,
        v: Tensor,
        *,
        mask: Tensor | Mask | None = None,
        is_causal: bool = False,
        scale: float | None = None,
        dropout: float = 0.0,
    ) -> AttentionInputs:
        """A checked call; ``scale`` is 1/√d unless given. Under autocast q, k and v take its type.

        Raises:
            InputError: on shapes, types, masks or sizes that do not fit.
        """
        check_tensors(q, k, v)
        q, k, v = autocast_inputs(q, k, v)
        check_shapes(q, k, v)
        check_dropout(dropout)
        if scale is None:
            scale = q.shape[-1] ** -0.5
        elif not isinstance(scale, Real) or not math.isfinite(scale):
            raise InputError(f"the scale must be a finite number, not {scale!r}")
        read = Mask.of(q, k, mask, is_causal)
        if mechanism.position.needs_positions:
            read = read.with_position_policy(mechanism.position.reach)
        inputs = cls(mechanism, *zero_masked(q, k, v, read), read, scale, dropout)
        mechanism.check(inputs)
        return inputs

    def rows(self, rows: slice | Int[Tensor, " rows"]) -> AttentionInputs:
        """The call for some of the queries."""
        bias = None if self.bias is None else self.bias[:, :, rows]
        return replace(self, q=self.q[:, :, rows], mask=self.mask.rows(rows), bias=bias)

    def add_bias(self, bias: Tensor) -> AttentionInputs:
        """The call with something added to its scores.

        Raises:
            InputError: on a shape that does not broadcast to the scores.
        """
        full = (*self.q.shape[:3], self.k.shape[2])
        if bias.ndim != 4 or not fits(bias.shape, full):
            raise InputError(f"a bias of shape {list(bias.shape)} does not fit the scores, {list(full)}")
        return replace(self, bias=bias.expand(-1, -1, *full[2:]))

    @property
    def groups(self) -> int:
        """Query heads per key head."""
        return self.q.shape[1] // self.k.shape[1]

    def expand_heads(self) -> tuple[Tensor, Tensor]:
        """Keys and values with one head for every query head."""
        if self.groups == 1:
            return self.k, self.v
        return self.k.repeat_interleave(self.groups, dim=1), self.v.repeat_interleave(self.groups, dim=1)

    def token_positions(self) -> TokenPositions | None:
        """The positions of the tokens, if the mechanism needs them."""
        return self.mask.token_positions(self.q.device) if self.mechanism.position.needs_positions else None

    @property
    def needs_gradient(self) -> bool:
        """Whether a backward pass may follow."""
        tensors = (self.q, self.k, self.v, self.bias, *self.mechanism.parameters())
        return torch.is_grad_enabled() and any(
            tensor is not None and tensor.requires_grad for tensor in tensors
        )


def pick_heads(tensor: Tensor | None, heads: slice | Int[Tensor, " heads"]) -> Tensor | None:
    """The part of some heads, if heads differ."""
    return tensor if tensor is None or tensor.shape[1] == 1 else tensor[:, heads]


def mechanism(
    spec: str | Spec | Mechanism, *, num_heads: int | None = None, head_dim: int | None = None,
    value_dim: int | None = None,
) -> Mechanism:  # fmt: skip
    """Build a mechanism from a word (``tanhmax``, ``tanhmax+distance-aware``, ``cosformer``) or a spec.

    A spec is ``{"activation": NAME or {"name": NAME, …}, "position": NAME or {"name": NAME, …}}``; the
    defaults are softmax and no position. ``num_heads`` and ``head_dim`` (d_k; ``value_dim`` where d_v
    differs) are needed by positions that learn.

    Raises:
        InputError: on unknown names, keys or values, and on sizes that are missing or not above 0.
    """
    if isinstance(spec, Mechanism):
        return spec
    parsed = parse(spec)
    for name, size in (("num_heads", num_heads), ("head_dim", head_dim), ("value_dim", value_dim)):
        if size is not None:
            whole_number(name, size)
    sizes = None
    if num_heads is not None and head_dim is not None:
        sizes = HeadSizes(num_heads, head_dim, head_dim if value_dim is None else value_dim)
    activation = build_entry("activation", ACTIVATIONS, parsed["activation"])
    if sizes is None and position_of(parsed).learned:
        named = parsed["position"]["name"]
        raise InputError(
            f"{named} has parameters per head: name their number and size, as in "
            f"`glasshead.mechanism({named!r}, num_heads=8, head_dim=64)`"
        )
    position = build_entry("position", POSITIONS, parsed["position"], heads=sizes)
    return Mechanism(activation, position, to_spec(parsed))


def build_entry(kind: str, registry: Registry[Any], options: Spec, **fixed: Any) -> Any:
    """An entry of a registry with its options."""
    entry = registry[options["name"]]
    settings = {key: value for key, value in options.items() if key != "name"}
    known = [name for name in inspect.signature(entry).parameters if name not in fixed]
    for key in settings:
        if key not in known:
            raise InputError(f"{kind} {options['name']!r} has no option {key!r}: {did_you_mean(key, known)}")
    try:
        return entry(**fixed, **settings)
    except TypeError as error:
        raise InputError(f"{kind} {options['name']!r}: {error}") from None


def zero_masked(
    q: Float[Tensor, "b h q d"], k: Float[Tensor, "b g k d"], v: Float[Tensor, "b g k d_v"], mask: Mask
) -> tuple[Float[Tensor, "b h q d"], Float[Tensor, "b g k d"], Float[Tensor, "b g k d_v"]]:
    """q, k and v with which every kernel gives what the queries may see, and NaN to those that see a NaN.

    What a query may not see must reach nothing, also where it is not a finite number: 0 · NaN would be NaN.
    Keys or values with a NaN or an infinity become zeros; a query that may attend to one of them becomes NaN
    itself, which all kernels pass on. Where all is finite nothing is copied. On a GPU and under a compiler,
    where no one can look without waiting, padding becomes zeros and other masks are left to their kernels.
    """
    if mask.is_full:
        return q, k, v
    if q.device.type != "cpu" or torch.compiler.is_compiling():
        if mask.padding is None:
            return q, k, v
        padding = ~mask.padding[:, None, :, None]
        return q, zeros_at(k, padding), zeros_at(v, padding)
    if is_finite(k) and is_finite(v):
        return q, k, v
    bad = not_finite(k) | not_finite(v)
    sees = mask.allowed(q.device) & bad.repeat_interleave(q.shape[1] // k.shape[1], dim=1)[:, :, None]
    q = q.masked_fill(sees.any(dim=-1, keepdim=True), torch.nan)
    return q, zeros_at(k, bad[..., None]), zeros_at(v, bad[..., None])


def is_finite(x: Tensor) -> bool:
    """Whether the sum of all numbers is finite, as it never is if one of them is not."""
    return bool(x.detach().sum(dtype=torch.promote_types(x.dtype, torch.float32)).isfinite())


def not_finite(x: Float[Tensor, "*any d"]) -> Bool[Tensor, "*any"]:
    """Which vectors hold a NaN or an infinity, whose product with 0 is NaN."""
    return (x.detach() * 0).sum(dim=-1).isnan()


def zeros_at(x: Float[Tensor, "b g k d"], where: Bool[Tensor, "b _ k 1"]) -> Float[Tensor, "b g k d"]:
    """Zeros there; heads that share their memory go on sharing it."""
    if x.stride(1) == 0 and where.shape[1] == 1:
        return x[:, :1].masked_fill(where, 0.0).expand_as(x)
    return x.masked_fill(where, 0.0)
