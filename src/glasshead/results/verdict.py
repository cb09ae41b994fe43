"""What a number comes to: in words, and as data that programs read instead of the words."""

from typing import Any, Literal, NamedTuple

from glasshead.nouns import Nouns

Interval = tuple[float, float]
Status = Literal["evidence", "undecided", "not evidence"]
Reason = Literal[
    "", "raw sign", "weak gauge", "one sign", "by construction", "same value", "too few", "not tested",
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
    """For how many units something is true, judged only by the interval of its share.

    Nearly all: the interval begins at four fifths or above, and includes 98 %. Hardly any: a fifth or less,
    and no more than a fiftieth is possible. Else certainly in most, or in some (more than a fiftieth).
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
    """The verdict on a number in words, whether its interval can be judged, and the reason if not.

    A number is ``evidence`` if its interval is valid, ``undecided`` if too little is known, as with few
    examples, and ``not evidence`` if it says nothing about the model even with more data: an accident of
    the seed, or true of any model.
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
    """The verdict if there are too few ``units`` for an interval."""
    return Verdict(f"undecided: too few {units}", "undecided", "too few")


TOO_FEW_EXAMPLES = too_few("examples")
TOO_FEW_TOKENS = too_few("tokens")


def no_order(nouns: Nouns) -> Verdict:
    """The verdict on an agreement if most inputs have only ties."""
    return Verdict(
        f"undecided: in most {nouns.texts} all {nouns.tokens} have equal numbers, so there is no order to "
        "compare",
        "undecided",
        "no order",
    )


CONSTRUCTED: tuple[Reason, ...] = ("by construction", "same value")
"""Reasons of what is true of any model, or of any weights."""


def same_value(nouns: Nouns) -> Verdict:
    """The verdict if other weights change nothing, because the assignment of weights to units does not
    matter."""
    why = f"all {nouns.tokens} of {nouns.a_text} carry the same value"
    return Verdict(f"no change by construction: {why}", "not evidence", "same value")


def by_construction(what: str, why: str) -> Verdict:
    """``what`` is true of any model, because of ``why``."""
    return Verdict(f"{what} by construction: {why}", "not evidence", "by construction")
