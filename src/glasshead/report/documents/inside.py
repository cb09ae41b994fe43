"""What layers would predict, and what each part of a model adds to a logit."""

import numpy as np

from glasshead.errors import pluralise
from glasshead.report.document import (
    Bar,
    Block,
    Column,
    Document,
    Heading,
    Row,
    Sentence,
    Table,
    cell,
    columns,
    table,
)
from glasshead.report.number_format import DASH, count, interval, number, share
from glasshead.results import HeadEffects, LayerLens, LogitAttribution, LogitPart

SHOWN = 12
"""Parts of a terminal and a notebook, those that add most."""
SOURCES = 3
"""Tokens that are named of a head."""
SMALL = 0.1
"""Tokens that bring less than this part of the largest are not named."""
SCALE = "A norm is linear at its measured scale; effects through later layers are not counted."


def lens_document(lens: LayerLens) -> Document:
    """When the prediction appears, and a row for each layer."""
    return [
        Heading(lens_headline(lens)),
        Sentence(lens_meaning(lens), "quiet"),
        layers_table(lens),
        *(Sentence(note, "quiet") for note in lens.notes),
    ]


def lens_headline(lens: LayerLens) -> str:
    """From which layer on the prediction of the model is the most probable answer."""
    own = lens.names[int(lens.tops[-1, -1, 0])]
    behind = f" after {lens.places[-1]}" if len(lens.places) > 1 else ""
    if lens.first_layer is None:
        return f"The prediction {own}{behind} is on top even before the first layer, and stays there"
    return f"The prediction {own}{behind} is on top from {lens.first_layer} on"


def lens_meaning(lens: LayerLens) -> str:
    """What the rows are."""
    if lens.fit is not None:
        nearer = sum(ends is not None and ends[0] > 0 for ends in lens.fit.gains)
        fit = lens.fit
        return (
            f"Tuned lens: each state goes through an affine map, fitted on {count(fit.fitted)} texts, and "
            f"then through the model's final norm and output. On {pluralise(fit.held_out, 'text')} that "
            f"were held out, this brings {nearer} of {len(fit.gains)} layers closer to the model's "
            "predictions than the plain lens."
        )
    return (
        "Each row is what the model would predict if no later layer followed: its final norm and output "
        "applied to an earlier state. The output was not trained for these states: early rows can mislead."
    )


def layers_table(lens: LayerLens) -> Table:
    """The most probable answer at the last place, and the target there."""
    rows: list[Row] = []
    for layer, name in enumerate(lens.layers):
        top, probability = lens.top(layer, -1)
        own = float(lens.target_probabilities[layer, -1])
        rows.append(
            (name, top, share(probability, 1), cell(share(own, 1)), count(lens.target_ranks[layer, -1]))
        )
    titles = ["probability", f"of {lens.target}", "its rank"]
    if lens.fit is None:
        return table(columns(("layer", "top"), titles), rows)
    fit = lens.fit
    gains = [*zip(fit.plain, fit.tuned, fit.gains, strict=True), (0.0, 0.0, None)]
    rows = [
        (*row, number(plain), number(tuned), DASH if ends is None else interval(ends))
        for row, (plain, tuned, ends) in zip(rows, gains, strict=True)
    ]
    return table(columns(("layer", "top"), [*titles, "KL, plain", "KL, tuned", "nearer by"]), rows)


def logit_document(found: LogitAttribution) -> Document:
    """The part that adds most, a caution, and a row for each of the largest parts."""
    blocks: list[Block] = [Heading(logit_headline(found))]
    if found.caveat is not None:
        blocks.append(Sentence(found.caveat, "caution"))
    parts = sorted(found.parts(), key=lambda part: -abs(part.effect))
    shown = parts[:SHOWN]
    left = len(parts) - len(shown)
    caption = f"the {len(shown)} largest of {len(parts)} parts" if left else ""
    blocks += [
        Sentence(SCALE, "quiet"),
        parts_table(found, shown, caption),
        *(Sentence(note, "quiet") for note in found.notes),
    ]
    return blocks


def logit_headline(found: LogitAttribution) -> str:
    """The logit, and the head or MLP that moves it most."""
    whole = f"The {found.question} is {number(found.logit, 2)}"
    movers = [part for part in found.parts() if part.kind in ("head", "mlp")]
    if not movers:
        return whole
    most = max(movers, key=lambda part: abs(part.effect))
    source = source_words(found, most)
    behind = f", mostly from {source}" if source else ""
    return f"{whole}: {most.name} adds {number(most.effect, 2, plus=True)}{behind}"


def parts_table(found: LogitAttribution, parts: list[LogitPart], caption: str = "") -> Table:
    """Parts with bars next to the largest of all, and from which tokens heads bring it."""
    largest = max((abs(part.effect) for part in found.parts()), default=0.0) or 1.0
    rows: list[Row] = [
        (
            part.name,
            number(part.effect, plus=True),
            cell("", drawing=Bar(part.effect / largest, signed=True)),
            sources_words(found, part) or DASH,
        )
        for part in parts
    ]
    titles = [Column("part", "name"), Column("adds", "numbers"), Column("", "drawing"), Column("from")]
    return table(titles, rows, caption=caption)


def effects_of(found: LogitAttribution, part: LogitPart) -> HeadEffects | None:
    """The attention of which a head is a part; None of other parts, and of heads that cannot be told from
    those of a second attention in their layer."""
    own = [one for one in found.heads if one.layer == part.layer]
    return own[0] if part.kind == "head" and len(own) == 1 else None


def strongest_sources(found: LogitAttribution, part: LogitPart, most: int) -> list[tuple[str, float]]:
    """The tokens from which a head brings most, with what it brings."""
    one = effects_of(found, part)
    if one is None or part.head is None:
        return []
    effects = one.effects[part.head]
    sizes = np.abs(effects)
    order = [place for place in np.argsort(-sizes)[:most] if sizes[place] > SMALL * sizes.max()]
    return [(f"{one.tokens[place]} ({place})", float(effects[place])) for place in order]


def source_words(found: LogitAttribution, part: LogitPart) -> str:
    """The one token from which a head brings most."""
    return next((token for token, _ in strongest_sources(found, part, 1)), "")


def sources_words(found: LogitAttribution, part: LogitPart) -> str:
    """The first tokens with what each brings."""
    sources = strongest_sources(found, part, SOURCES)
    return ", ".join(f"{token} {number(effect, plus=True)}" for token, effect in sources)
