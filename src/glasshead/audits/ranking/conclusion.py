"""What follows from the standings of methods, in sentences that say no more than the intervals do."""

from collections.abc import Mapping, Sequence

from glasshead.audits.ranking.standings import BETTER, WORSE, in_words
from glasshead.results import AUPRC, RANK, Difference, RankedMethod, Standing

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
    sentences = leading_sentences(leaders, differences, statistic)
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


def leading_sentences(leaders: Leaders, differences: Sequence[Difference], statistic: str) -> list[str]:
    """Who leads under all meanings of deleting, or that it depends on them, or that nobody does; and under
    which each leads."""
    sets = set(leaders.values())
    every = all_meanings(list(leaders))
    if sets == {()}:
        return [f"No method is shown to be more faithful than a random order {every}."]
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
    if reversed_pairs(differences, statistic):
        first = "Which method leads depends on what deleting means"
    elif common:
        first = f"{in_words(common)} {'are' if len(common) > 1 else 'is'} among the leaders {every}"
    else:
        first = f"No method is among the leaders {every}, though no pair is shown to change places"
    return [f"{first}.", f"In the lead: {listed}."]


def leaders_in_words(names: Sequence[str]) -> str:
    """Those that lead together, one alone, or none."""
    if not names:
        return "none"
    return f"{names[0]} alone" if len(names) == 1 else f"{in_words(names)}, not told apart,"


def reversed_pairs(differences: Sequence[Difference], statistic: str) -> set[tuple[int, int]]:
    """The pairs in which one is better under one meaning of deleting, and the other under another."""
    sides: dict[tuple[int, int], set[str]] = {}
    for each in differences:
        if each.name.startswith(f"{RANK}.{statistic}."):
            sides.setdefault((each.one, each.other), set()).add(each.verdict)
    return {pair for pair, verdicts in sides.items() if {BETTER, WORSE} <= verdicts}


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
        any_meaning = "under any meaning" if len(removals) > 1 else "here"
        sentences.append(
            f"{in_words(nowhere)} {verb} not shown to be better than a random order {any_meaning}, as far as "
            f"{texts:,} texts show."
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
