"""Whether two cards of an audit say the same."""

import json
from dataclasses import asdict

import numpy as np


def same(one, other, atol=1e-5):
    """Equal but for rounding, which intervals of few inputs enlarge, and where there is no number."""
    if isinstance(one, dict):
        near = {"interval": 2e-3}
        return one.keys() == other.keys() and all(
            same(one[key], other[key], near.get(key, atol)) for key in one
        )
    if isinstance(one, list | tuple):
        return len(one) == len(other) and all(same(*pair, atol) for pair in zip(one, other, strict=True))
    if isinstance(one, float) and isinstance(other, float):
        return bool(np.isclose(one, other, atol=atol, equal_nan=True))
    return one == other


def plain_facts(card):
    """The facts of a card as JSON has them, without the seconds that it took."""
    facts = json.loads(card.to_json())["facts"]
    return {key: value for key, value in facts.items() if key != "seconds"}


def assert_same_cards(card, other):
    assert [one.name for one in card.findings] == [one.name for one in other.findings]
    for one, two in zip(card.findings, other.findings, strict=True):
        pair = asdict(one), asdict(two)
        for each in pair if one.n == 2 else ():  # whose two numbers are one but for rounding, or are not
            each["interval"] = each["over_null"] = each["limit"] = None
        assert same(*pair), one.name
    for name in ("examples", "tokens"):
        one, two = dict(getattr(card, name)), dict(getattr(other, name))
        assert one.keys() == two.keys()
        assert [column for column in one if not same(one[column], two[column])] == []
    one, two = plain_facts(card), plain_facts(other)
    assert one.keys() == two.keys()
    assert [name for name in one if not same(one[name], two[name])] == []
    assert [one.reason for one in card.highlights] == [one.reason for one in other.highlights]
