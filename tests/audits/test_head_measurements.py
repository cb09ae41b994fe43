"""What heads do is a map over shards: the same numbers however it is divided, stopped, extended or shared."""

import json
from concurrent.futures import Future

import numpy as np
import pytest

import glasshead
from classifier_families import FAMILIES, labelled_data
from counted_shards import count_shards
from glasshead.audits.head_report.rows import PAIRS, REMOVAL, STATISTICS, HeadRows, PairRows, RemovalRows
from glasshead.audits.head_report.text_statistics import OF_RANDOM
from glasshead.audits.judging.measurements import FOLDER, ID, Measurements
from glasshead.audits.measuring import measure
from planted_heads import as_data, planted_model, planted_texts, to_conllu, tokenizer_of

TEXTS = 12
WORDS = ["a", "b", "c", "good", "bad"]
COST = ("seconds", "date", "versions")


@pytest.fixture(scope="module")
def some():
    """A decoder that reads an encoder, before texts of several lengths, one of them of one word and one
    empty."""
    family = FAMILIES["Bart"]
    texts = labelled_data(TEXTS).to_list()
    texts[3]["text"], texts[11]["text"] = "good", ""
    return family.build(labels=2, encoder_layers=1, decoder_layers=1), texts, family.tokenizer()


def look(some, **asked):
    model, rows, tokenizer = some
    return glasshead.heads(model, rows, tokenizer=tokenizer, **asked)


@pytest.fixture(scope="module")
def whole(some, tmp_path_factory):
    """A report, and the folder of its rows."""
    folder = tmp_path_factory.mktemp("whole")
    return look(some, store=folder), folder


@pytest.fixture
def shards(monkeypatch):
    return count_shards(monkeypatch, STATISTICS)


def assert_same(one, other, path=""):
    """Values of reports, numbers but for rounding."""
    if isinstance(one, dict):
        assert one.keys() == other.keys(), path
        for name in one:
            assert_same(one[name], other[name], f"{path}.{name}")
    elif isinstance(one, list):
        assert len(one) == len(other), path
        for place, (own, same) in enumerate(zip(one, other, strict=True)):
            assert_same(own, same, f"{path}[{place}]")
    elif isinstance(one, float):
        assert one == pytest.approx(other, abs=2e-5, nan_ok=True), path
    else:
        assert one == other, path


def assert_same_reports(one, other):
    ours, theirs = (json.loads(report.to_json()) for report in (one, other))
    for document in (ours, theirs):
        for name in COST:
            del document["facts"][name]
    assert_same(ours, theirs)


def rows_of(folder, ids):
    """The rows of some inputs."""
    kept = Measurements(folder / FOLDER)
    measures = ((STATISTICS, HeadRows), (PAIRS, PairRows), (REMOVAL, RemovalRows))
    return {key: kept.read(key, ids, rows.columns).columns for key, rows in measures}


@pytest.mark.slow
def test_a_row_is_the_same_alone(some, whole, tmp_path, monkeypatch):
    monkeypatch.setattr(measure, "SHARD", 1)
    report = look(some, store=tmp_path)
    assert_same_reports(report, whole[0])
    kept = Measurements(tmp_path / FOLDER)
    shards = [table[ID] for table, _ in kept.shards(STATISTICS, [ID])]
    assert len(shards) == TEXTS
    ids = np.concatenate(shards)
    alone, together = rows_of(tmp_path, ids), rows_of(whole[1], ids)
    for key, table in alone.items():
        assert len(table) > 1
        for name, values in together[key].items():
            for own, same in zip(table[name] if name in table else [[]] * TEXTS, values, strict=True):
                if not np.size(own):  # none of its own tokens is of this kind
                    absent = np.isnan(same) if name.startswith(OF_RANDOM) else np.equal(same, 0)
                    assert absent.all(), name
                else:
                    np.testing.assert_allclose(own, same, rtol=0, atol=1e-6, err_msg=name)


@pytest.mark.slow
def test_what_was_interrupted_goes_on(some, whole, shards, tmp_path):
    shards.stop = 2
    with pytest.raises(KeyboardInterrupt):
        look(some, store=tmp_path)
    shards.stop = None
    assert_same_reports(look(some, store=tmp_path), whole[0])
    asked = [number for shard in shards.asked for number in shard]
    assert len(asked) == len(set(asked)) == TEXTS


@pytest.mark.slow
def test_more_texts_and_effects_go_on_from_what_was_measured(some, whole, shards, tmp_path):
    first = look(some, store=tmp_path, limit=9, effects=False)
    assert first.facts["examples"] == sum(map(len, shards.asked)) == 9
    assert first.heads[0].finding("removal") is None
    assert_same_reports(look(some, store=tmp_path), whole[0])
    assert sum(map(len, shards.asked)) == TEXTS
    fewer = look(some, store=tmp_path, limit=9, effects=False)
    assert sum(map(len, shards.asked)) == TEXTS
    assert_same_reports(fewer, first)
    with pytest.raises(glasshead.errors.InputError, match="different: seed"):
        look(some, store=tmp_path, seed=1)


@pytest.mark.slow
def test_two_workers_measure_the_same(some, whole, monkeypatch):
    monkeypatch.setattr(measure, "SHARD", 6)
    assert_same_reports(look(some, workers=2), whole[0])


@pytest.mark.slow
def test_trees_are_read_by_rows_too(shards, tmp_path):
    """More sentences than texts: relations are asked about all."""
    rng = np.random.default_rng(0)
    sentences = [
        [(str(form), (place + 2) % 6, "root" if place == 4 else "amod") for place, form in enumerate(forms)]
        for forms in rng.choice(["a", "b", "c"], (60, 5))
    ]
    path = tmp_path / "trees.conllu"
    path.write_text(to_conllu(sentences), encoding="utf-8")
    model, _ = planted_model(WORDS)
    asked = {"tokenizer": tokenizer_of(WORDS), "dtype": "float32", "effects": False}
    report = glasshead.heads(model, path, **asked)
    assert report.facts["sentences"] == 60
    assert report.facts["examples"] == sum(map(len, shards.asked)) == 50
    assert {one.relation for one in report.relations} == {"all", "amod"}
    measure.SHARD = 60
    assert_same_reports(glasshead.heads(model, path, **asked), report)


class ThisProcess:
    """A worker that is no process of its own: what it measures goes through the same files."""

    def submit(self, function, *args):
        done = Future()
        done.set_result(function(*args))
        return done

    def shutdown(self, **options):
        pass


@pytest.mark.slow
def test_an_encoder_without_a_classifier_goes_on_too(tmp_path, monkeypatch):
    monkeypatch.setattr("joblib.externals.loky.ProcessPoolExecutor", lambda **options: ThisProcess())
    model, tokenizer = planted_model(WORDS)
    data = as_data(planted_texts(WORDS, 6))
    asked = {"tokenizer": tokenizer, "dtype": "float32"}
    glasshead.heads(model.bert, data, store=tmp_path, limit=3, **asked)
    longer = glasshead.heads(model.bert, data, store=tmp_path, **asked)
    assert_same_reports(longer, glasshead.heads(model.bert, data, workers=2, **asked))
