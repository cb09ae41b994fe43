"""Which explanation audits are about, and by which name its findings is next to those of another."""

from collections.abc import Sequence
from dataclasses import replace

from glasshead.results.audit_card import ABSOLUTE, ATTENTION, METHOD, AuditCard


def method_words(statistic: str) -> str:
    """The name of an audited explanation in a sentence."""
    named = {ATTENTION: "attention", METHOD: "the audited method"}
    return named.get(statistic, f"the method {statistic}")


def with_common_names(cards: Sequence[AuditCard]) -> list[AuditCard]:
    """Audits that can be compared: if they are about different explanations, findings about the explanation
    itself are called ``agreement.method…`` in all of them."""
    if len({card.method for card in cards}) < 2:
        return list(cards)
    return [with_common_name(card) for card in cards]


def with_common_name(card: AuditCard) -> AuditCard:
    """An audit with the name that all share."""
    common = {card.statistic: METHOD, card.statistic + ABSOLUTE: METHOD + ABSOLUTE}
    return replace(
        card,
        findings=[
            replace(one, statistic=common.get(one.statistic, one.statistic))
            if one.audit == "agreement"
            else one
            for one in card.findings
        ],
        slice_tests=[
            replace(one, statistic=common.get(one.statistic, one.statistic))
            if one.audit == "agreement"
            else one
            for one in card.slice_tests
        ],
    )
