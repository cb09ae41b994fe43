"""What follows from the heads of a model, in words."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from glasshead.audits.head_report.token_kinds import FIRST
from glasshead.audits.head_report.verdicts import CHANGES, CHANGES_MUCH, HARDLY_CHANGES
from glasshead.errors import pluralise
from glasshead.results import MIN_UNITS, SMALL_CHANGE, Finding, HeadLayer, HeadRelation, HeadSummary

NAMED = 6
"""More heads than that are counted, not named."""


def conclude(
    layers: Sequence[HeadLayer],
    heads: Sequence[HeadSummary],
    relations: Sequence[HeadRelation],
    texts: int,
) -> list[str]:
    """What these texts show; intervals of heads hold for all heads at once."""
    if texts < MIN_UNITS:
        return [f"These are {pluralise(texts, 'text')}, and it takes {MIN_UNITS} to say anything."]
    return [
        *pattern_sentences(heads),
        *importance_sentences(heads),
        *special_sentences(layers),
        *relation_sentences(relations),
    ]


def names_of(heads: Sequence[HeadSummary]) -> str:
    """A few heads by their names, many by their number."""
    if len(heads) > NAMED:
        return f"{len(heads)} heads"
    return f"{'head' if len(heads) == 1 else 'heads'} {', '.join(head.name for head in heads)}"


def pattern_sentences(heads: Sequence[HeadSummary]) -> Iterator[str]:
    """Which heads look at one thing."""
    by_pattern: dict[str, list[HeadSummary]] = {}
    for head in heads:
        by_pattern.setdefault(head.pattern, []).append(head)
    shown = {pattern: ones for pattern, ones in by_pattern.items() if pattern}
    unused = shown.pop("uniform", [])
    if shown:
        parts = [f"at {article(pattern)}{pattern} {names_of(ones)}" for pattern, ones in shown.items()]
        yield f"More than half of the attention goes {'; '.join(parts)}."
    if unused:
        yield f"Nearly uniform, so not used: {names_of(unused)}."
    others = len(by_pattern.get("", []))
    if others:
        yield f"Of {others} of {pluralise(len(heads), 'head')} no such pattern is shown."


def article(pattern: str) -> str:
    """The article of a pattern that has one."""
    return "the " if pattern in ("previous token", "next token", "same token elsewhere", FIRST) else ""


def importance_sentences(heads: Sequence[HeadSummary]) -> Iterator[str]:
    """Which heads matter."""
    sizes = [(head, head.finding("removal-size")) for head in heads]
    known = [(head, finding) for head, finding in sizes if finding is not None and finding.interval]
    if not known:
        return
    matter = [head for head, finding in known if finding.verdict in (CHANGES, CHANGES_MUCH)]
    hardly = [head for head, finding in known if finding.verdict == HARDLY_CHANGES]
    undecided = len(known) - len(matter) - len(hardly)
    share = f"{100 * SMALL_CHANGE:.0f} %"
    if matter:
        yield f"Without {names_of(matter)} alone predictions change by more than {share} on average."
    if hardly:
        yield f"Without any one of {len(hardly)} of {len(known)} heads they change by less."
    if undecided:
        yield f"Of {pluralise(undecided, 'head')} that stays undecided."


def special_sentences(layers: Sequence[HeadLayer]) -> Iterator[str]:
    """How much attention special tokens get, and whether gradients agree."""
    yield from ()


def percent(finding: Finding) -> str:
    """A share in percent."""
    return f"{100 * (finding.estimate or 0.0):.0f} %"


def relation_sentences(relations: Sequence[HeadRelation]) -> Iterator[str]:
    """Which relations some head follows."""
    if not relations:
        return
    better = [one for one in relations if one.difference.interval and one.difference.interval[0] > 0]
    if not better:
        yield "No head is shown to follow a relation better than a fixed offset does."
        return
    best = sorted(better, key=lambda one: -one.difference.estimate)[:NAMED]
    parts = [
        f"{one.relation} (head {one.best}, {one.direction}, {percent(one.accuracy)} against "
        f"{percent(one.baseline)})"
        for one in best
    ]
    yield (
        f"{len(better)} of {len(relations)} relations and directions are followed better by a head than by a "
        f"fixed offset, most of all {', '.join(parts)}."
    )
