"""What follows from the heads of a model, in words."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from glasshead.audits.head_report.relation_tables import ALL
from glasshead.audits.head_report.text_statistics import (
    FIRST,
    PUNCTUATION,
    RANDOM_MODELS,
    SPECIAL,
    TauRange,
)
from glasshead.audits.head_report.verdicts import (
    CHANGES,
    CHANGES_MUCH,
    COMPARISONS,
    GATHERED,
    HARDLY_CHANGES,
    LITTLE,
    UNIFORM_NULL,
)
from glasshead.errors import pluralise
from glasshead.nouns import Nouns
from glasshead.results import (
    MIN_UNITS,
    SMALL_CHANGE,
    Finding,
    HeadAgreement,
    HeadLayer,
    HeadRelation,
    HeadSummary,
)

NAMED = 6
"""More heads than that are counted, not named."""


def conclude_heads(
    layers: Sequence[HeadLayer],
    heads: Sequence[HeadSummary],
    agreement: HeadAgreement,
    findings: Sequence[Finding],
    relations: Sequence[HeadRelation],
    *,
    random_entropies: Mapping[int, TauRange],
    texts: int,
    nouns: Nouns,
) -> list[str]:
    """What these texts show; intervals of heads hold for all heads at once."""
    if texts < MIN_UNITS:
        return [
            (f"These maps are of {nouns.count(texts)}; at least {MIN_UNITS} are needed to say what heads do.")
        ]
    return [
        *pattern_sentences(heads),
        *breadth_sentences(heads, random_entropies, nouns),
        *image_sentences(heads),
        *importance_sentences(heads),
        *agreement_sentences(heads, agreement),
        *special_sentences(layers, findings),
        *relation_sentences(relations),
    ]


def list_heads(heads: Sequence[HeadSummary]) -> str:
    """A few heads by their names, many by their number."""
    if len(heads) > NAMED:
        return pluralise(len(heads), "head")
    return f"{'head' if len(heads) == 1 else 'heads'} {', '.join(head.name for head in heads)}"


def pattern_sentences(heads: Sequence[HeadSummary]) -> Iterator[str]:
    """Which heads look at one thing."""
    by_pattern: dict[str, list[HeadSummary]] = {}
    for head in heads:
        by_pattern.setdefault(head.pattern, []).append(head)
    shown = {pattern: ones for pattern, ones in by_pattern.items() if pattern}
    unused = shown.pop("uniform", [])
    if shown:
        parts = [f"{list_heads(ones)} to {article(pattern)}{pattern}" for pattern, ones in shown.items()]
        sentence = f"{'; '.join(parts)}: more than half of the attention goes there."
        yield sentence[0].upper() + sentence[1:]
    if unused:
        yield f"Nearly uniform, with weights that differ little: {list_heads(unused)}."
    others = len(by_pattern.get("", []))
    if others:
        verb = "shows" if others == 1 else "show"
        yield f"{others} of {pluralise(len(heads), 'head')} {verb} no pattern."


def breadth_sentences(
    heads: Sequence[HeadSummary], random: Mapping[int, TauRange], nouns: Nouns
) -> Iterator[str]:
    """How many heads look at less than any head of random weights in their layer does."""
    ends = [
        (finding.interval, random[head.layer])
        for head in heads
        if head.layer in random and (finding := head.finding("entropy")) is not None and finding.interval
    ]
    if ends:
        narrower = sum(high < least for (_, high), (least, _) in ends)
        broader = sum(low > most for (low, _), (_, most) in ends)
        verb = "looks" if narrower == 1 else "look"
        yield (
            f"{narrower} of {pluralise(len(ends), 'head')} {verb} at fewer {nouns.tokens} than any head of "
            f"{RANDOM_MODELS} models with random weights does in the same layer, {broader} at more "
            "(by entropy)."
        )


def image_sentences(heads: Sequence[HeadSummary]) -> Iterator[str]:
    """Which heads look at the image when the answer is predicted, and which of these at few places of it."""
    shares = [(head, share) for head in heads if (share := head.finding("image-answer")) is not None]
    if not shares:
        return
    reading = [head for head, share in shares if looks_more(share)]
    if not reading:
        yield (
            "When the answer is predicted, no head is shown to look at the image more than uniform attention "
            "does."
        )
        return
    verdicts = [(head, head.finding("image-spread")) for head in reading]
    local = [head for head, found in verdicts if found is not None and found.verdict == GATHERED]
    none = "it is not" if len(reading) == 1 else "none of them is"
    gathered = f"{none} shown to look {GATHERED} do"
    if local:
        gathered = f"{list_heads(local)} {verb_of(local)} {GATHERED} do"
    who = f"{list_heads(reading)} {verb_of(reading)} at the image more than uniform attention does"
    yield f"When the answer is predicted, {who}; {gathered}."


def verb_of(heads: Sequence[HeadSummary]) -> str:
    """One head looks, several look."""
    return "looks" if len(heads) == 1 else "look"


def looks_more(share: Finding) -> bool:
    """Whether a share is above that of uniform attention."""
    over = share.over_null.get(UNIFORM_NULL)
    return over is not None and over.interval is not None and over.interval[0] > LITTLE


def article(pattern: str) -> str:
    """The article of a pattern that has one."""
    named = ("previous token", "next token", "same token elsewhere", FIRST)
    return "the " if pattern in named or pattern.startswith(("patch ", "token ")) else ""


def importance_sentences(heads: Sequence[HeadSummary]) -> Iterator[str]:
    """Which heads matter."""
    sizes = [(head, head.finding("removal-size")) for head in heads]
    known = [(head, finding) for head, finding in sizes if finding is not None and finding.interval]
    if not known:
        return
    matter = [head for head, finding in known if finding.verdict in (CHANGES, CHANGES_MUCH)]
    hardly = [head for head, finding in known if finding.verdict == HARDLY_CHANGES]
    undecided = len(known) - len(matter) - len(hardly)
    share = f"{SMALL_CHANGE:g} of their range"
    if matter:
        yield f"Taking out {list_heads(matter)} alone changes predictions by more than {share} on average."
    if hardly:
        these = f"{len(hardly)} of {pluralise(len(known), 'head')}"
        yield f"Taking out any one of {these} changes predictions by less than {share}."
    if undecided:
        yield f"For {pluralise(undecided, 'head')} this is undecided."
    first = find_largest_head(known)
    if first is not None:
        yield f"Predictions change most without head {first.name}: its interval lies above all others."


def find_largest_head(known: Sequence[tuple[HeadSummary, Finding]]) -> HeadSummary | None:
    """The head whose interval lies above those of all others, which hold at once; None: there is none."""
    intervals = [finding.interval or (0.0, 0.0) for _, finding in known]
    for place, (low, _) in enumerate(intervals):
        if len(known) > 1 and all(low > high for _, high in intervals[:place] + intervals[place + 1 :]):
            return known[place][0]
    return None


def agreement_sentences(heads: Sequence[HeadSummary], agreement: HeadAgreement) -> Iterator[str]:
    """How many heads are alike, and which most of all."""
    pairs = agreement.pairs()
    closer = [pair for pair in pairs if agreement.closer[pair]]
    if not pairs:
        return
    further = sum(bool(agreement.further[pair]) for pair in pairs)
    rest = len(pairs) - len(closer) - further
    sentence = (
        f"{len(closer)} of {pluralise(len(pairs), 'pair')} of heads are more alike than unrelated maps of "
        f"the same breadth, {further} less; {rest} undecided"
    )
    if closer:
        one, other = closer[0]
        bits, null = agreement.divergence[one, other], agreement.null[one, other]
        sentence += (
            f". Most alike are {heads[one].name} and {heads[other].name}: {bits:.2f} bits apart, unrelated "
            f"maps {null:.2f}"
        )
    yield f"{sentence}."


def special_sentences(layers: Sequence[HeadLayer], findings: Sequence[Finding]) -> Iterator[str]:
    """How much attention special tokens get, whether gradients agree, and whether it is because they are
    never split; ``findings`` are those of all layers together."""
    overall = {one.statistic: one for one in findings}
    if "share" not in overall:
        return
    share = overall["share"]
    even = (share.null or {}).get(UNIFORM_NULL)
    remark = "" if even is None else f" (uniform attention: {100 * even:.0f} %)"
    yield f"Special tokens get {percent(share)} of the attention{remark}."
    if "inflation" in overall:
        relevance = percent(overall["relevance-share"])
        words = COMPARISONS["inflation"]
        phrases = {
            words.above: "Gradients account for less",
            words.below: "Gradients account for more",
            words.little: "Gradients account for about as much",
        }.get(overall["inflation"].verdict, "Gradients are not shown to disagree")
        yield f"{phrases}: of |A ∂z/∂A| they have {relevance}."
        yield layer_counts(layers)
    if "joining" in overall:
        yield joining_sentence(overall["joining"])
    if "beyond-unsplit-words" in overall:
        words = COMPARISONS["beyond-unsplit-words"]
        yield {
            words.above: (
                "A special token gets more than a frequent word that is never split, so being unsplit "
                "does not explain its share."
            ),
            words.below: "A special token gets less than a frequent word that is never split.",
            words.little: "A special token gets about as much as a frequent word that is never split.",
        }.get(
            overall["beyond-unsplit-words"].verdict,
            "It is undecided whether a special token gets more than a frequent word that is never split.",
        )


def joining_sentence(finding: Finding) -> str:
    """What joining words does to the share."""
    words = COMPARISONS["joining"]
    points = f"{100 * abs(finding.estimate or 0.0):.1f} percentage points"
    if finding.verdict in (words.above, words.below):
        verb = "raises" if finding.verdict == words.above else "lowers"
        return f"Joining the pieces of words {verb} that share by {points}."
    if finding.verdict == words.little:
        return f"Joining the pieces of words hardly changes that share ({points})."
    return f"Joining the pieces of words is not shown to change that share ({points})."


def layer_counts(layers: Sequence[HeadLayer]) -> str:
    """How many layers give special tokens more attention than gradients account for, or less."""
    words = COMPARISONS["inflation"]
    verdicts = [
        one.verdict
        for layer in layers
        for one in layer.findings
        if one.statistic == "inflation" and one.against in (SPECIAL, only_special(layer))
    ]
    sides = {"more than that": words.above, "less": words.below, "about as much": words.little}
    counts = {side: count for side, verdict in sides.items() if (count := verdicts.count(verdict))}
    counts |= {"undecided": rest} if (rest := len(verdicts) - sum(counts.values())) else {}
    counts_in_words = ", ".join(f"{side} in {count}" for side, count in counts.items())
    return f"By layer: {counts_in_words} of {len(verdicts)}."


def only_special(layer: HeadLayer) -> str | None:
    """The special token of a layer whose keys have one kind of them."""
    kinds = [one.against for one in layer.findings if one.statistic == "share"]
    special = [kind for kind in kinds if kind not in (FIRST, PUNCTUATION)]
    return special[0] if len(special) == 1 else None


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
    single = [one for one in better if one.relation != ALL]
    best = sorted(single, key=lambda one: -one.difference.estimate)[:NAMED]
    parts = [
        f"{one.relation} (head {one.best}, {one.direction}, {percent(one.accuracy)} against "
        f"{percent(one.baseline)})"
        for one in best
    ]
    most = f", most of all {', '.join(parts)}" if parts else ""
    verb = "is" if len(better) == 1 else "are"
    yield (
        f"{len(better)} of {len(relations)} relations and directions {verb} followed better by a head than "
        f"by a fixed offset{most}."
    )
