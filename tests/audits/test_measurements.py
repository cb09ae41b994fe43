"""An interrupted audit goes on: rows that were measured are read back, and no input is asked twice."""

import copy
import json
from collections import Counter
from dataclasses import asdict, replace
from importlib import metadata

import numpy as np
import pyarrow.parquet as pq
import pytest
from datasets import Dataset, concatenate_datasets
from tokenizers.normalizers import StripAccents

from classifier_families import FAMILIES
from glasshead.audits import AUDITS, audit_subject, run_audit
from glasshead.audits.judging.base import Measured
from glasshead.audits.judging.measurements import FOLDER, Measurements
from glasshead.audits.judging.table import Column
from glasshead.audits.measuring import measure, reference
from glasshead.audits.measuring.data_view import read_sample
from glasshead.audits.measuring.measured_with import measured_with, plain_values
from glasshead.errors import InputError
from glasshead.opening import open_subject
from glasshead.requests import AuditRequest, options_of
from image_families import image_model, processor, rows
from readable import bert, data, family
from same_cards import assert_same_cards, same
from slow_cases import slow_but

LABELS = (1, 0, 0, 1, 1, 0)
ASKED = ("performance", "agreement", "perturbation", "faithfulness", "identifiability")
QUICK = {"dtype": "float32", "draws": 2}
COLUMNS = (Column("y", "float", "", "a number"),)


def subject_of(kind, labels=LABELS, copies=1):
    """A model with its data, every text of which occurs so many times."""
    split = concatenate_datasets([data(kind, labels)] * copies)
    return {"model": kind.model, "tokenizer": kind.tokenizer, "data": split}


def texts():
    return subject_of(bert())


SUBJECTS = {
    "texts": texts,
    "images": lambda: {"model": image_model(), "data": rows(6), "tokenizer": processor()},
    "ratings": lambda: subject_of(family("encoder", rating=True), (1.0, 4.0, 2.0, 5.0, 3.0, 1.0)),
}


@pytest.fixture(params=slow_but("ratings", of=SUBJECTS))
def ask(request):
    """Audit the same model with whatever options."""
    given = SUBJECTS[request.param]() | {"audits": ASKED, **QUICK}
    return lambda **options: run_audit(AuditRequest(**given | options))


class Counted:
    """How often each question was asked of each input; what is asked by call ``stop`` is interrupted."""

    def __init__(self, monkeypatch):
        self.asked, self.calls, self.stop, ask = Counter(), 0, None, measure.Wanted.measure

        def counted(question, view):
            self.calls += 1
            if self.calls == self.stop:
                raise KeyboardInterrupt
            self.asked.update((question.key, number) for number in view.inputs["id"].tolist())
            return ask(question, view)

        monkeypatch.setattr(measure.Wanted, "measure", counted)

    def take(self):
        """What was asked since the last time."""
        asked, self.asked, self.calls, self.stop = self.asked, Counter(), 0, None
        return asked


@pytest.fixture
def counted(monkeypatch):
    return Counted(monkeypatch)


STOPS = {"texts": (2, 15), "images": (15,), "ratings": (2,)}
"""The calls at which measuring is interrupted: early, or late."""


@pytest.mark.slow
def test_a_resumed_card_is_the_card(ask, request, tmp_path, counted, monkeypatch):
    """Wherever it was interrupted, and nothing is measured twice."""
    monkeypatch.setattr(measure, "SHARD", 2)
    whole = ask()
    every = counted.take()
    assert set(every.values()) == {1}
    for stop in STOPS[request.node.callspec.params["ask"]]:
        counted.stop, store = stop, tmp_path / str(stop)
        with pytest.raises(KeyboardInterrupt):
            ask(store=store)
        begun = counted.take()
        assert 0 < len(begun) < len(every)
        resumed = ask(store=store)
        assert begun + counted.take() == every
        assert_same_cards(whole, resumed)


