"""The page of a history, and that of a single picture: one HTML file without network."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeVar

from markupsafe import Markup

from glasshead.errors import InputError
from glasshead.report.dynamics.contexts import Order, context_verdicts, orders, prominent
from glasshead.report.dynamics.curves import primes
from glasshead.report.dynamics.picture import Picture, drawings
from glasshead.report.dynamics.registry import PICTURES, Asked
from glasshead.report.dynamics.summary import (
    Level,
    Part,
    Told,
    layer_levels,
    lead,
    levels,
    no_group,
    no_intervals,
    numbers,
    parts,
    remarks_on_levels,
    token_lines,
    verdicts,
)
from glasshead.report.dynamics.term_labels import cause_of
from glasshead.report.html import environment
from glasshead.report.labels import sentence

SECTIONS = {
    "groups": ("Groups of tokens", ("polarity", "scores", "weights", "training")),
    "layers": ("Layers", ("layers",)),
    "embeddings": ("Dot products of embeddings", ("products", "boxes", "product-rates")),
    "terms": ("What moves scores and polarities", ("terms", "ledger", "coupling", "norms")),
    "tokens": ("Tokens", ("tokens", "token-ledger", "scatter")),
    "contexts": ("Tokens in their texts and alone", ("contexts",)),
}
"""Sections of the page and the pictures that they hold."""


@dataclass(frozen=True)
class Shown:
    """A picture on the page: titles and drawings of its panels."""

    picture: Picture
    panels: list[tuple[str, Markup]]


@dataclass(frozen=True)
class Section:
    """Some pictures, and why others are not there: a sentence each."""

    key: str
    title: str
    shown: list[Shown]
    missing: list[str]


def dynamics_page(told: Told) -> str:
    """How attention came about in one training, or what the trained model tells of it."""
    layered = told.history.facts["kind"] == "layers"
    return (
        environment()
        .get_template("dynamics.html.j2")
        .render(
            told=told,
            lead=lead(told),
            layered=layered,
            levels=grouped(layer_levels(told) if layered else levels(told)),
            remarks_on_levels=remarks_on_levels(told),
            numbers=numbers(told),
            verdicts=verdicts(told),
            parts={quantity: grouped(parts(told, quantity)) for quantity in ("score", "polarity")},
            no_intervals=no_intervals(told),
            terms=terms(told),
            primes=primes(told.history),
            token_lines=token_lines(told),
            no_group=no_group(told),
            orders=grouped(orders(told)),
            prominent=prominent(told),
            context_verdicts=context_verdicts(told),
            sections=sections(told),
            facts=facts(told),
        )
    )


def picture_page(picture: Picture) -> str:
    """One picture alone, drawn and told as on the page of a history."""
    shown = Shown(picture, drawings(picture, "picture"))
    return environment().get_template("picture.html.j2").render(shown=shown)


T = TypeVar("T", Level, Order, Part)


def grouped(rows: Sequence[T]) -> list[tuple[str, list[T]]]:
    """Rows under the name of their group, in the order in which they come."""
    found: dict[str, list[T]] = {}
    for row in rows:
        found.setdefault(row.group, []).append(row)
    return list(found.items())


def sections(told: Told) -> list[Section]:
    """Every section of which something can be shown or has to be said; a reason is given once."""
    found = []
    given: set[str] = set()
    for key, (title, names) in SECTIONS.items():
        if (key == "layers") != (told.history.facts["kind"] == "layers"):
            continue
        shown, missing = [], []
        for name in names:
            try:
                picture = pictured(told, name)
            except InputError as error:
                missing.append(sentence(str(error)))
                continue
            if picture is not None:
                shown.append(Shown(picture, drawings(picture, f"{key}-{name}")))
        # Of a training that was not watched the page says once that nothing over time is known.
        missing = [why for why in dict.fromkeys(missing) if why not in given] if told.watched else []
        given.update(missing)
        if shown or missing:
            found.append(Section(key, title, shown, missing))
    return found


def pictured(told: Told, name: str) -> Picture | None:
    """A picture of the page; None where nobody asked for it.

    Raises:
        InputError: where it was not recorded.
    """
    if name in ("tokens", "token-ledger") and not told.tokens:
        return None
    if name == "contexts" and not told.history.contexts:
        return None
    if name == "ledger":
        return PICTURES["ledger"](told.history, Asked())
    known = "ledger" if name == "token-ledger" else name
    return PICTURES[known](told.history, Asked(told.tokens, told.step))


def terms(told: Told) -> list[tuple[str, str, str, str]]:
    """What moves which quantity: term, colour of its cause, words."""
    return [
        (quantity, name, cause_of(name).colour, words)
        for quantity, named in told.history.facts.get("terms", {}).items()
        for name, words in named.items()
    ]


NAMES = {
    "form": "Closed form",
    "title": "Model",
    "score": "Score function",
    "encoder": "Encoder",
    "activation": "Activation",
    "attention": "Attention",
    "scale": "Scale λ",
    "optimizer": "Optimizer",
    "learning_rate": "Learning rate",
    "steps": "Steps",
    "every": "Steps between two looks",
    "best_step": "Step whose model was kept",
    "probe": "Texts of train looked at",
    "grouped_by": "Groups of tokens by",
    "groups": "Tokens of the groups",
    "penalties": "Penalties",
    "labels": "Classes",
    "why_not_exact": "Why terms do not add up",
}


def facts(told: Told) -> list[tuple[str, str]]:
    """What was watched, and how."""
    rows = []
    of = told.history.facts
    for key, name in NAMES.items():
        value = of.get(key)
        if key == "every" and value is not None and value >= of["steps"]:
            name, value = "Looks", "before the first step and after the last"
        if value is None or value == {} or value == []:
            continue
        if isinstance(value, dict):
            value = ", ".join(
                f"{each} {part:,}" if isinstance(part, int) else f"{each} {part}"
                for each, part in value.items()
            )
        elif isinstance(value, list):
            value = ", ".join(map(str, value))
        elif isinstance(value, bool):
            value = "yes" if value else "no"
        elif isinstance(value, int):
            value = f"{value:,}"
        elif isinstance(value, float):
            value = f"{value:g}"
        elif key == "grouped_by":
            value = (
                "what was planted in the texts"
                if value == "truth"
                else "the ratio γ of their classes in train"
            )
        rows.append((name, str(value)))
    return rows
