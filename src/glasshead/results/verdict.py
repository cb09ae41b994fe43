"""What a number comes to: in words, and as data that programs read instead of the words."""

from typing import Any, Literal, NamedTuple

from glasshead.nouns import Nouns

Interval = tuple[float, float]
Status = Literal["evidence", "undecided", "not evidence"]
Reason = Literal[
    "", "raw sign", "weak gauge", "one sign", "by construction", "same value", "too few", "not asked",
    "one class", "unsolved", "no range", "too sparse", "too much left", "none leads", "no sign", "no order",
]  # fmt: skip


AGREEMENT_STRENGTHS = ((0.7, "strong"), (0.4, "moderate"), (0.1, "weak"))
"""From which Kendall τ on an agreement is called what."""
SMALL_CHANGE, LARGE_CHANGE = 0.05, 0.2
"""Changes of a prediction, as shares of the range of predictions, that are hardly any and much."""
NEGLIGIBLE = 0.01
"""A difference between two changes, as such a share, that is hardly one, however certain it is."""
MIN_UNITS = 20
"""Fewer units decide nothing: even of 20, one sample in eight holds none of a tenth of the texts."""
ALMOST_ALL, HARDLY_ANY = 0.99, 0.01
"""Shares that are all and none but for a few."""
Extent = Literal["nearly all", "most", "some", "hardly any", "undecided"]
FIFTH, FIFTIETH = 0.2, 0.02
"""Of 20 units that are all alike the exact interval leaves open less than a fifth."""


def extent_of(interval: Interval) -> Extent:
    """How many units something is true of, by the interval of its share alone.

    Nearly all: four fifths or more, and all but a fiftieth are possible. Hardly any: a fifth or less, and no
    more than a fiftieth is possible. Else certainly in most, or in some (more than a fiftieth).
    """
    low, high = interval
    if low >= 1 - FIFTH and high >= 1 - FIFTIETH:
        return "nearly all"
    if high <= FIFTH and low <= FIFTIETH:
        return "hardly any"
    if low > FIFTIETH:
        return "most" if low > 0.5 else "some"
    return "undecided"


class Verdict(NamedTuple):
    """Words on a number, whether its interval may be judged, and the reason if not.

    A number is ``evidence`` if its interval may be taken at its word, whatever that shows; ``undecided``
    where too little is known, such as of few examples; ``not evidence`` where it would say nothing of the
    model however much were known: an accident of the seed, or what is true of any model.
    """

    words: str
    status: Status = "evidence"
    reason: Reason = ""

    @property
    def fields(self) -> dict[str, Any]:
        """The fields of a `Finding`."""
        return {"verdict": self.words, "status": self.status, "reason": self.reason}


RAW_SIGN = Verdict("raw sign: an accident of the seed", "not evidence", "raw sign")
ONE_SIGNED = Verdict(
    "uninformative: all weights have one sign; the values carry the class",
    "not evidence",
    "one sign",
)
WEAK_GAUGE = Verdict("undecided: the gauge is weak", "undecided", "weak gauge")

TOO_SPARSE = Verdict("undecided: the snapshots are too far apart", "undecided", "too sparse")
TOO_MUCH_LEFT = Verdict("undecided: too much is not explained", "undecided", "too much left")
NONE_LEADS = Verdict("undecided: none leads", "undecided", "none leads")
NO_SIGN = Verdict("undecided: these tokens do not settle the sign", "undecided", "no sign")


def too_few(units: str) -> Verdict:
    """The verdict on so few ``units`` that an interval over them would be too narrow."""
    return Verdict(f"undecided: too few {units}", "undecided", "too few")


TOO_FEW_EXAMPLES = too_few("examples")
TOO_FEW_TOKENS = too_few("tokens")


def no_order(nouns: Nouns) -> Verdict:
    """The verdict on an agreement where most inputs have nothing but ties."""
    return Verdict(
        f"undecided: in most {nouns.texts} all {nouns.tokens} have equal numbers, so there is no order to "
        "compare",
        "undecided",
        "no order",
    )


CONSTRUCTED: tuple[Reason, ...] = ("by construction", "same value")
"""Reasons of what is true of any model, or of any weights."""


def same_value(nouns: Nouns) -> Verdict:
    """No other weights change anything, because it makes no difference which unit has which."""
    why = f"all {nouns.tokens} of {nouns.a_text} carry the same value"
    return Verdict(f"no change by construction: {why}", "not evidence", "same value")


def by_construction(what: str, why: str) -> Verdict:
    """``what`` holds of any model, because of ``why``."""
    return Verdict(f"{what} by construction: {why}", "not evidence", "by construction")
