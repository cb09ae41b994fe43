"""From the changes of every pair to what may be said of each site: intervals, a null, one correction."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy import stats

from glasshead.arrays import AnyFloats
from glasshead.errors import pluralise
from glasshead.inside.foreign import ANOTHER_PAIR
from glasshead.inside.pairs import FEWEST
from glasshead.inside.patching import Effects, Exchange
from glasshead.inside.sites import ATTENTION, HEADS, MLP, RESIDUAL
from glasshead.results import PatchedPair, PatchedSite, Patching
from glasshead.statistics import LEVEL, kendall_tau_b, mean_interval

FLIPS = 9_999
EXACT = 12
"""Up to so many pairs all signs are tried."""
SMALL = 0.01
"""A share of the difference between both texts below which a site does not matter, however sure it is."""
ROUNDING = 1e-5
"""Changes below this part of the largest score are rounding."""
NAMED = 5
"""So many sites stand in the conclusion."""


@dataclass(frozen=True)
class SignTest:
    """The p-value of each site [sites], corrected for all of them."""

    pvalues: AnyFloats
    n: AnyFloats


def sign_test(values: AnyFloats, seed: int) -> SignTest:
    """Whether the mean of each column of ``values`` [n, sites] is zero, by the largest of all under random
    signs of the rows: T = |Σ x| / √Σ x². NaN is left out.

    Source: Westfall and Young (1993), single-step maxT.
    """
    n = np.isfinite(values).sum(axis=0)
    x = np.nan_to_num(values)
    size = np.sqrt(np.square(x).sum(axis=0))
    scaled = np.divide(x, size, out=np.zeros_like(x), where=size > 0)
    count = len(values)
    if count <= EXACT:
        numbers = np.arange(2**count)[:, None] >> np.arange(count) & 1
        signs = 1.0 - 2.0 * numbers
    else:
        signs = np.random.default_rng(seed).choice([-1.0, 1.0], size=(FLIPS, count))
        signs = np.concatenate([np.ones((1, count)), signs])
    observed = np.abs(scaled.sum(axis=0))
    largest = np.concatenate(
        [np.abs(part @ scaled).max(axis=1) for part in np.array_split(signs, max(1, len(signs) // 1000))]
    )
    pvalues = (largest[:, None] >= observed - 1e-9).mean(axis=0)
    return SignTest(pvalues, n)


def share_of(change: AnyFloats, total: AnyFloats) -> tuple[float, tuple[float, float] | None]:
    """Σ change / Σ total over pairs, with its 95 % interval from the deviations change − share · total.

    Source: Cochran (1977), section 6.4, the ratio estimator.
    """
    n, mean = len(change), float(total.mean())
    share = float(change.mean()) / mean
    if n < 2:
        return share, None
    error = float(np.std(change - share * total, ddof=1)) / (np.sqrt(n) * abs(mean))
    reach = float(stats.t.ppf(0.5 + LEVEL / 2, n - 1) * error)
    return share, (share - reach, share + reach)


def judge(
    effects: Effects,
    asked: Exchange,
    pairs: Sequence[PatchedPair],
    columns: Sequence[str],
    facts: Mapping[str, Any],
    first_order: Effects | None = None,
) -> Patching:
    """The sites with intervals, and the conclusion."""
    n = len(effects.total)
    scale = float(np.abs(np.concatenate([effects.score, effects.score + effects.total])).max()) or 1.0
    change, null = (
        None if own is None else np.where(np.abs(own) < ROUNDING * scale, 0.0, own)
        for own in (effects.change, effects.null)
    )
    assert change is not None
    over = change if null is None else change - null
    places = np.argwhere(np.isfinite(change).any(axis=0))
    among = np.ravel_multi_index(places.T, over.shape[1:])
    # A claim needs both: that a site changes something, and that foreign activations do not do the same.
    tests = [sign_test(values.reshape(n, -1)[:, among], asked.seed) for values in (change, over)]
    means = [np.nanmean(values.reshape(n, -1)[:, among], axis=0) for values in (change, over)]
    beyond = np.where(np.sign(means[0]) == np.sign(means[1]), tests[1].pvalues, 1.0)
    # Where too few pairs have another one to compare with, nothing is shown.
    untested = (tests[1].n < FEWEST) & (tests[0].n >= FEWEST)
    pvalues, counts = np.where(untested, 1.0, np.maximum(tests[0].pvalues, beyond)), tests[0].n
    rng = np.random.default_rng(asked.seed)
    total = mean_interval(effects.total, rng=rng)
    differs = n >= FEWEST and tells_apart(effects.total, total.interval, asked)
    sites = [
        judge_site(
            (int(layer), int(column)),
            change,
            null,
            effects.total,
            float(pvalue),
            int(number),
            asked,
            differs,
            rng,
            columns,
        )
        for (layer, column), pvalue, number in zip(places, pvalues, counts, strict=True)
    ]
    found = Patching(
        facts,
        columns,
        sites,
        (float(effects.total.mean()), total.interval),
        (),
        pairs,
        listed(effects.change),
        first_order=None if first_order is None else listed(first_order.change),
    )
    remarks = [*remarks_of(effects, asked, pairs)]
    if untested.any():
        remarks.append(
            f"{pluralise(int(untested.sum()), 'site')} can be compared with another pair in fewer than "
            f"{FEWEST} pairs, so nothing is claimed about them"
        )
    if first_order is not None:
        remarks.append(agreement(effects.change, first_order.change, rng))
    return replace(found, conclusion=conclusion_of(found, asked, differs), remarks=remarks)


def tells_apart(total: AnyFloats, ends: tuple[float, float] | None, asked: Exchange) -> bool:
    """Whether the answer is higher in the clean texts, by exchange of signs at 0.05 and by the interval."""
    towards_clean = -total if asked.runs_clean else total
    clear = ends is not None and (ends[0] > 0 or ends[1] < 0)
    return bool(
        clear and towards_clean.mean() > 0 and sign_test(total[:, None], asked.seed).pvalues[0] <= 1 - LEVEL
    )


def judge_site(
    place: tuple[int, int],
    change: AnyFloats,
    null: AnyFloats | None,
    total: AnyFloats,
    pvalue: float,
    number: int,
    asked: Exchange,
    differs: bool,
    rng: np.random.Generator,
    columns: Sequence[str],
) -> PatchedSite:
    """One site."""
    own = change[:, place[0], place[1]]
    has = np.isfinite(own)
    mean = mean_interval(own[has], rng=rng)
    # Where the model does not tell the texts apart there is no whole to have a share of.
    whole = differs and abs(total[has].mean()) > 0
    share, share_interval = share_of(own[has], total[has]) if whole else (None, None)
    other = None if null is None else null[:, place[0], place[1]]
    other_mean = None if other is None or not np.isfinite(other).any() else float(np.nanmean(other))
    return PatchedSite(
        *place,
        site_name(place, columns, asked),
        float(own[has].mean()),
        mean.interval_or_point,
        share,
        share_interval,
        other_mean,
        pvalue if differs and number >= FEWEST else None,
        number,
        number >= FEWEST and pvalue <= 1 - LEVEL and is_large(share_interval),
    )


def is_large(share: tuple[float, float] | None) -> bool:
    """Whether a share is shown to be no small one."""
    return share is not None and (share[0] > SMALL or share[1] < -SMALL)


def site_name(place: tuple[int, int], columns: Sequence[str], asked: Exchange) -> str:
    """What a site is called in a sentence."""
    if asked.site == HEADS:
        return f"layer {place[0]} head {place[1]}"
    return f"layer {place[0]} at token {columns[place[1]]}"


def listed(changes: AnyFloats) -> list[list[list[float | None]]]:
    """Numbers in lists, None instead of NaN."""
    return [[[None if np.isnan(value) else float(value) for value in row] for row in own] for own in changes]


def agreement(exact: AnyFloats, approximate: AnyFloats, rng: np.random.Generator) -> str:
    """How well the first order agrees with the exchanges, in words."""
    n = len(exact)
    one, other = exact.reshape(n, -1), approximate.reshape(n, -1)
    has = np.isfinite(one) & np.isfinite(other)
    tau = kendall_tau_b(np.nan_to_num(one), np.nan_to_num(other), has).tau
    mean = mean_interval(tau, rng=rng, within=(-1.0, 1.0))
    if mean.mean is None:
        return "the first order cannot be compared with the exchanges: no site changes anything"
    ends = "" if mean.interval is None else f" [{mean.interval[0]:.2f}, {mean.interval[1]:.2f}]"
    return (
        f"the first order agrees with the exchanges by Kendall τ-b = {mean.mean:.2f}{ends} over the sites of "
        f"a pair (n = {mean.n}); 1 is the same order, 0 none"
    )


NOUNS: Mapping[str, str] = {
    HEADS: "head",
    RESIDUAL: "place of the stream",
    ATTENTION: "attention output",
    MLP: "MLP output",
}


def conclusion_of(found: Patching, asked: Exchange, differs: bool) -> list[str]:
    """The sentences that open the page."""
    n, (mean, ends) = len(found.pairs), found.total
    towards = -mean if asked.runs_clean else mean
    if ends is not None and asked.runs_clean:
        ends = (-ends[1], -ends[0])
    unit = found.facts["unit"]
    between = "" if ends is None else f" [{signed(ends[0])}, {signed(ends[1])}]"
    pairs = pluralise(n, "pair")
    differ = f"The answer moves by {signed(towards)}{between} from corrupted to clean ({unit}, {pairs})."
    if n < FEWEST:
        return [f"{pairs} are too few: give at least {FEWEST}, better 20.", differ]
    if not differs and ends is not None and ends[1] < 0:
        return ["The answer is lower in the clean texts: exchange the columns, or check the answers.", differ]
    if not differs:
        return [
            "The model is not shown to answer differently in the clean texts, so there is nothing to locate.",
            differ,
        ]
    noun = NOUNS[asked.site]
    through = "" if asked.into is None else f" through {asked.into}"
    verb = "be needed for" if asked.runs_clean else "carry"
    for_it = [one for one in found.shown if not one.is_against]
    against = [one for one in found.shown if one.is_against]
    if for_it:
        are = "is" if len(for_it) == 1 else "are"
        which = f"{len(for_it):,} of {len(found.sites):,} {plural(noun)} {are}"
        said = [f"{which} shown to {verb} the answer{through}."]
        does = "takes away" if asked.runs_clean else "brings back"
        named = "; ".join(f"{one.name} {does} {one.share_in_words}" for one in for_it[:NAMED])
        said.append(f"{named[:1].upper()}{named[1:]}.")
    else:
        said = [f"No {noun} alone is shown to {verb} the answer{through}."]
    if against:
        works = f"{noun} works" if len(against) == 1 else f"{plural(noun)} work"
        said.append(f"{len(against):,} {works} against it.")
    return [*said, differ]


def signed(value: float) -> str:
    """A number with two decimals and a minus sign."""
    return f"{value:.2f}".replace("-", "−")


def plural(noun: str) -> str:
    """The noun for several."""
    return noun.replace("place", "places") if noun.startswith("place") else f"{noun}s"


def remarks_of(effects: Effects, asked: Exchange, pairs: Sequence[PatchedPair]) -> list[str]:
    """What a reader should know of the numbers."""
    n, remarks = len(pairs), []
    if not effects.whole:
        remarks.append(
            "layers of this model add more to the stream than their heads and MLP: changes of the residual "
            "stream are complete, those of heads, attention and MLP may miss a part"
        )
    if asked.null and asked.brings_back and effects.null is not None:
        alone = int(np.isnan(effects.null).all(axis=(1, 2)).sum())
        if effects.null_name != ANOTHER_PAIR:
            remarks.append(
                f"fewer than {FEWEST} pairs have a partner of equal length with another answer, so sites "
                "are tested against a random change of the same size, not against another pair"
            )
        elif alone:
            remarks.append(
                f"{alone} of {pluralise(n, 'pair')} have no partner of equal length with another answer: "
                "they are left out of tests against another pair"
            )
    answers = {frozenset((pair.answer, pair.against)) for pair in pairs}
    if len(answers) == 1 and pairs[0].against and n >= FEWEST:
        remarks.append(
            "all pairs compare the same two answers, and every model prefers one of them, even with random "
            "weights: the sites show where this model makes the difference, learned or not"
        )
    if asked.site != HEADS and len({len(pair.clean) for pair in pairs}) > 1:
        remarks.append(
            "the texts have different lengths, and tokens are counted from the last: a column holds "
            "different places. Use texts of one form to see places"
        )
    return remarks
