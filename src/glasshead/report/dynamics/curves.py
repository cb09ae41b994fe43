"""Numbers of groups over the steps of a training: score, polarity, weight, VᵀW, norms, loss, layers."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from matplotlib.axes import Axes

from glasshead.errors import InputError
from glasshead.report.dynamics.picture import DASHES, Ink, Key, Panel, Picture
from glasshead.report.number_format import number
from glasshead.report.plots import group_colours, near_zero
from glasshead.results import Columns, History

STEPS = "step"
PLAIN = "--ink"
SUN_AND_LU = "Sun and Lu 2020"
BAND = "Mean over the tokens of a group; the band is one standard deviation of its tokens to either side."
BY_CLASS = [f"--c{rank}" for rank in range(8)]


@dataclass(frozen=True)
class Line:
    """One curve; ``columns`` are step, mean and std."""

    columns: Columns
    colour: str
    words: str
    kind: str = "line"


def polarities(history: History) -> Picture:
    """s_e, what a token adds to the output at weight 1, per group."""
    return by_group(history, "polarity", "Polarity of tokens", f"{SUN_AND_LU}, Figs. 3, 9, 10")


def scores(history: History) -> Picture:
    """a_e, the attention score of a token, per group."""
    return by_group(history, "score", "Attention scores of tokens", f"{SUN_AND_LU}, Figs. 4, 5, 9, 10, 12")


def weights(history: History) -> Picture:
    """α, the attention weight that a token gets where it occurs, per group."""
    return by_group(history, "weight", "Attention weights of tokens", "", AT_THE_START)


AT_THE_START = (
    "Before training it is about 1 / length of a text, so that groups can differ in it from the start."
)
"""Of a weight."""
UP = {"polarity": "polarity s", "score": "attention score a", "weight": "attention weight α"}


def by_group(history: History, quantity: str, title: str, source: str, more: str = "") -> Picture:
    """One quantity of every group of tokens over the steps.

    Raises:
        InputError: if it was not recorded, or looked at once only.
    """
    many_looks(history)
    colours = group_colours(history.groups)
    lines = [
        Line(history.curve(quantity, group), colours[group], group)
        for group in history.groups
        if len(history.curve(quantity, group)["step"])
    ]
    recorded(history, lines, quantity)
    panel = panel_of(history, "", lines, UP[quantity], title)
    return Picture(title, [panel], with_kept(history, f"{BAND} {more}".strip()), keys_of(lines), source)


def couplings(history: History) -> Picture:
    """VᵀW, and V′ᵀW′ where there is a map: what drives the scores of the groups apart."""
    many_looks(history)
    names = [name for name in history.quantities() if "ᵀ" in name]
    found = {name: by_class(history, name) for name in names}
    recorded(history, names, "VᵀW")
    panels = [panel_of(history, "", lines, spaced(name), name) for name, lines in found.items()]
    told = max(found.values(), key=len)
    keys = [Key(line.colour, line.words.split(" ", 1)[1]) for line in told] if len(told) > 1 else []
    if history.facts["form"] is None:
        caption = f"How it moves scores is not known here: {history.facts['why_no_form']}."
    elif len(told) > 1:
        caption = "Where it is positive for a class, tokens of that class gain attention through it."
    else:
        caption = "Where it is positive, positive tokens gain attention through it and negative ones lose it."
    first = "The dot product of the context vector V and the output vector W."
    caption = " ".join(filter(None, (first, primes(history), caption)))
    source = f"{SUN_AND_LU}, C.3"
    return Picture("How V and W are coupled", panels, with_kept(history, caption), keys, source)


def spaced(name: str) -> str:
    """The name of a product with a thin space between a prime and the T of a transpose."""
    return name.replace("′ᵀ", "′\u2009ᵀ")


def primes(history: History) -> str:
    """What the letters with a prime are, in a sentence; nothing where there are none."""
    names = history.quantities()
    if "V′ᵀW′" in names:
        return "V′ = MᵀV and W′ = MᵀW are V and W before the map M."
    if "V′ᵀW" in names:
        return (
            "V′ = MᵀV is V before the map M of additive attention; while tanh is nearly straight, V′/λ is "
            "the U_e = MᵀDiag(1 − tanh² Me)V/λ of every token, and V′ᵀW/λ the U_eᵀW of the terms."
        )
    return ""


def norms(history: History) -> Picture:
    """‖V‖ and ‖W‖."""
    many_looks(history)
    lines = [*by_class(history, "‖V‖"), *by_class(history, "‖W‖")]
    recorded(history, lines, "‖V‖")
    panel = panel_of(history, "", lines, "Euclidean norm", "Norms of V and W")
    terms = "Their squares multiply the terms of a token's own lead and of its own labels."
    caption = with_kept(history, terms if history.facts["terms"] else "")
    return Picture("Norms of V and W", [panel], caption.strip(), keys_of(lines))


SHARES = (-0.04, 1.06)
LEAST = 0.001
"""Height of the axis of an entropy, at least: what is less is dust."""


def training(history: History) -> Picture:
    """Loss, accuracy and entropy of attention on the probe."""
    many_looks(history)
    told = {"loss": "loss", "accuracy": "accuracy", "entropy": "entropy of attention"}
    lines = {name: Line(history.curve(name), PLAIN, words) for name, words in told.items()}
    lines = {name: line for name, line in lines.items() if len(line.columns["step"])}
    recorded(history, lines, "loss")
    ranges = {"accuracy": SHARES}
    if "entropy" in lines:
        ranges["entropy"] = tall([lines["entropy"]], LEAST)
    panels = [
        panel_of(history, "", [line], line.words, line.words, ranges.get(name))
        for name, line in lines.items()
    ]
    caption = f"On {history.facts['probe']:,} texts of train."
    if "entropy" in lines:
        caption += (
            " Entropy is a share of the largest possible: 0 one token alone, 1 all tokens alike; the band is "
            "one standard deviation of the texts."
        )
    return Picture("The training", panels, with_kept(history, caption))


def tall(lines: Sequence[Line], least: float) -> tuple[float, float]:
    """Limits of curves with their bands, the lower one so far below the other at least; zero is among them
    unless all lie far from it."""
    ends = [
        line.columns["mean"] + sign * np.nan_to_num(line.columns["std"]) for line in lines for sign in (-1, 1)
    ]
    low, high = near_zero(*ends)
    if high - low >= least:
        return low, high
    return high - 0.95 * least, high + 0.05 * least


LAYERED = {
    "entropy": ("Entropy of attention", "entropy", "a share of the largest: 0 one token, 1 all tokens alike"),
    "residual": ("Distance from rank one", "distance from rank one", "0: every token gets the same output"),
    "agreement": ("Agreement with gradients", "Kendall τ-b", "of attention and gradient × input"),
}


def layers(history: History) -> Picture:
    """Entropy and distance from rank one of every layer, and agreement with gradients."""
    many_looks(history)
    if history.facts["kind"] != "layers":
        raise InputError("layers are recorded of models with several of them: choose another `what`")
    panels: list[Panel] = []
    keys: list[Key] = []
    for quantity, (title, up, _) in LAYERED.items():
        groups = groups_of(history, quantity)
        lines = [
            Line(history.curve(quantity, group), PLAIN if group == "" else layer_colour(rank), group)
            for rank, group in enumerate(groups)
        ]
        if lines:
            range_ = tall(lines, LEAST if quantity == "entropy" else 0.0)
            panels.append(panel_of(history, title, lines, up, title, range_))
            keys = keys or [key for key in keys_of(lines) if key.words]
    recorded(history, panels, "entropy")
    drawn = {panel.title for panel in panels}
    meanings = "; ".join(f"{up} – {meaning}" for title, up, meaning in LAYERED.values() if title in drawn)
    caption = (
        f"Means over heads and texts, with one standard deviation: {meanings}. {one_row(history)}".strip()
    )
    return Picture("Attention layer by layer", panels, with_kept(history, caption), keys)


def groups_of(history: History, quantity: str) -> list[str]:
    """Of what a quantity was recorded, in order of appearance."""
    chosen = history.curves["quantity"] == quantity
    return list(dict.fromkeys(history.curves["group"][chosen].tolist()))


def one_row(history: History) -> str:
    """Why some layers have no residual, in a sentence; nothing where all have one."""
    there = groups_of(history, "residual")
    without = [layer for layer in groups_of(history, "entropy") if layer not in there]
    if not without:
        return ""
    which = f"{' and '.join(without)} {'has' if len(without) == 1 else 'have'}"
    why = "it compares rows, and one alone is worked out there"
    return f"{which[0].upper()}{which[1:]} no distance from rank one: {why}."


def layer_colour(rank: int) -> str:
    """A colour for each of eight layers, and then again."""
    return BY_CLASS[rank % len(BY_CLASS)]


def by_class(history: History, name: str) -> list[Line]:
    """A number that the model has once, or once for every class."""
    groups = ["", *history.facts.get("labels", [])]
    found = [(group, history.curve(name, group)) for group in groups]
    found = [(group, columns) for group, columns in found if len(columns["step"])]
    return [
        Line(columns, PLAIN if name != "‖V‖" else "--accent", name)
        if group == ""
        else Line(columns, BY_CLASS[rank % len(BY_CLASS)], f"{name} {group}")
        for rank, (group, columns) in enumerate(found)
    ]


def panel_of(
    history: History,
    title: str,
    lines: Sequence[Line],
    up: str,
    about: str,
    range_: tuple[float, float] | None = None,
) -> Panel:
    """Curves with their bands over one pair of axes."""
    low, high = tall(lines, 0.0) if range_ is None else range_

    def draw(axes: Axes, ink: Ink) -> None:
        axes.set_ylim(low, high)
        axes.axhline(0.0, color=ink("--line"), linewidth=0.8, zorder=0)
        for line in lines:
            step, mean, std = (line.columns[name] for name in ("step", "mean", "std"))
            colour = ink(line.colour)
            if np.isfinite(std).any():
                axes.fill_between(step, mean - std, mean + std, color=colour, alpha=0.15, linewidth=0)
            axes.plot(step, mean, color=colour, linewidth=1.6, linestyle=DASHES[line.kind])
        kept(axes, history, ink)

    said = ", ".join(
        f"{line.words} from {number(line.columns['mean'][0])} to {number(line.columns['mean'][-1])}"
        for line in lines
    )
    return Panel(title, (STEPS, up), draw, f"{about} over {history.steps[-1]:,} steps: {said}.")


def keys_of(lines: Sequence[Line]) -> list[Key]:
    """The legend of some curves."""
    return list(dict.fromkeys(Key(line.colour, line.words, line.kind) for line in lines))


def kept_step(history: History) -> int | None:
    """The step whose model was kept, if it is not the last: where a thin line stands."""
    best = history.facts.get("best_step")
    return best if best is not None and 0 < best < history.steps[-1] else None


def with_kept(history: History, caption: str) -> str:
    """A caption that explains the thin line where there is one."""
    there = kept_step(history) is not None
    return f"{caption} The thin line marks the step whose model was kept." if there else caption


def kept(axes: Axes, history: History, ink: Ink) -> None:
    """A thin line at the step whose model was kept."""
    best = kept_step(history)
    if best is not None:
        axes.axvline(best, color=ink("--muted"), linewidth=0.8, linestyle=(0, (1, 2)), zorder=1)
        axes.annotate(
            "kept", (best, 1.0), xycoords=axes.get_xaxis_transform(), xytext=(0, 2),
            textcoords="offset points", fontsize=7.5, color=ink("--muted"), ha="center", va="bottom",
        )  # fmt: skip


def recorded(history: History, found: object, quantity: str) -> None:
    """Raise InputError where there is nothing to draw."""
    if not found:
        why = history.facts.get("why_no_form")
        if history.facts["kind"] == "layers":
            why = (
                "tokens have no number of their own in a model with layers of attention; draw `what='layers'`"
            )
        raise InputError(f"no {quantity} was recorded{f': {why}' if why else ''}")


def many_looks(history: History) -> None:
    """Raise InputError for a training of which there is the end alone."""
    if len(history.steps) < 2:
        raise InputError(
            "this training was not watched, so there is nothing over time: train with `DynamicsCallback`"
        )
