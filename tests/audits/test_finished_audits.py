"""An interrupted card goes on: what its audits have found is read back, and nothing is asked twice."""

import json
from dataclasses import asdict, replace

import numpy as np
import pytest

from glasshead.audits import audit_subject, run_audit
from glasshead.audits.finished import plain_values
from glasshead.errors import InputError
from glasshead.requests import AuditRequest, fingerprint_fields, options_of
from image_families import image_model, processor, rows
from readable import bert, data

LABELS = (1, 0, 0, 1, 1, 0)


def texts():
    kind = bert()
    return {"model": kind.model, "tokenizer": kind.tokenizer, "data": data(kind, LABELS)}


SUBJECTS = {
    "texts": texts,
    "images": lambda: {"model": image_model(), "data": rows(8), "tokenizer": processor()},
}


@pytest.fixture(params=SUBJECTS)
def ask(request):
    """Audit the same model with whatever options."""
    given = SUBJECTS[request.param]()

    def audit(**options):
        return run_audit(AuditRequest(**given, dtype="float32", draws=3, **options))

    return audit


class Counted:
    """Which audits were asked; the one with the number ``stop`` is interrupted."""

    def __init__(self, monkeypatch):
        self.asked, self.stop, ask = [], None, audit_subject.ask_with_rest

        def counted(audit, *more):
            self.asked.append(audit.question)
            if len(self.asked) == self.stop:
                raise KeyboardInterrupt
            return ask(audit, *more)

        monkeypatch.setattr(audit_subject, "ask_with_rest", counted)


def same(one, other):
    """Equal but for rounding, and where there is no number."""
    if isinstance(one, dict):
        return one.keys() == other.keys() and all(same(one[key], other[key]) for key in one)
    if isinstance(one, list | tuple):
        return len(one) == len(other) and all(map(same, one, other))
    if isinstance(one, float) and isinstance(other, float):
        return bool(np.isclose(one, other, atol=1e-5, equal_nan=True))
    return one == other


def test_a_resumed_card_is_the_card(ask, tmp_path, monkeypatch):
    counted = Counted(monkeypatch)
    whole = ask()
    every, counted.asked, counted.stop = counted.asked, [], 4
    with pytest.raises(KeyboardInterrupt):
        ask(store=tmp_path)
    counted.asked, counted.stop = [], None
    resumed = ask(store=tmp_path)
    assert counted.asked == every[3:]
    assert same([asdict(one) for one in whole.findings], [asdict(one) for one in resumed.findings])
    assert same(dict(whole.examples), dict(resumed.examples))
    assert same(dict(whole.tokens), dict(resumed.tokens))
    facts = (json.loads(card.to_json())["facts"] for card in (whole, resumed))
    first, second = ({key: value for key, value in one.items() if key != "seconds"} for one in facts)
    assert same(first, second)
    assert [one.reason for one in whole.highlights] == [one.reason for one in resumed.highlights]


def test_parts_of_another_audit_are_refused(tmp_path):
    given = texts() | {"audits": ("agreement",), "dtype": "float32", "draws": 3}
    run_audit(AuditRequest(**given, store=tmp_path))
    for other in (
        {"seed": 1}, {"draws": 4}, {"by": ("class",)}, {"method": "erasure-renormalise"}, {"limit": 5},
    ):  # fmt: skip
        with pytest.raises(InputError, match="part of another audit"):
            run_audit(AuditRequest(**given | other, store=tmp_path))


def test_what_was_asked_with_other_training_data_is_another_audit(tmp_path):
    given = texts() | {"audits": ("agreement",), "dtype": "float32", "draws": 3}
    trains = [None, data(bert(), (1, 0, 1, 0, 1, 0)), data(bert(), (0, 0, 0, 1, 1, 1))]
    for rank, begun in enumerate(trains):
        store = tmp_path / str(rank)
        run_audit(AuditRequest(**given, train=begun, store=store))
        for other in trains[:rank]:
            with pytest.raises(InputError, match="part of another audit"):
                run_audit(AuditRequest(**given, train=other, store=store))


def test_every_field_of_a_request_is_compared_but_for_those_with_a_reason():
    request = AuditRequest(**texts())
    compared = fingerprint_fields(request)
    assert set(options_of(AuditRequest)) - set(compared) == {
        "model", "tokenizer", "data", "device", "progress", "processes", "ray", "gpus_per_task", "store",
        "facts",
    }  # fmt: skip
    json.dumps(plain_values(compared))


def test_numbers_of_numpy_are_numbers():
    kept = plain_values({"limit": np.int64(5), "tolerance": np.float32(0.5), "by": ("length",), "seed": 0})
    assert kept == {"limit": 5, "tolerance": 0.5, "by": ["length"], "seed": 0}


def test_blocks_of_other_sizes_are_another_audit(tmp_path):
    request = AuditRequest(
        **SUBJECTS["images"](), audits=("faithfulness",), dtype="float32", draws=3, blocks=2
    )
    run_audit(replace(request, store=tmp_path))
    with pytest.raises(InputError, match="part of another audit"):
        run_audit(replace(request, blocks=3, store=tmp_path))


@pytest.mark.usefixtures("short_search")
def test_an_audit_that_is_named_answers_more_than_one_that_is_not(tmp_path):
    request = AuditRequest(**texts(), dtype="float32", draws=3)
    run_audit(replace(request, audits=("explanation",), store=tmp_path))
    with pytest.raises(InputError, match="part of another audit"):
        run_audit(replace(request, audits=("faithfulness",), store=tmp_path))


def test_a_damaged_part_is_named(tmp_path):
    request = AuditRequest(**texts(), audits=("agreement",), dtype="float32", draws=3, store=tmp_path)
    run_audit(request)
    path = tmp_path / "audits" / "agreement.audit.json"
    path.write_text(path.read_text()[:-20])
    with pytest.raises(InputError, match=r"agreement\.audit\.json is damaged"):
        run_audit(request)