def tanhmax():
    """A pooled model whose weights have no fixed sum, and rows of one text each."""
    return subject_of(family("pooled", activation="tanhmax"), copies=4)


def language_model():
    """Some of whose texts have no second word to ask for, and are left out."""
    family = FAMILIES["GPT2"]
    words = ("bad", "a warm funny film is not very good", "dull and bad and not funny", "the plot is dull")
    data = Dataset.from_dict({"text": list(words) * 6})
    return {"model": family.language_model(), "tokenizer": family.tokenizer(), "data": data}


GROWING = {
    "a sum of weights that is learned": tanhmax,
    "ratings": lambda: subject_of(family("encoder", rating=True), (1.0, 4.0, 2.0, 5.0, 3.0, 1.0), copies=4),
    "passes": lambda: subject_of(bert(), copies=4),
    "texts that are left out": language_model,
}


@pytest.mark.slow
@pytest.mark.parametrize("subject", slow_but("ratings", of=GROWING))
def test_more_inputs_measure_the_new_ones_alone(subject, tmp_path, counted, monkeypatch):
    """What is measured on the first inputs for all stays what it was: a card of all says the same where it
    is measured on so many. In float64: in float32 a tie may depend on who else is in a batch."""
    request = AuditRequest(**GROWING[subject](), audits=ASKED, draws=2)
    short = run_audit(replace(request, limit=12, store=tmp_path))
    first = counted.take()
    long = run_audit(replace(request, limit=20, store=tmp_path))
    then = counted.take()
    inputs = [{number for key, number in asked if key == "inputs"} for asked in (first, then)]
    assert len(inputs[0]) == short.facts["examples"]
    assert len(inputs[1]) == long.facts["examples"] - short.facts["examples"] > 0
    if subject != "texts that are left out":
        assert [len(numbers) for numbers in inputs] == [12, 8]
    assert set((first + then).values()) == {1}
    said = []
    again = run_audit(replace(request, limit=12, store=tmp_path, progress=said.append))
    assert not counted.take()
    assert_same_cards(short, again)
    own, more = short.facts["examples"], len(inputs[1])
    words = f"This run covers {own} texts; the folder also keeps measurements of {more} other texts"
    assert [line for line in said if words in line]
    for module in (audit_subject, reference):
        monkeypatch.setattr(module, "REFERENCE_INPUTS", 12)
    whole = run_audit(replace(request, limit=20))
    for one, two in zip(whole.findings, long.findings, strict=True):
        pair = asdict(one), asdict(two)
        for each in pair if one.n == 2 else ():  # whose two numbers are one but for rounding, or are not
            each["interval"] = each["over_null"] = each["limit"] = None
        assert same(*pair), one.name
    assert [name for name in whole.examples if not same(whole.examples[name], long.examples[name])] == []


def test_an_audit_that_is_named_after_all_measures_nothing(ask, tmp_path, counted):
    card = ask(store=tmp_path)
    counted.take()
    for name in ASKED:
        named = ask(audits=(name, "performance"), store=tmp_path)
        findings = [[one for one in own.findings if one.audit == name] for own in (card, named)]
        assert findings[0]
        assert same(*([asdict(one) for one in own] for own in findings))
    assert not counted.take()


def test_facts_of_shards_are_what_holds_of_all_that_were_asked():
    kept = Measurements()
    parts = (
        {"rows": "the first", "exact": ["a", "b"]},
        {"rows": "the last", "exact": ["b"]},
        {"rows": "none", "exact": []},
    )
    for number, part in enumerate(parts):
        kept.add("x", np.array([number]), Measured({"y": np.array([1.0])}, {"x": part, "seed": 1}), COLUMNS)
    assert kept.read("x", np.array([0, 1]), COLUMNS).facts == {
        "x": {"rows": "the first; the last", "exact": ["b"]},
        "seed": 1,
    }
    assert kept.read("x", np.array([0]), COLUMNS).facts == {"x": parts[0], "seed": 1}
    kept.add("x", np.array([3]), Measured({"y": np.array([1.0])}, {"x": {"rows": "the last"}}), COLUMNS)
    assert kept.read("x", np.array([1, 3]), COLUMNS).facts["x"] == {"rows": "the last", "exact": []}


