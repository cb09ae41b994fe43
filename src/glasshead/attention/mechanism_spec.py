"""How a mechanism is named: a word (``tanhmax+distance-aware``) or a JSON spec."""

from collections.abc import Mapping
from typing import Any

from glasshead.attention.activation import ACTIVATIONS
from glasshead.attention.position import POSITIONS, Position
from glasshead.errors import InputError
from glasshead.registry import Registry, did_you_mean

Spec = Mapping[str, Any]

MECHANISM_PRESETS: Registry[Spec] = Registry("mechanism")
MECHANISM_PRESETS.register("cosformer")({"activation": "sum", "position": "cosine"})


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
        raise InputError(f"a mechanism must be a word or a mapping, not {type(spec).__name__}")
    for part, value in spec.items():
        if part not in full:
            raise InputError(f"a mechanism has no {part!r}: {did_you_mean(str(part), full)}")
        options = {"name": value} if isinstance(value, str) else value
        if not isinstance(options, Mapping) or not isinstance(options.get("name"), str):
            raise InputError(f'the {part} must be a name or {{"name": …, options}}, not {value!r}')
        (ACTIVATIONS if part == "activation" else POSITIONS)[options["name"]]
        full[part] = dict(options)
    return full


def position_of(spec: str | Spec) -> type[Position]:
    """The kind of position in a spec, whose attributes are known before anything is built."""
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


def to_name(spec: str | Spec) -> str:
    """A spec as words."""
    full = parse(spec)
    for name, preset in MECHANISM_PRESETS.items():
        if preset == to_spec(full):
            return name
    names = [full["activation"]["name"], full["position"]["name"]]
    if names[1] == "none":
        return names[0]
    return names[1] if names[0] == "softmax" else "+".join(names)
