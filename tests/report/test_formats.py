"""Numbers, ranges and names as a reader sees them."""

import pytest

from glasshead.report.key_findings import difference, intro_sentence
from glasshead.report.number_format import count, interval, number, round_up, share
from glasshead.report.run_facts import card_names, split_names
from glasshead.results import AuditCard, Finding
from glasshead.wording import sentence


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (0.5, "0.500"),
        (-0.25, "−0.250"),
        (0, "0.000"),
        (-1e-16, "0.000"),
        (0.0004, "0.00040"),
        (-3e-7, "−3.0·10⁻⁷"),
        (12345.678, "12,345.678"),
        (2.5e9, "2.5·10⁹"),
        (None, "–"),
        (float("nan"), "–"),
        (float("inf"), "–"),
        ("3", "–"),
    ],
)
def test_number(value: object, text: str) -> None:
    assert number(value) == text


def test_other_formats() -> None:
    assert number(0.5, plus=True) == "+0.500"
    assert interval((-0.1, 0.2)) == "[−0.100, 0.200]"
    assert interval(None) == interval((float("nan"), 1.0)) == "–"
    assert share(0.414) == "41\xa0%"
    assert count(12345) == "12,345"


@pytest.mark.parametrize(("value", "top"), [(0.0, 0.0), (0.03, 0.05), (1.0, 1.0), (0.21, 0.25), (7, 10)])
def test_ranges_are_round(value: float, top: float) -> None:
    assert round_up(value) == pytest.approx(top)


def test_names_are_told_apart_and_shortened() -> None:
    cards = [AuditCard({"name": name}, []) for name in ("a · x · 0", "a · y · 0")]
    assert split_names(card_names(cards)) == ("a · 0", ["x", "y"])
    same = card_names([cards[0], cards[0]])
    assert same == ["a · x · 0 (1)", "a · x · 0 (2)"]
    assert split_names(same) == ("a · x", ["0 (1)", "0 (2)"])
    assert split_names(["a", "b · c"]) == ("", ["a", "b · c"])
    assert split_names(["a"]) == ("", ["a"])


def found(estimate: float, low: float, high: float) -> Finding:
    return Finding(
        "a", "s", "", "all", estimate, 0.1, (low, high), {}, 9, {}, None, "", "", status="evidence"
    )


def test_a_difference_rests_on_intervals() -> None:
    low, middle, high = found(0.1, 0.05, 0.15), found(0.2, 0.14, 0.26), found(0.9, 0.8, 1.0)
    assert difference([low, middle], ["a", "b"]) == "The 95\u00a0% intervals overlap."
    assert difference([low, high], ["a", "b"]).startswith("Larger for b than for a by 0.800")
    assert difference([low, middle, high], list("abc")).startswith("Largest for c; its")
    assert difference([high, low, found(0.85, 0.8, 0.9)], list("abc")).endswith("overlaps that of c.")
    assert difference([high, None], ["a", "b"]) == ""


@pytest.mark.parametrize(
    ("verdict", "said"),
    [("strong agreement", "Strong agreement."), ("τ is small!", "τ is small!"), ("", ""), ("Yes.", "Yes.")],
)
def test_a_verdict_is_a_sentence(verdict: str, said: str) -> None:
    assert sentence(verdict) == said


def test_data_that_are_not_split_are_all_rows():
    for split, words in (("all", "(all rows)"), ("test", "(test split)")):
        card = AuditCard({"name": "a", "data": "reviews.csv", "split": split, "examples": 20}, [])
        assert intro_sentence(card).startswith(f"20 examples of reviews.csv {words}")
