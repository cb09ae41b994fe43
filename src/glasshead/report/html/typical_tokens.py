"""The most typical tokens of each group (Sun and Lu 2020, Table 1), with what each model makes of them."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from glasshead.escaping import visible
from glasshead.report.labels import LAST, sort_groups
from glasshead.report.number_format import count, finite, number
from glasshead.results import AuditCard

MAX_TOKENS = 14
QUANTITIES = (("weight", "weight"), ("contribution", "contrib."))


@dataclass(frozen=True)
class Word:
    """One token: its association with the label and, per card, its numbers."""

    token: str
    gamma: str
    count: str
    numbers: list[list[tuple[str, str]]]


@dataclass(frozen=True)
class WordGroup:
    """The most typical tokens of one group."""

    group: str
    size: str
    has_gamma: bool
    words: list[Word]


def typical(cards: Sequence[AuditCard], most: int = MAX_TOKENS) -> list[WordGroup]:
    """Per group, the tokens whose association γ√count is furthest from chance; neutral: the most frequent."""
    tables = [_by_token(card.tokens) for card in cards]
    merged: dict[str, dict[str, Any]] = {}
    for table in tables:
        for token, row in table.items():
            merged.setdefault(token, row)
    groups: dict[str, list[dict[str, Any]]] = {}
    for row in merged.values():
        if row.get("group"):
            groups.setdefault(str(row["group"]), []).append(row)
    return [_word_group(name, groups[name], tables, most) for name in sort_groups(groups)]


def _by_token(columns: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
    if "token" not in columns:
        return {}
    names = list(columns)
    rows = (dict(zip(names, values, strict=True)) for values in zip(*columns.values(), strict=True))
    return {str(row["token"]): row for row in rows}


def _word_group(
    name: str, rows: list[dict[str, Any]], tables: list[dict[str, dict[str, Any]]], most: int
) -> WordGroup:
    def rank(row: dict[str, Any]) -> tuple[float, float, str]:
        times = finite(row.get("count")) or 0.0
        gamma = finite(row.get("gamma"))
        surprise = abs(gamma) * math.sqrt(times) if gamma is not None and name != LAST else 0.0
        return -surprise, -times, str(row["token"])

    words = [
        Word(
            visible(str(row["token"])),
            number(_round(row.get("gamma")), 2, plus=True),
            count(row.get("count")),
            [
                [_number_and_class(table.get(str(row["token"]), {}).get(key)) for key, _ in QUANTITIES]
                for table in tables
            ],
        )
        for row in sorted(rows, key=rank)[:most]
    ]
    return WordGroup(name, count(len(rows)), any(finite(row.get("gamma")) is not None for row in rows), words)


def _round(value: Any) -> float | None:
    amount = finite(value)
    return None if amount is None else round(amount, 2)


def _number_and_class(value: Any) -> tuple[str, str]:
    """The number and the class that colours it."""
    amount = finite(value)
    kind = "" if amount is None or abs(amount) < 5e-4 else "up" if amount > 0 else "down"
    return number(value, plus=True), kind
