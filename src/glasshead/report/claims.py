"""What people say of an attention map, and whether the findings of an audit allow it."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any, Literal

from glasshead.nouns import nouns_of
from glasshead.report.conclusion import (
    FEW_TEXTS,
    FOUND,
    GOOD_AGREEMENT,
    METHODS,
    adversary_is_exact,
    agreement_level,
    agreement_speaks,
    capitalise,
    conclusion,
    decisive,
    hardly_flat,
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
    EXPLANATION,
    NEGLIGIBLE,
    SMALL_CHANGE,
    AuditCard,
    Finding,
    entropy_range,
    is_unused,
    use_is_unclear,
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


UNEQUAL = "Attention gives some tokens more weight than others"
Judge = Callable[[AuditCard, Finding], Holds | None]


def judge_claims(card: AuditCard) -> list[Claim]:
    """All claims on which the findings of a card bear, in the order in which they are argued."""
    nouns = nouns_of(card.facts)
    claims = [*use_claims(card), *finding_claims(card)]
    return [replace(claim, says=nouns.reword(claim.says)) for claim in claims]


def verdict(card: AuditCard) -> str:
    """One sentence: do the weights decide, and do they say which tokens do? Of a card that does not ask, or
    of a method without weights, its conclusion."""
    short = conclusion(card, brief=True)
    nouns = nouns_of(card.facts)
    found = {claim.says: claim.holds for claim in judge_claims(card)}

    def answers(*said: str) -> list[Holds]:
        texts = (nouns.reword(capitalise(one.format(method=method_words(card.method)))) for one in said)
        return [found[text] for text in texts if text in found]

    decide, point = answers(DEPENDS, UNEVEN), answers(SENSITIVE, ERASED)
    if card.facts.get("against_guessing") == "not better" or not decide:
        return short
    open_end = " Whether the model is better than guessing stays open."
    return nouns.reword(about_weights(decide, point)) + (
        open_end if card.facts.get("against_guessing") == "undecided" else ""
    )


def about_weights(decide: Sequence[Holds], point: Sequence[Holds]) -> str:
    """Whether weights decide, and are large where a token matters, by what holds of either."""
    if set(decide) == {"no"}:
        return "The weights do not decide these predictions: others would do as well."
    if "no" in decide:
        return "The weights decide these predictions at most in part: some others would do as well."
    if set(decide) != {"yes"}:
        return "Whether the weights decide these predictions stays open, at least in part."
    if point and set(point) == {"yes"}:
        return "The weights decide these predictions, and are large where a token matters."
    if "yes" in point:
        by_one = "and are large where a token matters by one of two measures"
        return f"The weights decide these predictions, {by_one}."
    return "The weights decide these predictions, but are not shown to be large where a token matters."


def words_of_card(card: AuditCard) -> dict[str, Any]:
    """What follows from a card, for its JSON: the ``verdict``, and ``claims`` where these were asked for."""
    asked = EXPLANATION in card.facts
    claims = {"claims": [asdict(claim) for claim in judge_claims(card)]} if asked else {}
    return {"verdict": verdict(card)} | claims


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
            says_it = says.format(method=method_words(card.method))
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
    if judge in (agreement, side):
        return f"; moderate from {GOOD_AGREEMENT:g}"
    return f"; a change from {SMALL_CHANGE * whole:g}" if judge is changes and whole is not None else ""


def use_claims(card: AuditCard) -> Iterator[Claim]:
    """Whether attention prefers some tokens to others at all."""
    use = card.facts.get("attention_use")
    if card.method != ATTENTION or not use or not use["after"]:
        return
    layers = use["after"]
    unused = [layer for layer in layers if is_unused(layer)]
    if any(use_is_unclear(layer) for layer in layers):
        which = "Attention is" if len(layers) == 1 else "Some layers are"
        yield Claim(UNEQUAL, "undecided", f"{which} nearly uniform or not.", "", entropy_range(layers))
        return
    holds: Holds = "yes" if not unused else "no" if len(unused) == len(layers) else "in part"
    if len(layers) == 1:
        which = "Attention is" if unused else "Attention is not"
    elif unused and len(unused) < len(layers):
        which = f"{len(unused)} of {len(layers)} layers are"
    else:
        which = "All layers are" if unused else "No layer is"
    numbers = entropy_range(unused or layers)
    yield Claim(UNEQUAL, holds, f"{which} nearly uniform.", "", numbers)


def agreement(card: AuditCard, finding: Finding) -> Holds | None:
    """Moderate agreement, and more than random weights have."""
    speaks = agreement_speaks(finding, agreement_level(finding))
    return "undecided" if speaks is None else "yes" if speaks else "no"


def changes(card: AuditCard, finding: Finding) -> Holds | None:
    """A change of a twentieth of the range of predictions or more, and no less than of random weights."""
    ends, whole = decisive(finding), prediction_range(card)
    if ends is None or whole is None:
        return "undecided"
    least = SMALL_CHANGE * whole
    if ends[0] >= least:
        return "in part" if "random" in finding.null and over_random(finding)[1] < 0 else "yes"
    return "no" if ends[1] < least else "undecided"


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
    """Hardly any prediction that no weights change; what a search did not change may still change."""
    ends = decisive(finding)
    if ends is None or ends[1] <= FEW_TEXTS:
        return "undecided" if ends is None else "yes"
    if not adversary_is_exact(card) or ends[0] <= FEW_TEXTS:
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
    return agreement(card, finding) if card.facts.get("signed") else None


LITTLE = 0.02
SENSITIVE = "where {method} is large, the prediction is sensitive to the token"
ERASED = "where {method} is large, taking away the weight of the token changes the prediction"
DEPENDS = "the prediction depends on which token has which weight"
UNEVEN = "it matters that the weights are not all the same"
BESIDE_RANDOM = ("agreement", "faithfulness", "adversarial")
BY_SIZE = "agreement.{}" + ABSOLUTE
TABLE: tuple[tuple[str, str, Judge], ...] = (
    (
        SENSITIVE,
        f"{BY_SIZE}.{next(iter(METHODS))}.all",
        agreement,
    ),
    (
        ERASED,
        f"{BY_SIZE}.erasure-renormalise.all",
        agreement,
    ),
    (
        "the sign of {method} says for which side a token speaks",
        "agreement.{}.erasure-renormalise.all",
        side,
    ),
    (
        "{method} orders tokens better than chance, whatever taking them out means",
        "operators.{}" + ABSOLUTE + ".survival.all",
        survives,
    ),
    (
        "without the tokens that {method} puts first the prediction falls more than without others",
        "faithfulness.comprehensiveness.all",
        over_chance,
    ),
    (
        DEPENDS,
        "perturbation.permutation.absolute.all",
        changes,
    ),
    (
        UNEVEN,
        "perturbation.uniform.absolute.all",
        changes,
    ),
    (
        "some weights would change the prediction",
        "adversarial.flat.all",
        movable,
    ),
    (
        "no quite other weights give the same prediction",
        f"{FOUND}.free.all",
        rare,
    ),
    (
        "no quite other weights that the head could have drawn give the same prediction",
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
