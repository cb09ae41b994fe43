"""What follows from the standings of methods, in sentences that say no more than the intervals do."""

from collections.abc import Collection, Mapping, Sequence

from glasshead.audits.ranking.standings import BETTER, GROUP, WORSE, in_words
from glasshead.results import AUPRC, MIN_UNITS, RANK, Difference, RankedMethod, Standing

Leaders = Mapping[str, tuple[str, ...]]


def conclude(
    methods: Sequence[RankedMethod],
    differences: Sequence[Difference],
    statistic: str,
    removals: Sequence[str],
    texts: int,
) -> list[str]:
    """Which methods lead, which cannot be told apart, and which are no better than a random order."""
    leaders = leaders_of(methods, statistic, removals)
    if texts < MIN_UNITS:
        return [f"{texts} texts are too few to tell methods apart: it takes {MIN_UNITS}."]
    names = [method.name for method in methods]
    sentences = leading_sentences(leaders, reversed_pairs(differences, names, leaders, statistic))
    sentences += random_sentences(methods, statistic, removals, texts)
    if any(method.finding(AUPRC) for method in methods):
        sentences.append(marks_sentence(methods))
    return sentences


def leaders_of(methods: Sequence[RankedMethod], statistic: str, removals: Sequence[str]) -> Leaders:
    """The leading methods under each meaning of deleting."""
    return {
        removal: tuple(
            method.name for method in methods if method.standing(statistic, removal) == Standing.LEADS
        )
        for removal in removals
    }


def leading_sentences(leaders: Leaders, reversals: Collection[tuple[str, str]]) -> list[str]:
    """Who leads under all meanings of deleting, or that it depends on them, or that nobody does; and under
    which each leads."""
    sets = set(leaders.values())
    every = all_meanings(list(leaders))
    if sets == {()}:
        return [f"No method is shown to be more faithful than a random order {any_meaning(list(leaders))}."]
    if len(sets) == 1:
        (names,) = sets
        together = ", and cannot be told apart" if len(names) > 1 else ""
        return [f"{in_words(names)} {'lead' if len(names) > 1 else 'leads'} {every}{together}."]
    by_leaders: dict[tuple[str, ...], list[str]] = {}
    for removal, names in leaders.items():
        by_leaders.setdefault(names, []).append(removal)
    listed = "; ".join(
        f"{leaders_in_words(names)} under {in_words(meanings)}" for names, meanings in by_leaders.items()
    )
    common = [name for name in leaders[next(iter(leaders))] if all(name in own for own in leaders.values())]
    if common:
        first = f"{in_words(common)} {'are' if len(common) > 1 else 'is'} among the leaders {every}"
    elif reversals:
        first = "Which method leads depends on what deleting means"
    else:
        first = f"No method is among the leaders {every}, though no pair is shown to change places"
    return [f"{first}.", f"In the lead: {listed}."]


def leaders_in_words(names: Sequence[str]) -> str:
    """Those that lead together, one, or none."""
    return f"{in_words(names)}, not told apart," if len(names) > 1 else in_words(names) or "none"


def reversed_pairs(
    differences: Sequence[Difference], names: Sequence[str], leaders: Leaders, statistic: str
) -> set[tuple[str, str]]:
    """The pairs of which one leads and is better under one meaning, and the other under another."""
    ahead: set[tuple[str, str]] = set()
    meanings = {f"{RANK}.{statistic}.{removal}.{GROUP}": own for removal, own in leaders.items()}
    for each in differences:
        pair = names[each.one], names[each.other]
        if each.verdict == WORSE:
            pair = pair[::-1]
        if each.verdict in (BETTER, WORSE) and pair[0] in meanings.get(each.name, ()):
            ahead.add(pair)
    return {(one, other) for one, other in ahead if (other, one) in ahead}


def random_sentences(
    methods: Sequence[RankedMethod], statistic: str, removals: Sequence[str], texts: int
) -> list[str]:
    """Which methods are nowhere shown to be better than a random order, and which are worse somewhere."""
    standings = {
        method.name: [method.standing(statistic, removal) for removal in removals] for method in methods
    }
    shown = {Standing.LEADS, Standing.BEHIND}
    nowhere = [
        name
        for name, own in standings.items()
        if not shown & set(own) and {Standing.NOT_SHOWN, Standing.WORSE} & set(own)
    ]
    sentences = []
    if nowhere:
        verb = "are" if len(nowhere) > 1 else "is"
        sentences.append(
            f"{in_words(nowhere)} {verb} not shown to be better than a random order "
            f"{any_meaning(removals)}, as far as {texts:,} texts show."
        )
    for name, own in standings.items():
        worse = [removal for removal, each in zip(removals, own, strict=True) if each == Standing.WORSE]
        if worse:
            sentences.append(f"{name} is worse than a random order under {in_words(worse)}.")
    return sentences


def marks_sentence(methods: Sequence[RankedMethod]) -> str:
    """Who is closest to the words that people have marked."""
    names = [method.name for method in methods if method.standing(AUPRC) == Standing.LEADS]
    if not names:
        return "No method is shown to be closer to the words that people mark than a random order."
    together = ", and cannot be told apart" if len(names) > 1 else ""
    return f"Closest to the words that people mark: {in_words(names)}{together}."


def all_meanings(removals: Sequence[str]) -> str:
    """Under all so many of them."""
    return f"under all {len(removals)} meanings of deleting" if len(removals) > 1 else f"under {removals[0]}"


def any_meaning(removals: Sequence[str]) -> str:
    """Under none of them, after a negation."""
    return "under any meaning of deleting" if len(removals) > 1 else f"under {removals[0]}"
