"""A ranking is a map over shards: the same numbers however it is divided, stopped, extended or shared."""

import numpy as np
import pytest

import glasshead
from counted_shards import count_shards
from glasshead.audits.measuring import measure
from glasshead.audits.ranking.rows import RANKING
from small import as_run, planted_texts, random_model

METHODS = ("attention", "gradient", "erasure", "random")
ASKED = {"removals": ("delete", "zero-weight")}
COST = ("seconds", "date", "versions")


@pytest.fixture(scope="module")
def some():
    texts, labels = planted_texts(24)
    rows = [
        {"text": text, "label": ("negative", "positive")[label], "marks": [[0, 6]]}
        for text, label in zip(texts, labels, strict=True)
    ]
    return as_run(random_model(activation="tanhmax", encoder="affine"), texts, labels), rows


@pytest.fixture(scope="module")
def whole(some):
    return glasshead.rank(*some, METHODS, **ASKED)


@pytest.fixture
def shards(monkeypatch):
    return count_shards(monkeypatch, RANKING)


def assert_same_rankings(one, other):
    """All numbers but those of cost."""
    assert one.conclusion == other.conclusion
    assert one.removals == other.removals
    assert one.examples.keys() == other.examples.keys()
    for name, column in one.examples.items():
        if name in ("index", "text"):
            assert column == other.examples[name]
            continue
        ours, theirs = (np.array(values, dtype=float) for values in (column, other.examples[name]))
        np.testing.assert_allclose(ours, theirs, rtol=0, atol=1e-6, err_msg=name)
    for ours, theirs in zip(one.methods, other.methods, strict=True):
        assert ours.standings == theirs.standings
        for finding, same in zip(ours.findings, theirs.findings, strict=True):
            assert finding.verdict == same.verdict
            assert finding.estimate == pytest.approx(same.estimate, abs=1e-6)
            assert finding.interval == pytest.approx(same.interval, abs=1e-5)
    taus = ([pair.finding.estimate for pair in each.agreement] for each in (one, other))
    assert next(taus) == pytest.approx(next(taus), abs=1e-6)
    assert [text.reason for text in one.texts] == [text.reason for text in other.texts]
    assert {name: one.facts[name] for name in one.facts if name not in COST} == {
        name: other.facts[name] for name in other.facts if name not in COST
    }


@pytest.mark.slow
def test_shards_change_nothing(some, whole, shards):
    assert_same_rankings(glasshead.rank(*some, METHODS, **ASKED), whole)
    assert len(shards.asked) == -(-len(some[1]) // 5)


@pytest.mark.slow
def test_a_ranking_that_was_interrupted_goes_on(some, whole, shards, tmp_path):
    shards.stop = 3
    with pytest.raises(KeyboardInterrupt):
        glasshead.rank(*some, METHODS, store=tmp_path, **ASKED)
    shards.stop = None
    assert_same_rankings(glasshead.rank(*some, METHODS, store=tmp_path, **ASKED), whole)
    asked = [number for shard in shards.asked for number in shard]
    assert len(asked) == len(set(asked)) == len(some[1])


@pytest.mark.slow
def test_more_texts_and_another_statistic_go_on_from_what_was_measured(some, whole, shards, tmp_path):
    glasshead.rank(*some, METHODS, store=tmp_path, limit=20, **ASKED)
    assert sum(map(len, shards.asked)) == 20
    longer = glasshead.rank(*some, METHODS, store=tmp_path, **ASKED)
    assert_same_rankings(longer, whole)
    assert sum(map(len, shards.asked)) == len(some[1])
    other = glasshead.rank(*some, METHODS, store=tmp_path, statistic="insertion", **ASKED)
    assert sum(map(len, shards.asked)) == len(some[1])
    assert other.statistic == "insertion"
    with pytest.raises(glasshead.errors.InputError, match="different: methods"):
        glasshead.rank(*some, METHODS[:2], store=tmp_path, **ASKED)


@pytest.mark.slow
def test_two_workers_measure_the_same(some, whole, monkeypatch):
    monkeypatch.setattr(measure, "SHARD", 12)
    assert_same_rankings(glasshead.rank(*some, METHODS, workers=2, **ASKED), whole)
