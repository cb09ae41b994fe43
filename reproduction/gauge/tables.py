"""The rule of sign-gauge.md against what words say of where the sign lives.

The rule reads weights and values on the train split, without any word list. The truth it is held against
comes from elsewhere: from the positive and negative words of the test split, by its labels
(`glasshead.data.token_groups`). Of their mean weights a share w has the sign of its word (in the better
gauge, so at least ½), of their mean polarities a share v. With r = (w − ½) / (w − ½ + v − ½), the sign lives
in the weights if r ≥ ¾, in the values if r ≤ ¼, and else in both. A model that gives one answer to nine test
texts in ten, or whose w and v are below 0.6, has learned no side and is not judged. Neither are models of
more than two classes: there are no such words.
"""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from glasshead.results import MIN_TEXTS_PER_CLASS, ONE_SIGN, SIGN_IN_WEIGHTS, UNDECIDED
from glasshead.trace import ClassSigns, fix_gauge
from glasshead.trace.sign_gauge import ONE_SIDED
from reproduction.gauge.measure import CHECK, DEVELOPMENT, read
from reproduction.markdown import markdown

SHARES = (0.6, 0.8, 0.9, 0.95, 0.97, 0.98, 0.99, 0.999)
BOTH = "both"
OUTCOMES = ("right", "undecided", "wrong")


def page() -> Iterator[str]:
    """A part of sign-gauge.md."""
    order = {case.title: place for place, case in enumerate(DEVELOPMENT + CHECK)}
    entries = sorted(read(), key=lambda each: (order[each["case"]], each["preset"], each["seed"]))
    yield choice(entries)
    yield models(entries)


def truth_of(entry: Mapping[str, Any]) -> str | None:
    """Where the sign lives, by the words; None where they do not tell."""
    w, v = (entry.get(name, 0.5) - 0.5 for name in ("weights_right", "values_right"))
    if entry["commonest"] >= 0.9 or max(w, v) < 0.1:
        return None
    part = w / (w + v)
    return SIGN_IN_WEIGHTS if part >= 0.75 else ONE_SIGN if part <= 0.25 else BOTH


def weight_domain(entry: Mapping[str, Any], share: float = ONE_SIDED) -> str:
    """What the rule says, asking for such a share of one sign."""
    classes = [ClassSigns(**each) for each in entry["classes"]]
    return fix_gauge(classes, signed=True, one_sided=share).kind


def outcome(entry: Mapping[str, Any], share: float) -> str:
    """The rule against the words: right, undecided (which is right of both) or wrong."""
    kind, truth = weight_domain(entry, share), truth_of(entry)
    if kind == UNDECIDED:
        return "right" if truth == BOTH else "undecided"
    return "right" if kind == truth else "wrong"


def choice(entries: Sequence[Mapping[str, Any]]) -> str:
    """How often the rule is right with each share of one sign."""
    chosen = {case.title for case in DEVELOPMENT}
    judged = [each for each in entries if truth_of(each) is not None]
    groups = [
        [each for each in judged if (each["case"] in chosen) == development] for development in (True, False)
    ]
    again = sum(each["case"].startswith("SST-2") for each in groups[1])
    rows = []
    for share in SHARES:
        row = [f"**{share}**" if share == ONE_SIDED else f"{share}"]
        for group in groups:
            counts = Counter(outcome(each, share) for each in group)
            row += [str(counts[name]) for name in OUTCOMES]
        rows.append(row)
    heads = [f"{name}, {title}" for title in ("choice", "check") for name in OUTCOMES]
    text = (
        "Models whose kind the rule gets right, leaves undecided, or gets wrong, by the share of one sign "
        f"that it asks for (bold: that of Glasshead): {len(groups[0])} of SST-2, on which that was "
        f"chosen, and {len(groups[1])} to check it, {again} of them of other cuts of SST-2. Where the sign "
        "lives in both, undecided is right."
    )
    return text + "\n\n" + markdown(["share", *heads], rows)


def models(entries: Sequence[Mapping[str, Any]]) -> str:
    """Every model."""
    rows = []
    for each in entries:
        heard = [one for one in each["classes"] if one["texts"] >= MIN_TEXTS_PER_CLASS]
        positive, lean = ([one[name] for one in heard] for name in ("positive", "lean"))
        side = max((1, -1), key=lambda sign: min(sign * one[0] for one in lean))
        rows.append(
            [
                each["case"],
                each["preset"],
                str(each["seed"]),
                f"{each['accuracy']:.3f}",
                *(f"{each[name]:.2f}" if name in each else "–" for name in ("weights_right", "values_right")),
                truth_of(each) or "not judged",
                f"{max(min(one[1] for one in positive), min(1 - one[2] for one in positive)):.4f}",
                f"{min(min(side * one[1], side * one[2]) for one in lean):+.2f}",
                weight_domain(each),
                f"{abs(each['plain']):.2f}",
            ]
        )
    heads = ["data", "preset", "seed", "accuracy", "w", "v", "by the words", "one sign", "m", "by the rule"]
    text = (
        "Every model: w and v are the shares of words whose weight and whose polarity has their sign. *One "
        "sign* is the share of Σ|a| that one sign holds and *m* is m_k, each of the weakest class and at the "
        "lower end of its interval; the last column is the margin of a plain sum over all texts."
    )
    return text + "\n\n" + markdown([*heads, "plain sum"], rows)
