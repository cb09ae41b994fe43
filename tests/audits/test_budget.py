"""How long an audit will take is said after its first inputs, and a budget is kept; no clock runs here."""

from functools import cache
from itertools import count

import numpy as np
import pytest
from datasets import concatenate_datasets

from glasshead.audits import run_audit
from glasshead.audits.audit_subject import audit_subject
from glasshead.audits.judging import until_decided
from glasshead.audits.judging.until_decided import look_level
from glasshead.audits.measuring import measure
from glasshead.audits.measuring.estimate import EVERY, Estimate
from glasshead.audits.open_request import open_request
from glasshead.durations import duration, rough_duration
from glasshead.errors import InputError
from glasshead.requests import AuditRequest
from readable import bert, data
from same_cards import assert_same_cards

LABELS = (1, 0, 0, 1, 1, 0)
FEW = ("performance", "agreement")
INPUTS = 12
NOTE = "Measured"


class Watched:
    """What an audit says, and what stays of it."""

    def __init__(self):
        self.said, self.remarks = [], []

    def __call__(self, stage, share=None):
        self.said.append((stage, share))

    def remark(self, words):
        self.remarks.append(words)


@cache
def opened():
    """A model, and texts of which some occur twice."""
    kind = bert()
    split = concatenate_datasets([data(kind, LABELS)] * 2)
    request = AuditRequest(kind.model, split, tokenizer=kind.tokenizer, audits=("performance",))
    return request, open_request(request)


def ask(seconds, watched=None, **options):
    """Audit 12 texts by a clock that is so many seconds later each time somebody looks."""
    request, (subject, rows, facts) = opened()
    times, watched = count(0, seconds), watched or Watched()
    return audit_subject(
        subject, rows, request.replace(**options), facts, watched, lambda: next(times)
    ), watched


@pytest.fixture(autouse=True)
def small_shards(monkeypatch):
    monkeypatch.setattr(measure, "SHARD", 5)
    monkeypatch.setattr(measure, "QUICK", 0)


def without_note(card):
    """A card without the sentence on its budget."""
    facts = dict(card.facts)
    for name in ("remarks", "notes"):
        facts[name] = [words for words in facts[name] if not words.startswith(NOTE)]
    return card.__class__(**{**vars(card), "facts": facts})


@pytest.mark.slow
def test_what_fits_a_budget_is_the_card_of_so_many_inputs(tmp_path):
    card, _ = ask(1.0, budget="18s", audits=FEW, store=tmp_path)
    measured = card.facts["examples"]
    assert 2 < measured < INPUTS
    assert f"{NOTE} {measured} of {INPUTS} texts in 18 s, chosen at random." in card.facts["remarks"]
    limited, _ = ask(1.0, limit=measured, audits=FEW)
    assert not any(words.startswith(NOTE) for words in limited.facts["remarks"])
    assert_same_cards(without_note(card), limited)
    # More time measures more, no limit the rest; nothing is measured twice.
    more, _ = ask(1.0, budget=9, audits=FEW, store=tmp_path)
    assert measured < more.facts["examples"] < INPUTS
    whole, watched = ask(1.0, audits=FEW, store=str(tmp_path))
    assert whole.facts["examples"] == INPUTS
    assert f": 0 of {INPUTS - more.facts['examples']} texts" in watched.said[2][0]


@pytest.mark.slow
def test_a_question_that_a_budget_leaves_open_has_one_last_look(tmp_path, monkeypatch):
    """What ends first ends the audit: the time, or that all is decided."""
    monkeypatch.setattr(until_decided, "FIRST_LOOK", 4)
    name = "agreement.attention.erasure-zero-weight"
    card, _ = ask(1.0, budget=18, audits=FEW, until_decided=(name,), store=tmp_path)
    assert 4 <= card.facts["examples"] < INPUTS
    assert card.find(name).level in map(look_level, (1, 2))
    assert any(f"which leave {name} undecided" in note for note in card.facts["notes"])
    # With more time the audit goes on, and looks again.
    more, _ = ask(0.001, budget="2h", audits=FEW, until_decided=(name,), store=tmp_path)
    assert more.facts["examples"] == INPUTS
    assert more.find(name).level > card.find(name).level


