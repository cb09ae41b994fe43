"""Audits in a folder: their line, their texts by filter, and what is said of a damaged one."""

import json
import shutil
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from glasshead.errors import InputError
from glasshead.results import EXPLANATION, AuditCard
from glasshead.serve.audit_shelf import MOST_TEXTS, ShelvedAudit, find_audits


@pytest.fixture(scope="module")
def shelf(audits):
    return find_audits(audits)


@pytest.fixture(scope="module")
def tanhmax(shelf):
    return shelf["tanhmax"]


def all_texts(audit, **filters):
    """Page by page, as the page asks for more."""
    asked = {"label": "", "predicted": "", "words": ""} | filters
    found = audit.texts(**asked, first=0)
    texts = list(found.texts)
    while len(texts) < found.found:
        more = audit.texts(**asked, first=len(texts)).texts
        assert 0 < len(more) <= MOST_TEXTS
        texts += more
    assert audit.texts(**asked, first=found.found).texts == []
    return texts


@pytest.mark.parametrize(
    "filters",
    [
        {}, {"label": "negative"}, {"predicted": "positive"}, {"label": "negative", "predicted": "positive"},
        {"words": "FILM"}, {"words": "<script>"}, {"words": "no such words"}, {"label": "no such class"},
    ],
)  # fmt: skip
def test_texts_are_those_of_the_card_that_fit(tanhmax, audits, filters):
    columns = AuditCard.load(audits / "tanhmax").examples
    fitting = [
        (text, label, predicted)
        for text, label, predicted in zip(
            columns["text"], columns["label"], columns["predicted"], strict=True
        )
        if label == filters.get("label", label)
        and predicted == filters.get("predicted", predicted)
        and filters.get("words", "").lower() in text.lower()
    ]
    assert [(one.text, one.label, one.predicted) for one in all_texts(tanhmax, **filters)] == fitting
    assert (len(fitting) == 0) == ("no such" in str(filters))


def test_agreement_is_the_number_of_the_card_or_none(tanhmax, audits):
    card = AuditCard.load(audits / "tanhmax")
    (column,) = [name for name in card.examples if name == f"tau.{card.statistic}.erasure-renormalise"]
    numbers = np.array(card.examples[column], dtype=float)
    found = [one.agreement for one in all_texts(tanhmax)]
    assert [one is None for one in found] == (~np.isfinite(numbers)).tolist()
    assert [one for one in found if one is not None] == numbers[np.isfinite(numbers)].tolist()


def test_a_line_says_what_was_audited_and_what_it_comes_to(tanhmax):
    facts = tanhmax.facts
    assert (facts.model, facts.data, facts.texts) == ("runs/sst2-tanhmax", "sst2", 872)
    assert facts.problem == ""
    assert facts.conclusion
    assert facts.claims == []


def test_claims_are_those_of_the_card_where_they_were_asked_for(audits, tmp_path):
    card = AuditCard.load(audits / "tanhmax")
    asked = replace(card, facts=card.facts | {EXPLANATION: ["attention"]})
    asked.save(tmp_path / "a")
    claims = ShelvedAudit("a", tmp_path / "a").facts.claims
    assert [claim.model_dump() for claim in claims] == [
        {"says": claim.says, "holds": claim.holds, "because": claim.because}
        for claim in asked.conclusion.claims
    ]
    assert len(claims) > 1


def test_a_folder_of_audits_and_an_audit_are_found(audits, shelf, tmp_path):
    assert set(shelf) == {path.name for path in audits.iterdir()}
    assert list(find_audits(audits / "tanhmax")) == ["tanhmax"]
    deep = tmp_path / "a" / "b"
    shutil.copytree(audits / "tanhmax", deep)
    assert list(find_audits(tmp_path)) == ["a/b"]


def test_the_folder_where_one_stands_has_a_name(audits, monkeypatch):
    monkeypatch.chdir(audits / "tanhmax")
    assert list(find_audits(Path())) == ["tanhmax"]


def test_a_folder_and_one_in_it_that_is_called_alike_are_both_there(audits, tmp_path):
    root = tmp_path / "audits"
    shutil.copytree(audits / "tanhmax", root)
    shutil.copytree(audits / "tanhmax", root / "audits")
    shelf = find_audits(root)
    assert {name: audit.folder for name, audit in shelf.items()} == {
        "audits": root, "audits′": root / "audits",
    }  # fmt: skip
    assert all(name == audit.name for name, audit in shelf.items())


def test_a_folder_without_one_is_refused(tmp_path):
    with pytest.raises(InputError, match=r"has no audit: `AuditCard.save` writes one"):
        find_audits(tmp_path)
    with pytest.raises(InputError, match="is not a folder"):
        find_audits(tmp_path / "gone")


def truncate(folder):
    path = folder / "card.json"
    path.write_bytes(path.read_bytes()[:1000])


def change(**facts):
    def edit(folder):
        path = folder / "card.json"
        body = json.loads(path.read_text())
        body["facts"] |= facts
        path.write_text(json.dumps(body))

    return edit


@pytest.mark.parametrize(
    "damage",
    [
        truncate,
        lambda folder: (folder / "examples.parquet").unlink(),
        lambda folder: (folder / "tokens.parquet").write_bytes(b"PAR1"),
        lambda folder: (folder / "card.json").write_text("[]"),
        change(labels="negative"),
    ],
)
def test_a_damaged_one_says_so_and_the_others_stay(audits, tmp_path, damage):
    shutil.copytree(audits / "tanhmax", tmp_path / "whole")
    shutil.copytree(audits / "tanhmax", tmp_path / "broken")
    damage(tmp_path / "broken")
    shelf = find_audits(tmp_path)
    assert "damaged" in shelf["broken"].facts.problem or "audit again" in shelf["broken"].facts.problem
    assert shelf["whole"].facts.problem == ""
    with pytest.raises(InputError):
        shelf["broken"].texts("", "", "", 0)
    with pytest.raises(InputError):
        _ = shelf["broken"].page


@pytest.mark.parametrize("odd", ["many", None, [], -1.5])
def test_odd_facts_of_a_card_do_not_hide_the_others(audits, tmp_path, odd):
    shutil.copytree(audits / "tanhmax", tmp_path / "odd")
    change(examples=odd, date=odd, data=odd, run=odd)(tmp_path / "odd")
    facts = ShelvedAudit("odd", tmp_path / "odd").facts
    assert facts.texts == 872
    assert facts.problem == ""


def test_a_card_without_texts_has_none(audits, tmp_path):
    card = AuditCard.load(audits / "tanhmax")
    kept = {name: column for name, column in card.examples.items() if name == "text"}
    AuditCard(card.facts, card.findings, card.highlights, kept, card.tokens).save(tmp_path / "a")
    found = ShelvedAudit("a", tmp_path / "a").texts("", "", "", 0)
    assert found.found == 872
    assert {(one.label, one.predicted, one.agreement) for one in found.texts} == {("", "", None)}
    assert found.labels == []
