"""Tokens in their texts and alone, where an encoder reads the words around them: a picture and two tables."""

from collections.abc import Sequence
from dataclasses import dataclass

from glasshead.errors import InputError
from glasshead.report.dynamics.curves import SUN_AND_LU
from glasshead.report.dynamics.picture import Key, Picture
from glasshead.report.dynamics.precision import USUAL, bounds, digits, fixed
from glasshead.report.dynamics.summary import Told, capital
from glasshead.report.dynamics.tokens import cloud, groups_of, points_of, ranges_of
from glasshead.report.labels import groups_in_order
from glasshead.report.number_format import DASH, number, share
from glasshead.report.plots import group_colours
from glasshead.results import Finding, History, versus

PLACES = {"local": "in their texts", "global": "alone"}


def contexts(history: History, asked: Sequence[str] = ()) -> Picture:
    """Polarity against attention score of every token: the mean over its places in the texts, and alone.

    Raises:
        InputError: if they were not worked out.
    """
    table = history.contexts
    if not table:
        raise InputError(
            "a token has other scores in its texts than alone only where the encoder reads the words around "
            "it (`encoder='lstm'`): choose another `what`"
        )
    colours = group_colours(history.groups)
    chosen = [token for token in asked if token in set(table["token"].tolist())]
    groups = groups_of(table["group"], table["local polarity"], table["local score"], table["token"], chosen)
    points = {
        where: points_of(
            table[f"{where} polarity"], table[f"{where} score"], table["token"], groups, colours, chosen
        )
        for where in PLACES
    }
    ranges = ranges_of([each for found in points.values() for each in found])
    panels = []
    for where, words in PLACES.items():
        means = ", ".join(
            f"{group} {number(table[f'{where} score'][table['group'] == group].mean())}"
            for group in groups_in_order(groups)
        )
        about = f"Polarity and attention score of tokens {words}; mean scores: {means}."
        panels.append(cloud(words, points[where], ranges, about))
    drawn, of = sum(map(len, groups.values())), len(table["token"])
    caption = (
        "A point is a token of a group: its mean over all places where it stands in the texts of train, and "
        "as a text of its own, on the same scale."
    )
    if chosen:
        caption += " The chosen ones have a ring."
    if drawn < of:
        caption += f" {drawn:,} of {of:,} are drawn, by chance."
    keys = [Key(colours[group], group, "dot") for group in groups_in_order(groups)]
    return Picture("Tokens in their texts and alone", panels, caption, keys, f"after {SUN_AND_LU}, Fig. 13")


@dataclass(frozen=True)
class Order:
    """How far one quantity of a group's tokens is the same in their texts and alone."""

    group: str
    quantity: str
    n: str
    tau: str
    tau_interval: str
    flipped: str
    flipped_interval: str


def orders(told: Told) -> list[Order]:
    """τ-b and the share of flipped signs, of all tokens and group by group."""
    found = []
    here = [f for f in told.findings if f.statistic == "order"]
    first = ["all", *told.history.groups]
    for f in sorted(here, key=lambda each: first.index(each.group)):
        flipped = told.of("flipped", f.against, f.group)
        found.append(
            Order(
                f.group, f.against, f"{f.n:,}", fixed(f.estimate), bounds(f.interval),
                DASH if flipped is None else share(flipped.estimate),
                DASH if flipped is None else shares(flipped),
            )
        )  # fmt: skip
    return found


def shares(finding: Finding) -> str:
    """An interval in percent."""
    if finding.interval is None:
        return DASH
    return f"[{share(finding.interval[0])}, {share(finding.interval[1])}]"


@dataclass(frozen=True)
class Prominent:
    """How often a token of a group gets more attention than a neutral one: number and interval of each."""

    group: str
    n: str
    local: tuple[str, str]
    alone: tuple[str, str]
    gain: tuple[str, str]
    verdict: str


def prominent(told: Told) -> list[Prominent]:
    """AUC in texts, alone and the gain, of all tokens of classes and group by group."""
    order = [versus(name, "neutral") for name in ("polar", *told.history.groups)]
    gains = [f for f in told.findings if (f.statistic, f.against) == ("prominence", "gain")]
    found = []
    for gain in sorted(gains, key=lambda f: order.index(f.group)):
        local, alone = (told.of("prominence", where, gain.group) for where in ("local", "alone"))
        found.append(
            Prominent(gain.group, f"{gain.n:,}", stood(local), stood(alone), stood(gain), gain.verdict)
        )
    return found


def stood(finding: Finding | None) -> tuple[str, str]:
    """An AUC, or the gain from one to another, and its interval."""
    if finding is None:
        return DASH, DASH
    places = max(digits(finding), USUAL) if finding.against == "gain" else USUAL
    plus = finding.against == "gain"
    return fixed(finding.estimate, places, plus), bounds(finding.interval, places, plus)


def context_verdicts(told: Told) -> list[str]:
    """What the intervals carry, of the tokens of all classes: a sentence each, with its number."""
    first = next((f.group for f in told.findings if f.statistic == "prominence"), "")
    return [
        f"{capital(f.verdict)}: {'AUC ' if f.against != 'gain' else ''}{' '.join(stood(f))}."
        for f in told.findings
        if f.statistic == "prominence" and f.group == first and f.status == "evidence"
    ]