def test_the_least_is_one_shard():
    card, _ = ask(1e6, budget=1)
    assert card.facts["examples"] == measure.FIRST_SHARD


def test_a_budget_that_is_not_spent_is_not_mentioned():
    card, _ = ask(0.001, budget="2h")
    assert card.facts["examples"] == INPUTS
    assert not any(words.startswith(NOTE) for words in card.facts["remarks"])


def test_an_audit_of_few_inputs_counts_as_measured_where_it_asks_no_more(monkeypatch):
    """What an audit does not ask is not missing."""
    monkeypatch.setattr("glasshead.audits.agreement.Agreement.most", lambda audit, settings: 3)
    card, _ = ask(1.0, budget=18, audits=FEW)
    assert 3 < card.facts["examples"] < INPUTS


@pytest.mark.slow
def test_the_price_is_said_after_the_first_inputs():
    _, watched = ask(10.0)
    (price,) = watched.remarks
    assert price.startswith("About ")
    assert price.endswith(f" for {INPUTS} texts (measured on 2)")
    stages = [stage for stage, _ in watched.said]
    assert stages.index(f"measuring performance: 2 of {INPUTS} texts") > 0
    assert watched.said[-2][1] == 1.0
    (price,) = ask(2.0)[1].remarks
    assert price.endswith("(measured on 4)")
    _, watched = ask(10.0, budget="2m")
    assert "; the budget covers about " in watched.remarks[0]
    assert ask(0.01)[1].remarks == []


def test_a_function_is_told_the_price_as_a_stage():
    said = []
    ask(10.0, lambda *stage: said.append(stage))
    assert any(stage[0].startswith("About ") for stage in said)


def test_an_estimate_is_that_of_each_audit():
    """An audit that asks few inputs does not cost as if it asked all."""
    lengths = np.full(100, 10)
    few = np.arange(100) < 4
    estimate = Estimate({"all": np.ones(100, dtype=bool), "few": few}, lengths)
    assert not estimate.is_known
    assert estimate.left == 0
    estimate.add("all", np.array([0, 1]), 4.0)
    estimate.add("few", np.array([0, 1]), 20.0)
    assert estimate.left == pytest.approx(98 * 2.0 + 2 * 10.0)
    assert estimate.behind == 24.0
    assert estimate.seconds_of(np.array([2, 50])).tolist() == pytest.approx([12.0, 2.0])
    assert estimate.share == pytest.approx(24 / (24 + 216))


def test_a_long_input_costs_more():
    estimate = Estimate({"all": np.ones(3, dtype=bool)}, np.array([10, 10, 100]))
    estimate.add("all", np.array([0]), 1.0)
    short, long = estimate.seconds_of(np.array([1, 2]))
    assert long / short == pytest.approx(10 * (100 + EVERY) / (10 + EVERY))


@pytest.mark.parametrize(
    ("typed", "seconds"), [("90s", 90), ("10m", 600), ("2h", 7200), ("1.5h", 5400), (" 45 ", 45), (30, 30)]
)
def test_times_as_they_are_typed(typed, seconds):
    assert AuditRequest("m", "d", budget=typed).budget == seconds


@pytest.mark.parametrize("typed", ["soon", "10 min", "-5m", "0s", "", "m", "nan", float("inf"), float("nan")])
def test_what_is_no_time_is_refused(typed):
    with pytest.raises(InputError, match="`budget`"):
        AuditRequest("m", "d", budget=typed)


def test_times_in_words():
    words = [rough_duration(seconds) for seconds in (0.2, 1, 8, 43, 100, 240, 5400, 12700)]
    assert words == [
        "1 second", "1 second", "8 seconds", "45 seconds", "2 minutes", "4 minutes", "1.5 hours", "3.5 hours"
    ]  # fmt: skip
    assert [duration(seconds) for seconds in (4.2, 75, 600)] == ["4 s", "1 min 15 s", "10 min"]


def test_heads_alone_have_no_budget_and_no_workers():
    kind = bert()
    for options in ({"budget": "1m"}, {"workers": 2}):
        with pytest.raises(InputError, match="is for audits that read predictions"):
            run_audit(
                AuditRequest(
                    kind.model, data(kind, LABELS), tokenizer=kind.tokenizer, audits=["identifiability"],
                    **options,
                )
            )  # fmt: skip
