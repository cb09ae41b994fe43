"""What there is to say of the sources of an answer, for terminals, Markdown and pages."""

from collections.abc import Mapping
from typing import Any
from urllib.parse import urlsplit

from glasshead.errors import pluralise
from glasshead.escaping import STEERING
from glasshead.report.number_format import interval, number, share
from glasshead.results import REMOVED, Cited, Passage, SourceEffect, Statement

FIRST_WORDS = 60
"""Letters of a passage that has no title."""
SCALE = "0.7 nats halve a probability, 2.3 divide it by ten."
EXACT = "exact"
WITHOUT, BY_ITSELF = "without it", "only it"
"""Columns of removals: this passage alone is removed, and all others are."""


def label_of(passage: Passage) -> str:
    """The title of a passage, else its first words."""
    words = " ".join((passage.title or passage.text).split())
    return words if len(words) <= FIRST_WORDS else f"{words[:FIRST_WORDS].rstrip()}…"


def short_name(cited: Cited, passage: int) -> str:
    """A passage by its number and the first words of its title."""
    own = cited.passages[passage]
    return f"{passage + 1} ({label_of(own)})" if own.title else str(passage + 1)


def web_link(passage: Passage) -> str:
    """The link of a passage if it leads to a web page; empty: none."""
    link = passage.link.strip()
    try:
        parts = urlsplit(link)
    except ValueError:
        return ""
    is_plain = not STEERING.search(link) and not any(letter.isspace() for letter in link)
    is_web = parts.scheme in ("http", "https") and bool(parts.netloc) and parts.username is None
    return link if is_web and is_plain else ""


def unit_of(facts: Mapping[str, Any]) -> str:
    """In what effects are counted."""
    return "log-odds" if facts["method"] == "contextcite" else "nats of log p"


def doubt_of(effect: SourceEffect) -> str:
    """The interval of an effect, or that there is none."""
    return EXACT if effect.interval is None else interval(effect.interval, 2)


def numbers_of(statement: Statement) -> str:
    """The sources of a statement as marks behind it."""
    return "".join(f"[{place}]" for place in sorted(one.passage + 1 for one in statement.sources))


def marked_answer(cited: Cited) -> list[tuple[str, Statement | None]]:
    """The answer in order: its sentences, and what stands between them."""
    parts, here = list[tuple[str, Statement | None]](), 0
    for statement in cited.sentences:
        if statement.start > here:
            parts.append((cited.answer[here : statement.start], None))
        parts.append((cited.text_of(statement), statement))
        here = statement.stop
    if here < len(cited.answer):
        parts.append((cited.answer[here:], None))
    return parts


def ordered_effects(statement: Statement) -> list[SourceEffect]:
    """Sources first, the strongest of them at the top, then the others."""
    return sorted(statement.effects, key=lambda one: (not one.is_source, -one.effect, one.passage))


def what_effect_means(facts: Mapping[str, Any], statement: Statement) -> str:
    """What the numbers of the method are, and how sure."""
    if facts["method"] == "leave-one-out":
        return "Effect: how many nats log p falls without this passage. Nothing is drawn, so it is exact."
    is_exact = all(one.interval is None for one in statement.effects)
    subsets = f"all {2 ** len(statement.effects)}" if is_exact else f"{facts['draws']} random"
    what = (
        "Effect: how many nats a passage adds to log p when it joins others, as the mean over all orders."
        if facts["method"] == "shapley"
        else "Effect: what a passage adds to the log-odds of these words, from a sparse linear model fitted "
        f"to {subsets} subsets of the passages, which shrinks numbers a little."
    )
    if is_exact:
        return f"{what} Every subset was run, so nothing is drawn."
    doubt = "The 95 % intervals are over the draws and hold for all passages of a statement at once."
    return f"{what} {doubt}"


def what_columns_mean(facts: Mapping[str, Any], statement: Statement) -> str:
    """What removals are, in which unit, and what "as probable" compares."""
    others = "".join(f"; {removal_title(way)}: if it is {REMOVED[way]} instead" for way in statement.other)
    without = f"how many nats log p falls when only this passage is {REMOVED[facts['removal']]}"
    return (
        f"Without it: {without}{others}; {BY_ITSELF}: how much it rises with only this passage. "
        f"Sentences and words are always deleted. {SCALE} "
        "“As probable” compares the probability of exactly these words."
    )


def removal_title(removal: str) -> str:
    """What a column of another removal is called."""
    return {"replace": "replaced", "delete": "deleted"}.get(removal, removal)


def attention_remarks(cited: Cited, statement: Statement) -> list[str]:
    """Where another method gives most to a passage that is not a source."""
    sources = {one.passage for one in statement.sources}
    remarks = []
    for name, shares in statement.maps.items():
        if not any(shares):
            continue
        top = max(range(len(shares)), key=lambda passage: shares[passage])
        if top in sources:
            continue
        none = "is not shown to be a source"
        which = "is not one of them" if len(sources) > 1 else "is not this one" if sources else none
        remarks.append(
            f"{name[:1].upper()}{name[1:]} gives most to passage {short_name(cited, top)}, which {which} "
            f"({share(shares[top])} of what it gives to the prompt)."
        )
    return remarks


def foretelling_in_words(statement: Statement) -> str:
    """How well each method predicts what removing passages does; empty: it was not measured."""
    parts = [
        f"{name}: ρ = {number(one.rho, 2)} {interval(one.interval, 2)}, "
        + ("better than chance" if one.rho > one.chance and one.interval[0] > 0 else "not better than chance")
        for name, one in statement.foretells.items()
    ]
    if not parts:
        return ""
    subsets = next(iter(statement.foretells.values())).n
    return (
        "Added up over the passages that are left, these numbers predict how probable the answer is in "
        f"{subsets} ablations (Spearman’s ρ): {'; '.join(parts)}."
    )


def remarks_of(cited: Cited, statement: Statement) -> list[str]:
    """Caveats about the sources of a statement."""
    return [*statement.remarks, *attention_remarks(cited, statement)]


def facts_of(cited: Cited) -> list[str]:
    """How it was measured."""
    facts = cited.facts
    answer = "written by the model" if facts["written"] else "given"
    drawn = any(one.interval is not None for one in cited.whole.effects)
    return [
        f"{cited.model} ({facts['class']})",
        f"answer {answer}, log p {number(cited.whole.log_probability, 2)}, without any passage "
        f"{number(cited.whole.without_any, 2)}",
        f"{pluralise(len(cited.passages), 'passage')}, {facts['placed']}",
        f"method {facts['method']}, a removed passage is {REMOVED[facts['removal']]}"
        + (f", {facts['draws']} draws, seed {facts['seed']}" if drawn else ""),
        f"{pluralise(facts['passes'], 'forward call')}, {facts['tokens']:,} tokens, {facts['seconds']:.1f} s",
    ]
