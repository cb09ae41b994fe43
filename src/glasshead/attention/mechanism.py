"""A mechanism: an activation and a position, named by a word or a JSON spec."""

from __future__ import annotations

import inspect
import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import torch
from jaxtyping import Float
from torch import Tensor, nn

from glasshead.attention.activation import ACTIVATIONS, Activation
from glasshead.attention.position import POSITIONS, HeadSizes, Position, whole_number
from glasshead.attention.precision import no_autocast
from glasshead.errors import InputError
from glasshead.registry import Registry, did_you_mean

if TYPE_CHECKING:
    from glasshead.attention.inputs import AttentionInputs

Spec = Mapping[str, Any]

MECHANISM_PRESETS: Registry[Spec] = Registry("mechanism")
MECHANISM_PRESETS.register("cosformer")({"activation": "sum", "position": "cosine"})


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
        """The word for it, as the command line takes it; options are not part of it."""
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
        """The same mechanism for some of its heads."""
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
        k, _ = call.expanded()
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
        """What the weights make of the values, dropout included."""
        _, v = call.expanded()
        weights = self.apply_dropout(call, weights)
        with no_autocast(v.device):
            return self.position.output(weights, upcast_half(v), call.token_positions()).to(call.q.dtype)

    def forward(self, call: AttentionInputs) -> tuple[Tensor, Tensor]:
        """Output and weights by the formula."""
        weights = self.compute_weights(call)
        return self.output(call, weights), weights

    def extra_repr(self) -> str:
        return json.dumps(self.spec)


def upcast_half(values: Tensor) -> Tensor:
    """Half precision becomes float32; the rest stays."""
    return values.float() if values.dtype in (torch.float16, torch.bfloat16) else values


def mechanism(
    spec: str | Spec | Mechanism, *, num_heads: int | None = None, head_dim: int | None = None,
    value_dim: int | None = None,
) -> Mechanism:  # fmt: skip
    """Build a mechanism from a word (``tanhmax``, ``tanhmax+distance-aware``, ``cosformer``) or a spec.

    A spec is ``{"activation": NAME or {"name": NAME, …}, "position": NAME or {"name": NAME, …}}``; what is
    left out is softmax and no position. ``num_heads`` and ``head_dim`` (d_k; ``value_dim`` where d_v differs)
    are needed by positions that learn.

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
    activation = build("activation", ACTIVATIONS, parsed["activation"])
    if sizes is None and position_of(parsed).learned:
        named = parsed["position"]["name"]
        raise InputError(
            f"{named} has parameters per head: say how many and their size, "
            f"as in `glasshead.mechanism({named!r}, num_heads=8, head_dim=64)`"
        )
    position = build("position", POSITIONS, parsed["position"], heads=sizes)
    return Mechanism(activation, position, to_spec(parsed))


def build(kind: str, registry: Registry[Any], options: Spec, **fixed: Any) -> Any:
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


def parse(spec: str | Spec) -> dict[str, dict[str, Any]]:
    """The full form: both parts, each with its name and options.

    Raises:
        InputError: on unknown names or keys.
    """
    full: dict[str, dict[str, Any]] = {"activation": {"name": "softmax"}, "position": {"name": "none"}}
    if isinstance(spec, str):
        named: set[str] = set()
        for word in spec.split("+"):
            for part, value in parse_word(word.strip()).items():
                if part in named:
                    raise InputError(f"{spec!r} names two {part}s")
                named.add(part)
                full[part] = parse({part: value})[part]
        return full
    if not isinstance(spec, Mapping):
        raise InputError(f"a mechanism is a word or a mapping, not {type(spec).__name__}")
    for part, value in spec.items():
        if part not in full:
            raise InputError(f"a mechanism has no {part!r}: {did_you_mean(str(part), full)}")
        options = {"name": value} if isinstance(value, str) else value
        if not isinstance(options, Mapping) or not isinstance(options.get("name"), str):
            raise InputError(f'the {part} is a name or {{"name": …, options}}, not {value!r}')
        (ACTIVATIONS if part == "activation" else POSITIONS)[options["name"]]
        full[part] = dict(options)
    return full


def position_of(spec: str | Spec) -> type[Position]:
    """The kind of position in a spec, whose facts can be asked before anything is built."""
    return POSITIONS[parse(spec)["position"]["name"]]


def parse_word(word: str) -> Spec:
    """One word of a ``+`` chain: a preset, an activation or a position."""
    if word in MECHANISM_PRESETS:
        return MECHANISM_PRESETS[word]
    if word in ACTIVATIONS:
        return {"activation": word}
    if word in POSITIONS:
        return {"position": word}
    known = [*MECHANISM_PRESETS, *ACTIVATIONS, *POSITIONS]
    raise InputError(f"unknown attention mechanism {word!r}: {did_you_mean(word, known)}")


def to_spec(full: Spec) -> Spec:
    """The spec without defaults, as it is saved."""
    parts = {part: options["name"] if len(options) == 1 else options for part, options in full.items()}
    if parts["position"] == "none":
        del parts["position"]
    return parts


def to_name(spec: Spec) -> str:
    """A spec as words."""
    full = parse(spec)
    for name, preset in MECHANISM_PRESETS.items():
        if preset == to_spec(full):
            return name
    names = [full["activation"]["name"], full["position"]["name"]]
    if names[1] == "none":
        return names[0]
    return names[1] if names[0] == "softmax" else "+".join(names)
