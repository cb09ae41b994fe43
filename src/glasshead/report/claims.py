"""What people say of an attention map, and whether the findings of an audit allow it."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Literal

from glasshead.report.conclusion import (
    FEW_TEXTS,
    FOUND,
    METHODS,
    adversary_is_exact,
    agreement_level,
    agreement_speaks,
    capitalise,
    decisive,
    over_random,
    prediction_range,
    usable,
)
from glasshead.report.labels import method_words, sentence
from glasshead.report.number_format import count, finite, interval, number
from glasshead.results import (
    ABSOLUTE,
    ALMOST_ALL,
    ATTENTION,
    SMALL_CHANGE,
    AuditCard,
    Finding,
    entropy_range,
    is_unused,
)

Holds = Literal["yes", "in part", "no", "undecided"]
HEADINGS: dict[Holds, str] = {
    "yes": "May be said",
    "in part": "May be said in part",
    "no": "May not be said",
    "undecided": "Stays open",
}


@dataclass(frozen=True)
class Claim:
    """A sentence on the attention of a model, whether it ``holds``, why, and on which finding that rests."""

    says: str
    holds: Holds
    because: str
    finding: str
    numbers: str


Judge = Callable[[AuditCard, Finding], Holds | None]


def claims(card: AuditCard) -> list[Claim]:
    """All claims on which the findings of a card bear, in the order in which they are argued."""
    return [*use_claims(card), *finding_claims(card)]


def claims_by_answer(card: AuditCard) -> dict[str, list[Claim]]:
    """The same under their headings, those that stay open last."""
    found = claims(card)
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
            says_it = says.format(method=method_words(card.method))
            because = sentence(finding.verdict)
            yield Claim(capitalise(says_it), holds, because, finding.name, numbers_of(finding))


def numbers_of(finding: Finding) -> str:
    """Estimate, interval and n; and the paired difference from random weights or orders, where a verdict
    rests on it."""
    parts = [number(finding.estimate)]
    if finding.interval is not None:
        parts.append(interval(finding.interval))
    words = f"{' '.join(parts)}, n = {count(finding.n)}"
    beside = finding.over_null.get("random") if finding.audit in BESIDE_RANDOM else None
    if beside is None or beside.estimate is None:
        return words
    return (
        f"{words}; minus random {number(beside.estimate, plus=True)} {interval(beside.interval, plus=True)}"
    )


def use_claims(card: AuditCard) -> Iterator[Claim]:
    """Whether attention prefers some tokens to others at all."""
    use = card.facts.get("attention_use")
    if card.method != ATTENTION or not use or not use["after"]:
        return
    layers = use["after"]
    unused = [layer for layer in layers if is_unused(layer)]
    holds: Holds = "yes" if not unused else "no" if len(unused) == len(layers) else "in part"
    which = "Attention is" if len(layers) == 1 else f"{len(unused)} of {len(layers)} layers are"
    near = "" if unused or len(layers) > 1 else " not"
    numbers = entropy_range(unused or layers)
    yield Claim(
        "Attention prefers some tokens to others", holds, f"{which}{near} nearly uniform.", "", numbers
    )


def agreement(card: AuditCard, finding: Finding) -> Holds | None:
    """Moderate agreement, and more than random weights have."""
    speaks = agreement_speaks(finding, agreement_level(finding))
    return "undecided" if speaks is None else "yes" if speaks else "no"


def changes(card: AuditCard, finding: Finding) -> Holds | None:
    """A change of a twentieth of the range of predictions or more."""
    ends, whole = decisive(finding), prediction_range(card)
    if ends is None or whole is None:
        return "undecided"
    least = SMALL_CHANGE * whole
    return "yes" if ends[0] >= least else "no" if ends[1] < least else "undecided"


def rare(card: AuditCard, finding: Finding) -> Holds | None:
    """Other maps in at most a tenth of the texts; what a search did not find may be there."""
    ends = decisive(finding)
    if ends is None:
        return "undecided"
    if ends[1] <= FEW_TEXTS:
        return "yes" if finding.against == "free" and adversary_is_exact(card) else "undecided"
    return "no" if ends[0] > 0.5 else "in part"


def alone(card: AuditCard, finding: Finding) -> Holds | None:
    """The only map in almost every text, or in some."""
    ends = decisive(finding)
    if ends is None:
        return "undecided"
    return "yes" if ends[0] >= ALMOST_ALL else "no" if ends[1] < 0.5 else "in part"


def over_chance(card: AuditCard, finding: Finding) -> Holds | None:
    """More than the null, text by text."""
    low, high = over_random(finding)
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
    return agreement(card, finding) if card.facts.get("signed") else None


LITTLE = 0.02
BESIDE_RANDOM = ("agreement", "faithfulness")
BY_SIZE = "agreement.{}" + ABSOLUTE
TABLE: tuple[tuple[str, str, Judge], ...] = (
    (
        "where {method} is large, the prediction is sensitive to the token",
        f"{BY_SIZE}.{next(iter(METHODS))}.all",
        agreement,
    ),
    (
        "where {method} is large, taking the token out changes the prediction",
        f"{BY_SIZE}.erasure-renormalise.all",
        agreement,
    ),
    (
        "the sign of {method} says for which side a token speaks",
        "agreement.{}.erasure-renormalise.all",
        side,
    ),
    (
        "agreement with taking tokens out does not depend on how they are taken out",
        "operators.{}" + ABSOLUTE + ".survival.all",
        survives,
    ),
    (
        "without the tokens that {method} puts first the prediction falls more than without others",
        "faithfulness.comprehensiveness.all",
        over_chance,
    ),
    (
        "the prediction depends on which token has which weight",
        "perturbation.permutation.absolute.all",
        changes,
    ),
    (
        "it matters that the weights are not all the same",
        "perturbation.uniform.absolute.all",
        changes,
    ),
    (
        "quite other weights would give another prediction",
        f"{FOUND}.free.all",
        rare,
    ),
    (
        "quite other weights that the head could have drawn would give another prediction",
        f"{FOUND}.producible.all",
        rare,
    ),
    (
        "the weights are the only ones with which the head gives its output",
        "identifiability.identifiable.all",
        alone,
    ),
    (
        "the prediction rests on the heads that are read",
        "heads.removal.all",
        changes,
    ),
    (
        "special tokens get no more attention than their part in the prediction accounts for",
        "heads.inflation.all",
        at_most_little,
    ),
)
