"""The page of the inside of a model: what each layer would predict, and what each head adds to a logit."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from markupsafe import Markup

from glasshead.report.documents.inside import (
    SCALE,
    layers_table,
    lens_headline,
    lens_meaning,
    logit_headline,
    parts_table,
)
from glasshead.report.html.environment import environment
from glasshead.report.html.packed_maps import data_script
from glasshead.report.number_format import number, share
from glasshead.results import HeadEffects, LayerLens, LogitAttribution

DIGITS = 5


@dataclass(frozen=True)
class LensCell:
    """A layer at a place: the word, how probable it is, and what is said where one points at it."""

    word: str
    strength: float
    spoken: str


@dataclass(frozen=True)
class HeadCell:
    """A head, or the MLP, of a layer: what it adds, and how strong its colour is."""

    key: str
    name: str
    effect: str
    mark: str
    strength: float


@dataclass(frozen=True)
class HeadRow:
    """The parts of one attention, and of its layer."""

    title: str
    cells: Sequence[HeadCell]
    mlp: HeadCell | None


def inside_page(lens: LayerLens | None, found: LogitAttribution | None) -> str:
    """Both, one below the other, or one of them."""
    some = lens if lens is not None else found
    assert some is not None
    rows = [] if found is None else head_rows(found)
    data = {} if found is None else page_data(found)
    return (
        environment()
        .get_template("inside.html.j2")
        .render(
            model=some.model,
            text=some.text,
            notes=some.notes,
            lens=lens,
            headline=logit_headline(found) if found is not None else lens_headline(lens),  # type: ignore[arg-type]
            lens_headline=None if lens is None else lens_headline(lens),
            meaning=None if lens is None else lens_meaning(lens),
            lens_rows=[] if lens is None else lens_rows(lens),
            layers=None if lens is None else layers_table(lens),
            found=found,
            scale=SCALE,
            rows=rows,
            most_heads=max((len(row.cells) for row in rows), default=0),
            parts=None if found is None else parts_table(found, found.parts()),
            data=Markup(data_script(data)),  # data_script leaves nothing that could end the element
        )
    )


def lens_page(lens: LayerLens) -> str:
    """What each layer would predict."""
    return inside_page(lens, None)


def logit_page(found: LogitAttribution) -> str:
    """What each part adds to a logit."""
    return inside_page(None, found)


def lens_rows(lens: LayerLens) -> list[tuple[str, list[LensCell]]]:
    """A row for each layer, the last first, as the stream flows upwards."""
    rows = []
    for layer in reversed(range(len(lens.layers))):
        cells = [lens_cell(lens, layer, place) for place in range(len(lens.places))]
        rows.append((lens.layers[layer], cells))
    return rows


def lens_cell(lens: LayerLens, layer: int, place: int) -> LensCell:
    """The most probable answer, and the others in words."""
    word, probability = lens.top(layer, place)
    tops = ", ".join(
        f"{lens.names[int(top)]} {share(chance, 1)}"
        for top, chance in zip(lens.tops[layer, place], lens.probabilities[layer, place], strict=True)
    )
    own = share(lens.target_probabilities[layer, place], 1)
    spoken = (
        f"{lens.layers[layer]}, {lens.places[place]}: {tops}; {lens.target}: {own}, "
        f"rank {lens.target_ranks[layer, place]}"
    )
    return LensCell(word, round(probability, 3), spoken)


def head_rows(found: LogitAttribution) -> list[HeadRow]:
    """A row for each attention, with the MLP of its layer."""
    sums = [one.effects.sum(axis=1) for one in found.heads]
    largest = max([*(float(np.abs(own).max()) for own in sums), *map(abs, found.mlps)], default=0.0) or 1.0
    rows = []
    for layer, mlp in enumerate(found.mlps):
        own = [(number_of, one) for number_of, one in enumerate(found.heads) if one.layer == layer]
        last = head_cell("", f"MLP {layer}", float(mlp), largest)
        for place, (number_of, one) in enumerate(own):
            cells = [
                head_cell(f"{number_of}-{head}", head_name(one, head), float(effect), largest)
                for head, effect in enumerate(sums[number_of])
            ]
            title = f"layer {layer}" + (f", attention {place + 1}" if len(own) > 1 else "")
            rows.append(HeadRow(title, cells, last if place == len(own) - 1 else None))
        if not own:
            rows.append(HeadRow(f"layer {layer}", [], last))
    return rows[::-1]


def head_name(one: HeadEffects, head: int) -> str:
    """What a head is called."""
    return f"head {one.layer}-{head}"


def head_cell(key: str, name: str, effect: float, largest: float) -> HeadCell:
    """A part next to the largest."""
    mark = "n" if effect < 0 else "p"
    return HeadCell(key, name, number(effect, 2, plus=True), mark, round(abs(effect) / largest, 3))


def page_data(found: LogitAttribution) -> dict[str, object]:
    """What each head adds from each token, for the text below the map."""
    effects = {
        f"{number_of}-{head}": [float(f"{value:.{DIGITS}g}") for value in row]
        for number_of, one in enumerate(found.heads)
        for head, row in enumerate(one.effects)
    }
    every = [abs(value) for row in effects.values() for value in row]
    return {
        "effects": effects,
        "tokens": [list(one.tokens) for one in found.heads],
        "largest": max(every, default=0.0) or 1.0,
        "first": max(effects, key=lambda key: abs(sum(effects[key])), default=""),
    }
