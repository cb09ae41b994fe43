"""What follows from the standings of methods, in sentences that say no more than was shown."""

from collections.abc import Collection, Mapping, Sequence

from glasshead.audits.ranking.criteria import larger_is_better
from glasshead.audits.ranking.standings import finding_name, join_and
from glasshead.nouns import Nouns
from glasshead.results import (
    AUPRC,
    MIN_UNITS,
    MethodDifference,
    RankedMethod,
    Standing,
)

Leaders = Mapping[str, tuple[str, ...]]
MethodPairs = Sequence[tuple[str, MethodDifference]]
"""Differences of two methods, each behind the type of deletion that it is about."""
BETTER_THAN_RANDOM = {Standing.LEADS, Standing.BEHIND}


def conclude_ranking(
    methods: Sequence[RankedMethod],
    differences: Sequence[MethodDifference],
    statistic: str,
    removals: Sequence[str],
    nouns: Nouns,
) -> list[str]:
    """Which methods lead, which tie, which are not shown to be better than a random order,
    and what stayed undecided."""
    leaders = {
        removal: tuple(
            method.name for method in methods if method.standing(statistic, removal) == Standing.LEADS
        )
        for removal in removals
        if any(method.standing(statistic, removal) != Standing.UNDECIDED for method in methods)
    }
    sentences = []
    if leaders:
        own = {method.name: method.own_removal for method in methods}
        removal_of = {finding_name(statistic, removal): removal for removal in leaders}
        pairs = [(removal_of[pair.name], pair) for pair in differences if pair.name in removal_of]
        if len(methods) == 1:
            sentences += sentences_of_one(methods[0], leaders, nouns)
        else:
            sentences += leading_sentences(leaders, own, find_flips(methods, pairs, leaders), nouns)
        sentences += margin_sentences(methods, pairs, statistic, leaders)
        sentences += tie_sentences(methods, pairs, leaders)
        sentences += random_sentences(methods, statistic, removals, nouns)
    sentences += describe_undecided(methods, statistic, removals, nouns)
    if any(method.finding(AUPRC) for method in methods):
        sentences.append(marks_sentence(methods, nouns))
    return sentences


def sentences_of_one(method: RankedMethod, leaders: Leaders, nouns: Nouns) -> list[str]:
    """The types of deletion under which the only method that was tried beats a random order: it leads
    nobody. That it is nowhere better is said of several methods, too (`random_sentences`)."""
    better = [removal for removal, names in leaders.items() if names]
    if not better:
        return []
    own = f" ({method.own_removal} is the edit by which it scores {nouns.tokens})"
    own *= method.own_removal in better
    where = all_meanings(list(leaders)) if len(better) == len(leaders) else f"under {join_and(better)} only"
    return [f"{method.name} is more faithful than a random order {where}{own}."]


def leading_sentences(
    leaders: Leaders,
    own: Mapping[str, str | None],
    reversals: Collection[tuple[str, str]],
    nouns: Nouns,
) -> list[str]:
    """Who leads under all types of deletion, or that it depends on them, or that nobody does; and under which
    each leads. ``own`` are the meanings by which methods score tokens themselves."""
    sets = set(leaders.values())
    every = all_meanings(list(leaders))
    if sets == {()}:
        return [f"No method is shown to be more faithful than a random order {any_meaning(list(leaders))}."]
    if len(sets) == 1:
        (names,) = sets
        return [f"{join_and(names)} {'tie for the lead' if len(names) > 1 else 'leads'} {every}."]
    by_leaders: dict[tuple[str, ...], list[str]] = {}
    for removal, names in leaders.items():
        owners = [name for name in names if own[name] == removal]
        note = f" (the edit by which {join_and(owners)} scores {nouns.tokens})" if owners else ""
        by_leaders.setdefault(names, []).append(removal + note)
    listed = "; ".join(
        f"{leaders_in_words(names)} under {join_and(meanings)}" for names, meanings in by_leaders.items()
    )
    first, *others = leaders.values()
    common = [name for name in first if all(name in names for names in others)]
    if common:
        lead = f"{join_and(common)} {'are' if len(common) > 1 else 'is'} among the leaders {every}"
    elif reversals:
        lead = "Which method leads depends on the type of deletion"
    else:
        lead = f"No method is shown to lead {every}, and no two are shown to change order"
    return [f"{lead}.", f"In the lead: {listed}."]


def leaders_in_words(names: Sequence[str]) -> str:
    """Those that lead together, one, or none."""
    return f"{join_and(names)} (tied)" if len(names) > 1 else join_and(names) or "none"


def find_flips(methods: Sequence[RankedMethod], pairs: MethodPairs, leaders: Leaders) -> set[tuple[str, str]]:
    """The pairs of which one leads and is better under one type of deletion, and the other under another; a
    lead under the very edit by which a method scores tokens does not count."""
    ahead: set[tuple[str, str]] = set()
    for removal, difference in pairs:
        pair = methods[difference.one], methods[difference.other]
        winner, loser = pair if difference.side == 1 else pair[::-1]
        if difference.side and winner.name in leaders[removal] and winner.own_removal != removal:
            ahead.add((winner.name, loser.name))
    return {(one, other) for one, other in ahead if (other, one) in ahead}


