"""Audit cards, and the folder they are kept in."""

import json
from dataclasses import replace

import numpy as np
import pyarrow.parquet as pq
import pytest
from test_attribution import ATTRIBUTION, RANGED

from glasshead.errors import InputError
from glasshead.results import AuditCard, Finding, Highlight, PairedDifference

FINDING = Finding(
    audit="agreement",
    statistic="attention",
    against="gradient",
    group="all",
    estimate=0.1 + 0.2,
    std=0.0,
    interval=(0.25, 1 / 3),
    null={"random": 0.01, "uniform": None},
    n=10,
    undefined={"one token": 2},
    significant_fraction=None,
    citation="someone 2020",
    verdict="Weak agreement.",
    over_null={"random": PairedDifference(0.25, (0.2, 0.3), 9)},
    status="undecided",
    reason="too few",
)
NOTHING = replace(FINDING, estimate=None, std=None, interval=None, null={}, n=0, against="", undefined={},
    over_null={},
)  # fmt: skip


@pytest.fixture
def card():
    return AuditCard(
        facts={"name": "a", "labels": ["bad", "good"], "nested": {"x": [1, None, 0.5]}},
        findings=[FINDING, NOTHING],
        highlights=[Highlight("correct", "good", ATTRIBUTION, None)],
        examples={"text": ["a", ""], "tau": [0.5, None], "tokens": np.array([1, 0])},
        tokens={"token": ["x"], "weight": np.array([0.1])},
    )


def test_names():
    assert FINDING.name == "agreement.attention.gradient.all"
    assert NOTHING.name == "agreement.attention.all"


def test_finding_by_name(card):
    assert card.finding("agreement.attention.gradient.all") is FINDING
    assert card.finding("agreement.attention.gradient") is None


def test_intervals_are_kept_and_cards_without_them_load(card, tmp_path):
    asked = replace(card, highlights=[Highlight("correct", "good", RANGED, None), *card.highlights])
    asked.save(tmp_path)
    assert AuditCard.load(tmp_path).highlights == asked.highlights
    path = tmp_path / "card.json"
    body = json.loads(path.read_text(encoding="utf-8"))
    for highlight in body["highlights"]:
        del highlight["attribution"]["intervals"]
    path.write_text(json.dumps(body), encoding="utf-8")
    assert [h.attribution.intervals for h in AuditCard.load(tmp_path).highlights] == [None, None]


def test_intervals_that_do_not_fit_are_damage(card, tmp_path):
    card.save(tmp_path)
    path = tmp_path / "card.json"
    body = json.loads(path.read_text(encoding="utf-8"))
    body["highlights"][0]["attribution"]["intervals"] = [[0.0, 1.0]]
    path.write_text(json.dumps(body), encoding="utf-8")
    with pytest.raises(InputError, match="is a damaged audit"):
        AuditCard.load(tmp_path)


def test_save_and_load_bring_back_the_same_values(card, tmp_path):
    card.save(tmp_path)
    files = {path.name for path in tmp_path.iterdir()}
    assert files == {"card.json", "findings.parquet", "examples.parquet", "tokens.parquet"}
    loaded = AuditCard.load(tmp_path)
    assert loaded.facts == card.facts
    assert loaded.findings == card.findings
    assert loaded.highlights == card.highlights
    assert loaded.examples == {"text": ["a", ""], "tau": [0.5, None], "tokens": [1, 0]}
    assert loaded.tokens == {"token": ["x"], "weight": [0.1]}


def test_cards_without_paired_differences_load(card, tmp_path):
    card.save(tmp_path)
    path = tmp_path / "card.json"
    body = json.loads(path.read_text(encoding="utf-8"))
    for finding in body["findings"]:
        del finding["over_null"]
    path.write_text(json.dumps(body), encoding="utf-8")
    assert AuditCard.load(tmp_path).findings[0] == replace(FINDING, over_null={})


def test_findings_as_a_table(card, tmp_path):
    card.save(tmp_path)
    first, second = pq.read_table(tmp_path / "findings.parquet").to_pylist()
    assert first["name"] == FINDING.name
    assert first["estimate"] == FINDING.estimate
    assert tuple(first["interval"]) == FINDING.interval
    assert json.loads(first["null"]) == FINDING.null
    assert json.loads(first["undefined"]) == FINDING.undefined
    assert json.loads(first["over_null"]) == {
        "random": {"estimate": 0.25, "interval": [0.2, 0.3], "n": 9, "floor": None}
    }
    assert second["estimate"] is None
    assert second["interval"] is None


def test_an_empty_card(tmp_path):
    AuditCard(facts={}, findings=[]).save(tmp_path)
    loaded = AuditCard.load(tmp_path)
    assert (loaded.facts, loaded.findings, loaded.highlights) == ({}, [], [])
    assert loaded.examples == {}


@pytest.mark.parametrize("value", [float("nan"), float("inf")])
def test_a_number_that_is_none_is_refused(card, tmp_path, value):
    with pytest.raises(ValueError, match="not JSON compliant"):
        replace(card, findings=[replace(FINDING, estimate=value)]).save(tmp_path)
    with pytest.raises(ValueError, match="not JSON compliant"):
        replace(card, facts={"accuracy": value}).save(tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_a_nan_in_a_card_is_damage(card, tmp_path):
    card.save(tmp_path)
    path = tmp_path / "card.json"
    text = path.read_text(encoding="utf-8")
    path.write_text(text.replace('"estimate": 0.30000000000000004', '"estimate": NaN'), encoding="utf-8")
    assert "NaN" in path.read_text(encoding="utf-8")
    with pytest.raises(InputError, match="damaged"):
        AuditCard.load(tmp_path)


def test_not_an_audit(tmp_path):
    for folder in (tmp_path, tmp_path / "missing"):
        with pytest.raises(InputError, match=r"is not an audit \(no card.json\)"):
            AuditCard.load(folder)


def test_another_version(card, tmp_path):
    card.save(tmp_path)
    path = tmp_path / "card.json"
    path.write_text(json.dumps(json.loads(path.read_text(encoding="utf-8")) | {"schema": 0}))
    with pytest.raises(InputError, match="another version"):
        AuditCard.load(tmp_path)


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("facts", []),
        ("facts", {"notes": 3}),
        ("facts", {"labels": [1]}),
        ("facts", {"gauge": "raw"}),
        ("findings", {}),
        ("findings", [{"audit": "agreement"}]),
        ("highlights", [1]),
        ("highlights", None),
    ],
)
def test_damaged_values(card, tmp_path, key, value):
    card.save(tmp_path)
    path = tmp_path / "card.json"
    path.write_text(json.dumps(json.loads(path.read_text(encoding="utf-8")) | {key: value}))
    with pytest.raises(InputError, match="is a damaged audit"):
        AuditCard.load(tmp_path)


@pytest.mark.parametrize("name", ["card.json", "examples.parquet", "tokens.parquet"])
@pytest.mark.parametrize("content", [b"", b"garbage", b"\xff\xfe\x00", b"[]"], ids=repr)
def test_damaged_files(card, tmp_path, name, content):
    card.save(tmp_path)
    (tmp_path / name).write_bytes(content)
    with pytest.raises(InputError, match="audit again") as caught:
        AuditCard.load(tmp_path)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("name", ["examples.parquet", "tokens.parquet"])
def test_a_missing_table(card, tmp_path, name):
    card.save(tmp_path)
    (tmp_path / name).unlink()
    with pytest.raises(InputError, match="is a damaged audit"):
        AuditCard.load(tmp_path)
