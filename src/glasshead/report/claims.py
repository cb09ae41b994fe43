"""What people say about an attention map, and whether the findings of an audit support it."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Literal

from glasshead.report.conclusion import (
    FEW_TEXTS,
    FOUND,
    GOOD_AGREEMENT,
    METHODS,
    adversary_is_exact,
    agrees,
    capitalise,
    decisive,
    hardly_flat,
    is_large_where_tokens_matter,
    over_random,
    prediction_range,
    usable,
)
from glasshead.report.findings_in_words import bounds, estimate
from glasshead.report.labels import method_words, sentence
from glasshead.report.number_format import count, finite, interval, number
from glasshead.results import (
    ABSOLUTE,
    ATTENTION,
    NEGLIGIBLE,
    SMALL_CHANGE,
    AuditCard,
    Extent,
    Finding,
    entropy_range,
    extent_of,
    is_unused,
    use_is_unclear,
)

Holds = Literal["yes", "in part", "no", "undecided"]
HEADINGS: dict[Holds, str] = {
    "yes": "You can claim",
    "in part": "You can claim in part",
    "no": "Do not claim",
    "undecided": "Not settled",
}


@dataclass(frozen=True)
class Claim:
    """A sentence on the attention of a model, whether it ``holds``, why, and on which finding that rests."""

    says: str
    holds: Holds
    because: str
    finding: str
    numbers: str


HOLDS_OF_EXTENT: dict[Extent, Holds] = {
    "nearly all": "yes",
    "most": "in part",
    "some": "in part",
    "hardly any": "no",
    "undecided": "undecided",
}
HOLDS_OF_ANSWER: dict[bool | None, Holds] = {True: "yes", False: "no", None: "undecided"}
UNEQUAL = "Attention gives some {tokens} more weight than others"
Judge = Callable[[AuditCard, Finding], Holds | None]


def judge_claims(card: AuditCard) -> list[Claim]:
    """All claims on which the findings of a card bear, in the order in which they are argued."""
    return [*use_claims(card), *finding_claims(card)]


def claims_by_answer(card: AuditCard) -> dict[str, list[Claim]]:
    """The same under their headings, those that stay open last."""
    found = judge_claims(card)
    parts = {heading: [each for each in found if each.holds == holds] for holds, heading in HEADINGS.items()}
    return {heading: ones for heading, ones in parts.items() if ones}


def finding_claims(card: AuditCard) -> Iterator[Claim]:
    """Claims that rest on one finding each; a claim without its finding is not made."""
    for says, name, judge in TABLE:
        finding = usable(card, name.format(card.statistic))
        if finding is None or finding.estimate is None:
            continue
        holds = judge(card, finding) if finding.status == "evidence" else "undecided"
        if holds is not None:
            says_it = card.nouns.fill(says, method=method_words(card.method))
            because = sentence(finding.verdict)
            numbers = f"{numbers_of(finding)}{threshold_words(card, judge)}"
            yield Claim(capitalise(says_it), holds, because, finding.name, numbers)


def numbers_of(finding: Finding) -> str:
    """Estimate, interval and n; and the paired difference from random weights or orders, where a verdict
    rests on it."""
    parts = [estimate(finding)]
    if finding.bound or finding.interval is not None:
        parts.append(bounds(finding))
    words = f"{' '.join(parts)}, n = {count(finding.n)}"
    beside = finding.over_null.get("random") if finding.audit in BESIDE_RANDOM else None
    if beside is None or beside.estimate is None:
        return words
    return (
        f"{words}; minus random {number(beside.estimate, plus=True)} {interval(beside.interval, plus=True)}"
    )


def threshold_words(card: AuditCard, judge: Judge) -> str:
    """The number from which a claim may be said, where the rule has one."""
    whole = prediction_range(card)
    if judge in (large_where, side):
        return f"; moderate from {GOOD_AGREEMENT:g}"
    return f"; a change from {SMALL_CHANGE * whole:g}" if judge is changes and whole is not None else ""


def use_claims(card: AuditCard) -> Iterator[Claim]:
    """Whether attention prefers some tokens to others at all."""
    use = card.facts.get("attention_use")
    if card.method != ATTENTION or not use or not use["after"]:
        return
    layers, says = use["after"], card.nouns.fill(UNEQUAL)
    unused = [layer for layer in layers if is_unused(layer)]
    if any(use_is_unclear(layer) for layer in layers):
        which = "Attention is" if len(layers) == 1 else "Some layers are"
        yield Claim(says, "undecided", f"{which} nearly uniform or not.", "", entropy_range(layers))
        return
    holds: Holds = "yes" if not unused else "no" if len(unused) == len(layers) else "in part"
    if len(layers) == 1:
        which = "Attention is" if unused else "Attention is not"
    elif unused and len(unused) < len(layers):
        which = f"{len(unused)} of {len(layers)} layers are"
    else:
        which = "All layers are" if unused else "No layer is"
    numbers = entropy_range(unused or layers)
    yield Claim(says, holds, f"{which} nearly uniform.", "", numbers)


def large_where(card: AuditCard, finding: Finding) -> Holds | None:
    """Moderate agreement of sizes, more than random weights have, and more on what is important."""
    return HOLDS_OF_ANSWER[is_large_where_tokens_matter(card, finding.against)]


def changes(card: AuditCard, finding: Finding) -> Holds | None:
    """A mean change of a twentieth of the range of predictions or more."""
    ends, whole = decisive(finding), prediction_range(card)
    if ends is None or whole is None:
        return "undecided"
    least = SMALL_CHANGE * whole
    return "yes" if ends[0] >= least else "no" if ends[1] < least else "undecided"


def in_how_many(card: AuditCard, finding: Finding) -> Holds | None:
    """In nearly all texts, in some of them, or in hardly any."""
    ends = decisive(finding)
    return "undecided" if ends is None else HOLDS_OF_EXTENT[extent_of(ends)]


def rare(card: AuditCard, finding: Finding) -> Holds | None:
    """Other maps in at most a tenth of the texts, exactly: what a search did not find may be there. Where no
    weights change a prediction, others give the same."""
    ends, exact = decisive(finding), adversary_is_exact(card)
    free = card.finding(f"{FOUND}.free.all")
    of_all = None if free is None or not exact or not hardly_flat(card) else decisive(free)
    if of_all is not None and of_all[1] <= FEW_TEXTS:
        return "yes"  # of all maps, so of those that the head could have drawn too
    if ends is None:
        return "undecided"
    if ends[0] > 0.5:
        return "no"
    return "in part" if exact and finding.against == "free" and ends[0] > FEW_TEXTS else "undecided"


def movable(card: AuditCard, finding: Finding) -> Holds | None:
    """Hardly any prediction that no weights change. What a search did not change may still change: its share
    is an upper bound, and a bound below one half means that most predictions can be changed."""
    ends = decisive(finding)
    if ends is None or ends[1] <= FEW_TEXTS:
        return "undecided" if ends is None else "yes"
    if not adversary_is_exact(card):
        return "in part" if ends[1] < 0.5 else "undecided"
    if ends[0] <= FEW_TEXTS:
        return "undecided"
    return "no" if ends[0] > 0.5 else "in part"


def alone(card: AuditCard, finding: Finding) -> Holds | None:
    """The only map in nine maps of ten or more, in less than half, or certainly in neither."""
    ends = decisive(finding)
    if ends is None:
        return "undecided"
    most = 1 - FEW_TEXTS
    if ends[0] >= most or ends[1] < 0.5:
        return "yes" if ends[0] >= most else "no"
    return "in part" if ends[0] > FEW_TEXTS and ends[1] < most else "undecided"


def over_chance(card: AuditCard, finding: Finding) -> Holds | None:
    """More than the null, text by text, by what is not negligible."""
    low, high = over_random(finding)
    if high < NEGLIGIBLE * (prediction_range(card) or 0.0):
        return "no"
    return "yes" if low > 0 else "no" if high < 0 else "undecided"


def survives(card: AuditCard, finding: Finding) -> Holds | None:
    """Under every meaning of deleting, or under some."""
    share = finite(finding.estimate)
    return "undecided" if share is None or share == 0 else "yes" if share == 1 else "in part"


def at_most_little(card: AuditCard, finding: Finding) -> Holds | None:
    """A difference of shares that is not above a fiftieth."""
    ends = decisive(finding)
    if ends is None or ends[0] <= LITTLE < ends[1]:
        return "undecided"
    return "no" if ends[0] > LITTLE else "yes"


def side(card: AuditCard, finding: Finding) -> Holds | None:
    """Of signed weights alone."""
    return HOLDS_OF_ANSWER[agrees(finding)] if card.facts.get("signed") else None


LITTLE = 0.02
SENSITIVE = "where {method} is large, the prediction is sensitive to the {token}"
ERASED = "where {method} is large, the prediction changes without the weight of the {token}"
EVEN = "uniform weights would change the predictions"
SHUFFLED = "shuffling the weights among the {tokens} would change the predictions"
BESIDE_RANDOM = ("agreement", "faithfulness", "adversarial")
BY_SIZE = "agreement.{}" + ABSOLUTE
TABLE: tuple[tuple[str, str, Judge], ...] = (
    (
        SENSITIVE,
        f"{BY_SIZE}.{next(iter(METHODS))}.all",
        large_where,
    ),
    (
        ERASED,
        f"{BY_SIZE}.erasure-renormalise.all",
        large_where,
    ),
    (
        "the sign of {method} says which class {a_token} supports",
        "agreement.{}.erasure-renormalise.all",
        side,
    ),
    (
        "{method} ranks {tokens} better than chance under every type of deletion",
        "operators.{}" + ABSOLUTE + ".survival.all",
        survives,
    ),
    (
        "removing the {tokens} that {method} ranks first lowers the prediction more than removing others",
        "faithfulness.comprehensiveness.all",
        over_chance,
    ),
    (
        SHUFFLED,
        "perturbation.permutation.share.all",
        in_how_many,
    ),
    (
        EVEN,
        "perturbation.uniform.share.all",
        in_how_many,
    ),
    (
        "some other weights would change the prediction",
        "adversarial.flat.all",
        movable,
    ),
    (
        "only similar weights give the same prediction",
        f"{FOUND}.free.all",
        rare,
    ),
    (
        "of the weights that the head can produce, only similar ones give the same prediction",
        f"{FOUND}.producible.all",
        rare,
    ),
    (
        "these are the only weights that give the output of the head",
        "identifiability.identifiable.all",
        alone,
    ),
    (
        "the prediction depends on the heads whose attention is shown",
        "heads.removal.all",
        changes,
    ),
    (
        "special tokens get only as much attention as their effect on the prediction warrants",
        "heads.inflation.all",
        at_most_little,
    ),
)
