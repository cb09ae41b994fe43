"""The most typical tokens of each group (Sun and Lu 2020, Table 1), with what each model makes of them."""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from glasshead.nouns import nouns_of
from glasshead.report.document import Cell, Row, Table, Tone, cell, columns, table
from glasshead.report.labels import LAST, sort_groups
from glasshead.report.number_format import count, finite, number
from glasshead.report.run_facts import any_signed
from glasshead.results import AuditCard

MAX_TOKENS = 14
QUANTITIES = {"weight": "weight", "contribution": "contrib."}


@dataclass(frozen=True)
class WordGroup:
    """The most typical tokens of one group of so many types, with their numbers."""

    group: str
    size: str
    table: Table


class CardTokens(NamedTuple):
    """The tokens of a card with their numbers, what it is called among several, and if its weights have
    signs."""

    name: str
    rows: dict[str, dict[str, Any]]
    signed: bool

    def cells(self, token: str) -> Iterator[Cell]:
        """The numbers of a token: a weight that cannot be negative has no side."""
        row = self.rows.get(token, {})
        for quantity in QUANTITIES:
            value = finite(row.get(quantity))
            small = value is None or abs(value) < 5e-4 or (quantity == "weight" and not self.signed)
            tone: Tone = "plain" if small else "for" if (value or 0.0) > 0 else "against"
            yield cell(number(row.get(quantity), plus=quantity != "weight" or self.signed), tone=tone)


def typical(cards: Sequence[AuditCard], names: Sequence[str], most: int = MAX_TOKENS) -> list[WordGroup]:
    """Per group, the tokens whose association γ√count is furthest from chance; neutral: the most frequent."""
    called = names if len(cards) > 1 else [""]
    of_cards = [
        CardTokens(name, _by_token(card.tokens), any_signed(card))
        for name, card in zip(called, cards, strict=True)
    ]
    merged: dict[str, dict[str, Any]] = {}
    for one in of_cards:
        for token, row in one.rows.items():
            merged.setdefault(token, row)
    groups: dict[str, list[dict[str, Any]]] = {}
    for row in merged.values():
        if row.get("group"):
            groups.setdefault(str(row["group"]), []).append(row)
    token = nouns_of(*(card.facts for card in cards)).token
    return [_word_group(name, groups[name], of_cards, most, token) for name in sort_groups(groups)]


def _by_token(columns: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
    if "token" not in columns:
        return {}
    names = list(columns)
    rows = (dict(zip(names, values, strict=True)) for values in zip(*columns.values(), strict=True))
    return {str(row["token"]): row for row in rows}


def _word_group(
    name: str,
    rows: list[dict[str, Any]],
    of_cards: Sequence[CardTokens],
    most: int,
    token: str,
) -> WordGroup:
    """One group; γ where it is known, then what each audit of these names has."""

    def rank(row: dict[str, Any]) -> tuple[float, float, str]:
        times = finite(row.get("count")) or 0.0
        gamma = finite(row.get("gamma"))
        surprise = abs(gamma) * math.sqrt(times) if gamma is not None and name != LAST else 0.0
        return -surprise, -times, str(row["token"])

    with_gamma = any(finite(row.get("gamma")) is not None for row in rows)
    lines: list[Row] = []
    for row in sorted(rows, key=rank)[:most]:
        word = str(row["token"])
        gamma = [number(_round(row.get("gamma")), 2, plus=True)] if with_gamma else []
        numbers = (number for card in of_cards for number in card.cells(word))
        lines.append((word, *gamma, count(row.get("count")), *numbers))
    titles = [
        " ".join(filter(None, (card.name, title))) for card in of_cards for title in QUANTITIES.values()
    ]
    head = columns((token,), (*(["γ"] if with_gamma else []), "n", *titles))
    return WordGroup(name, count(len(rows)), table(head, lines))


def _round(value: Any) -> float | None:
    amount = finite(value)
    return None if amount is None else round(amount, 2)