@pytest.mark.slow
@pytest.mark.parametrize("name", slow_but("operators", of=["faithfulness", "operators", "identifiability"]))
def test_an_audit_that_is_named_says_the_same_where_all_were_measured_before(name, tmp_path, monkeypatch):
    """What it answers does not depend on what else its folder holds."""
    monkeypatch.setattr(type(AUDITS["adversarial"]), "by_default", False)  # a long search
    request = AuditRequest(**texts(), **QUICK)
    run_audit(replace(request, store=tmp_path))
    named = replace(request, audits=(name, "performance"), limit=6)
    assert_same_cards(run_audit(named), run_audit(replace(named, store=tmp_path)))


@pytest.mark.slow
def test_other_slices_of_the_same_rows(tmp_path, counted):
    """To slice otherwise measures nothing again; by how certain the weights are, that alone."""
    given = subject_of(bert(), copies=2)
    given["data"] = given["data"].add_column("source", ["a", "b", "b", None] * 3)
    request = AuditRequest(**given, audits=ASKED[:2], **QUICK)
    run_audit(replace(request, limit=8, by=("source",), store=tmp_path))
    counted.take()
    for by in ((), ("class", "length", "source", "correct"), ("identifiability", "confidence")):
        sliced = run_audit(replace(request, limit=8, by=by, store=tmp_path))
        assert {key for key, _ in counted.take()} == ({"certainty"} if "identifiability" in by else set())
        assert_same_cards(run_audit(replace(request, limit=8, by=by)), sliced)
        counted.take()
    longer = replace(request, by=("source", "identifiability"))  # of 12 inputs 8 with the one or the other
    assert_same_cards(run_audit(longer), run_audit(replace(longer, store=tmp_path)))


@pytest.mark.slow
def test_inputs_that_were_changed_are_others(tmp_path, counted):
    """Another text, another label, another place: their rows are measured, and no other."""
    given = texts()
    request = AuditRequest(**given, audits=ASKED[:2], **QUICK, store=tmp_path)
    run_audit(request)
    counted.take()
    rows = list(given["data"])
    changed = [*rows[:3], rows[3] | {"text": "the end"}, rows[4] | {"label": 0}, rows[5]]
    data = Dataset.from_list(changed, features=given["data"].features)
    card = run_audit(replace(request, data=data))
    assert set(Counter(number for _, number in counted.take()).values()) == {3}
    assert_same_cards(run_audit(replace(request, data=data, store=None)), card)
    counted.take()
    run_audit(replace(request, data=data.select([5, 0, 1, 2, 3, 4])))
    assert {key for key, _ in counted.take()} == {"inputs", "performance", "agreement"}


@pytest.mark.slow
def test_measurements_of_another_request_are_refused(tmp_path):
    request = AuditRequest(**texts(), audits=("agreement",), **QUICK)
    run_audit(replace(request, store=tmp_path))
    other_words = copy.deepcopy(request.tokenizer)
    other_words.backend_tokenizer.normalizer = StripAccents()
    for other, what in (
        ({"seed": 1}, "seed"), ({"draws": 4}, "draws"), ({"method": "erasure-renormalise"}, "method"),
        ({"level": "sentence"}, "level"), ({"dtype": "float64"}, "dtype"), ({"layer": 0}, "layer"),
        ({"model": bert(seed=1).model}, "weights"), ({"tokenizer": other_words}, "tokenizer"),
    ):  # fmt: skip
        with pytest.raises(InputError, match=rf"of another request \(different: {what}\)") as refused:
            run_audit(replace(request, **other, store=tmp_path))
        assert len(str(refused.value)) <= 300 + len(str(tmp_path))