def margin_sentences(
    methods: Sequence[RankedMethod], pairs: MethodPairs, statistic: str, leaders: Leaders
) -> list[str]:
    """How small the lead of the only leader is, if one method leads under all types of deletion."""
    sets = set(leaders.values())
    if len(sets) != 1 or len(next(iter(sets))) != 1:
        return []
    ((leader,),) = sets
    margins = []
    for removal, difference in pairs:
        names = methods[difference.one].name, methods[difference.other].name
        if leader in names:
            sign = (1 if names[0] == leader else -1) * (1 if larger_is_better(statistic) else -1)
            other = names[1] if names[0] == leader else names[0]
            margins.append((sign * difference.estimate, other, removal))
            if not difference.side:
                return []  # it does not lead alone
    if not margins:
        return []
    margin, other, removal = min(margins)
    return [f"Its smallest lead is {margin:.2g}, over {other} under {removal}."]


def tie_sentences(methods: Sequence[RankedMethod], pairs: MethodPairs, leaders: Leaders) -> list[str]:
    """Which methods that do not lead cannot be told apart from one that does, and under which types of
    deletion."""
    ties: dict[str, list[str]] = {}
    for removal, difference in pairs:
        if difference.side != 0:
            continue
        pair = methods[difference.one].name, methods[difference.other].name
        for one, other in (pair, pair[::-1]):
            if one in leaders[removal] and other not in leaders[removal]:
                own = ties.setdefault(other, [])
                own += [] if removal in own else [removal]
    by_meanings: dict[tuple[str, ...], list[str]] = {}
    for name, own in ties.items():
        by_meanings.setdefault(tuple(removal for removal in leaders if removal in own), []).append(name)
    listed = "; ".join(f"{join_and(names)} under {join_and(own)}" for own, names in by_meanings.items())
    return [f"Tied with a leader, but not shown to lead: {listed}."] if listed else []


def random_sentences(
    methods: Sequence[RankedMethod], statistic: str, removals: Sequence[str], nouns: Nouns
) -> list[str]:
    """Which methods are nowhere shown to be better than a random order, and which are worse somewhere."""
    standings = {
        method.name: [method.standing(statistic, removal) for removal in removals] for method in methods
    }
    nowhere = [
        name
        for name, own in standings.items()
        if not BETTER_THAN_RANDOM & set(own) and {Standing.NOT_SHOWN, Standing.WORSE} & set(own)
    ]
    sentences = []
    if nowhere:
        n = min(
            finding.n
            for method in methods
            if method.name in nowhere
            for removal in removals
            if (finding := method.finding(statistic, removal)) is not None
        )
        sentences.append(
            f"{join_and(nowhere)} {'are' if len(nowhere) > 1 else 'is'} not shown to be better than a random "
            f"order {any_meaning(removals)} ({n:,} {nouns.texts})."
        )
    for name, own in standings.items():
        worse = [removal for removal, side in zip(removals, own, strict=True) if side == Standing.WORSE]
        if worse:
            sentences.append(f"{name} is worse than a random order under {join_and(worse)}.")
    return sentences


def describe_undecided(
    methods: Sequence[RankedMethod], statistic: str, removals: Sequence[str], nouns: Nouns
) -> list[str]:
    """Which methods are undecided, under which types of deletion, and why."""
    undecided: dict[tuple[tuple[str, ...], str], list[str]] = {}
    for method in methods:
        by_reason: dict[str, list[str]] = {}
        for removal in removals:
            finding = method.finding(statistic, removal)
            if method.standing(statistic, removal) == Standing.UNDECIDED and finding is not None:
                few = finding.n < MIN_UNITS and finding.status == "undecided"
                number = f"{finding.n} {nouns.texts} have a number, but {MIN_UNITS} are needed"
                why = number if few else finding.verdict
                by_reason.setdefault(why.removeprefix("undecided: "), []).append(removal)
        for why, own in by_reason.items():
            undecided.setdefault((tuple(own), why), []).append(method.name)
    return [
        f"{join_and(names)} {'are' if len(names) > 1 else 'is'} undecided"
        f"{'' if len(own) == len(removals) else f' under {join_and(own)}'}: {why}."
        for (own, why), names in undecided.items()
    ]


def marks_sentence(methods: Sequence[RankedMethod], nouns: Nouns) -> str:
    """Who is closest to the words that people have marked."""
    marked = f"the {nouns.words} that people mark"
    if all(method.standing(AUPRC) == Standing.UNDECIDED for method in methods):
        return f"Too few {nouns.texts} with marks to say who is closest to {marked}."
    names = [method.name for method in methods if method.standing(AUPRC) == Standing.LEADS]
    if not names:
        return f"No method is shown to be closer to {marked} than a random order."
    if len(names) == len(methods) > 1:
        return f"All methods are closer to {marked} than a random order, and tie."
    if len(methods) == 1:
        return f"{names[0]} is closer to {marked} than a random order."
    together = " (tied)" if len(names) > 1 else ""
    return f"Closest to {marked}: {join_and(names)}{together}."


def all_meanings(removals: Sequence[str]) -> str:
    """“Under all so many types of deletion”."""
    if len(removals) == 1:
        return f"under {removals[0]}"
    return f"under {'both' if len(removals) == 2 else f'all {len(removals)}'} types of deletion"


def any_meaning(removals: Sequence[str]) -> str:
    """“Under any type of deletion”, after a negation."""
    return "under any type of deletion" if len(removals) > 1 else f"under {removals[0]}"
