"""Whether attention was used: how far its scores and weights are from those of a model at the start."""

from collections.abc import Sequence

from typing_extensions import TypedDict

NOT_USED = 0.98
"""Entropy, as a share of the largest, above which a layer hardly prefers any token."""
FAR = 0.25
"""Weights of one sign with such an entropy lie no further from 1/n: ½ Σ|p − 1/n| ≤ √((1 − H) log n / 2) is
0.25 for n = 512 (Pinsker). Signed ones can be equal in size and still choose by sign."""

USE_QUANTITIES = {"score_sd": "SD of the scores", "entropy": "entropy", "distance": "distance from uniform"}
"""The numbers of a layer, and their names."""


class LayerUse(TypedDict):
    """One attention call of a model: means over sequences (texts, or the sentences that are read one by one)
    of the means over their rows and heads.

    ``score_sd`` is the standard deviation of the scores within a row, ``entropy`` −Σ p log p / log n with p =
    |a| / Σ|a| (1: all n tokens alike), ``distance`` ½ Σ|p − 1/n| with p = a / Σ|a| (0: uniform; of signed
    rows the smaller one of a and −a, since the sign of a head is a gauge). Rows with one key are left out, as
    are those whose weights are all 0, except the scores; ``zero_rows`` is their share. ``interval`` is the
    95 % interval of the entropy, over sequences.
    """

    layer: int
    name: str
    signed: bool
    sequences: int
    rows: int
    score_sd: float | None
    entropy: float | None
    interval: tuple[float, float] | list[float] | None
    distance: float | None
    zero_rows: float


class AttentionUse(TypedDict):
    """The attention calls of a model before and after training, on the same texts; ``before`` is None if not
    measured."""

    before: list[LayerUse] | None
    after: list[LayerUse]


def is_unused(layer: LayerUse) -> bool:
    """Whether a layer hardly prefers any token: its entropy is above 0.98, and its signs choose none."""
    if layer["entropy"] is None:
        return layer["zero_rows"] == 1.0
    far = layer["signed"] and (layer["distance"] or 0.0) > FAR
    return layer["entropy"] > NOT_USED and not far


def use_is_unclear(layer: LayerUse) -> bool:
    """Whether the interval of the entropy leaves open if a layer is unused."""
    ends = layer["interval"]
    far = layer["signed"] and (layer["distance"] or 0.0) > FAR
    return ends is not None and not far and ends[0] <= NOT_USED < ends[1]


def note_unused(layers: Sequence[LayerUse]) -> str:
    """The layers that attend to all tokens equally; "" if none does."""
    unused = [layer for layer in layers if is_unused(layer)]
    if not unused:
        return ""
    if len(layers) == 1:
        where = "attention is"
    elif len(unused) == len(layers):
        where = f"attention is, in all {len(layers)} layers,"
    else:
        numbers = ", ".join(str(layer["layer"]) for layer in unused)
        layer_word = "layer" if len(unused) == 1 else "layers"
        where = f"attention is, in {layer_word} {numbers} of {len(layers)} (from 0),"
    return f"{where} nearly uniform ({entropy_range(unused)}): its weights differ little there."


def entropy_range(layers: Sequence[LayerUse]) -> str:
    """The entropies of some layers: one with its interval, or the range of several."""
    entropies = [layer["entropy"] for layer in layers if layer["entropy"] is not None]
    if not entropies:
        return "all its weights are 0"
    if len(entropies) > 1:
        return f"entropy {min(entropies):.3f} to {max(entropies):.3f}"
    ends = next(layer["interval"] for layer in layers if layer["entropy"] is not None)
    return f"entropy {entropies[0]:.3f}" + ("" if ends is None else f" [{ends[0]:.3f}, {ends[1]:.3f}]")


def use_lines(use: AttentionUse | None, *, whole: bool = True) -> list[str]:
    """A line for each layer, if ``whole``, and one for attention that is not used."""
    if use is None:
        return []
    unused = note_unused(use["after"])
    warning = [f"{unused[:1].upper()}{unused[1:]}"] if unused else []
    if not whole:
        return warning
    lines = []
    for rank, after in enumerate(use["after"]):
        before = use["before"][rank] if use["before"] else None
        numbers = ", ".join(f"{word} {change(before, after, key)}" for key, word in USE_QUANTITIES.items())
        lines.append(f"attention {after['layer']} ({after['name']}): {numbers} (n = {after['sequences']:,})")
    return [*lines, *warning]


def change(before: LayerUse | None, after: LayerUse, key: str) -> str:
    """A number before and after training, as far as it is known."""
    values = [layer[key] for layer in (before, after) if layer is not None]  # type: ignore[literal-required]
    return " → ".join("–" if value is None else f"{value:.3f}" for value in values)