def test_measurements_of_other_versions_are_refused(tmp_path, monkeypatch):
    request = AuditRequest(**texts(), audits=("agreement",), **QUICK, store=tmp_path)
    run_audit(request)
    real = metadata.version
    monkeypatch.setattr(metadata, "version", lambda name: "0.1" if name == "torch" else real(name))
    with pytest.raises(InputError, match=r"of another request \(different: torch\)"):
        run_audit(request)


@pytest.mark.slow
def test_what_was_measured_with_other_training_data_is_another_audit(tmp_path):
    request = AuditRequest(**texts(), audits=("agreement",), **QUICK)
    trains = [None, data(bert(), (1, 0, 1, 0, 1, 0)), data(bert(), (0, 0, 0, 1, 1, 1))]
    for rank, begun in enumerate(trains):
        store = tmp_path / str(rank)
        run_audit(replace(request, train=begun, store=store))
        for other in trains[:rank]:
            with pytest.raises(InputError, match="the measurements of another request"):
                run_audit(replace(request, train=other, store=store))


def test_every_field_of_a_request_is_compared_but_for_those_with_a_reason():
    request = AuditRequest(**texts())
    asked = measured_with(sample_of(request), request)["asked"]
    assert set(options_of(AuditRequest)) - set(asked) == {
        "model", "tokenizer", "data", "device", "progress", "processes", "ray", "gpus_per_task", "store",
        "facts", "audits", "limit", "by", "budget", "until_decided", "workers",
    }  # fmt: skip
    json.dumps(asked)


def sample_of(request):
    """What an audit reads of a request."""
    subject = open_subject(request.model, request.tokenizer)
    return read_sample(subject, request.data)


def test_numbers_of_numpy_are_numbers():
    kept = plain_values({"limit": np.int64(5), "tolerance": np.float32(0.5), "by": ("length",), "seed": 0})
    assert kept == {"limit": 5, "tolerance": 0.5, "by": ["length"], "seed": 0}


def test_blocks_of_other_sizes_are_another_audit(tmp_path):
    request = AuditRequest(**SUBJECTS["images"](), audits=("faithfulness",), **QUICK, blocks=2)
    run_audit(replace(request, store=tmp_path))
    with pytest.raises(InputError, match=r"the measurements of another request \(different: blocks\)"):
        run_audit(replace(request, blocks=3, store=tmp_path))


@pytest.mark.slow
def test_a_damaged_part_is_named(tmp_path):
    request = AuditRequest(**texts(), audits=("agreement",), **QUICK, store=tmp_path)
    run_audit(request)
    path = min((tmp_path / FOLDER / "agreement").glob("*.parquet"))
    whole, rows = path.read_bytes(), rows_of(path.parent)
    for damaged in (whole[:-20], whole[20:], b"", whole[: len(whole) // 2] + whole[len(whole) // 2 + 9 :]):
        path.write_bytes(damaged)
        with pytest.raises(InputError, match=rf"{path.name} is damaged: delete it"):
            run_audit(request)
    path.unlink()
    run_audit(request)
    assert rows_of(path.parent) == rows


def rows_of(folder):
    """The ids of all rows of an audit, in whichever shards they are."""
    return sorted(
        number for path in folder.glob("*.parquet") for number in pq.read_table(path)["id"].to_pylist()
    )


def test_a_part_that_was_not_renamed_is_none(tmp_path, counted):
    """A kill while a shard is written leaves a file aside, which nobody reads."""
    request = AuditRequest(**texts(), audits=("agreement",), **QUICK, store=tmp_path)
    run_audit(request)
    counted.take()
    path = min((tmp_path / FOLDER / "agreement").glob("*.parquet"))
    rows = rows_of(path.parent)
    path.with_name(f".{path.stem}.aside").write_bytes(path.read_bytes()[:50])
    path.unlink()
    run_audit(request)
    assert {key for key, _ in counted.take()} == {"agreement"}
    assert rows_of(path.parent) == rows
    assert not list(path.parent.glob("*.aside"))
