"""What statistics and comparisons are called, and in which order they come: as their audits have it.

A name that an audit has no words for is shown as it is, after those that it has.
"""

from collections.abc import Iterable, Mapping, Sequence

from glasshead.report.run_facts import any_signed
from glasshead.results import ABSOLUTE, CANONICAL_GAUGE, AuditCard, Finding

GROUPS = ("all", "", "positive vs negative", "positive", "negative")
LAST = "neutral"
UNSPOKEN = ("all", "", "positive vs negative")
"""Groups that a label does not name."""


def words_of(cards: Sequence[AuditCard], audit: str) -> dict[str, str]:
    """What the statistics of an audit, and what they are compared with, are called in cards."""
    summaries = [card.conclusion.audits[audit] for card in cards if audit in card.conclusion.audits]
    return {name: words for summary in summaries for name, words in summary.words.items()}


def display_name(name: str, words: Mapping[str, str], signed: bool = True) -> str:
    """The wording of a name, or the name itself; weights that are not ``signed`` have no gauge."""
    absolute = f"{name.removesuffix(ABSOLUTE)}, absolute" if name.endswith(ABSOLUTE) else name
    wording = words.get(name, absolute)
    return wording if signed else wording.removesuffix(CANONICAL_GAUGE)


def finding_label(finding: Finding, card: AuditCard) -> str:
    """The full name of a finding of a card in words."""
    words, signed = words_of([card], finding.audit), any_signed(card)
    parts = [display_name(finding.statistic, words, signed)]
    if finding.against:
        summary = card.conclusion.audits.get(finding.audit)
        parts += ["–" if summary is None else summary.joint, display_name(finding.against, words, signed)]
    text = " ".join(parts)
    return text if finding.group in UNSPOKEN else f"{text} ({finding.group})"


def sort_names(names: Iterable[str], known: Iterable[str]) -> list[str]:
    """Distinct names: the known ones in their order, then the others as they came."""
    present = list(dict.fromkeys(names))
    listed = [name for name in known if name in present]
    return listed + [name for name in present if name not in listed]


def sort_groups(names: Iterable[str]) -> list[str]:
    """Distinct groups: all first, then polarities, classes as they came, and neutral last."""
    groups = sort_names(names, GROUPS)
    return [name for name in groups if name != LAST] + [name for name in groups if name == LAST]
