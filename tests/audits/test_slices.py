"""Findings by slice: a model that is to be trusted on some texts alone, and how texts are cut."""

from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
import torch
from datasets import Dataset
from hypothesis import given
from hypothesis import strategies as st

from classifier_families import FAMILIES, labelled_data
from glasshead.audits import audit, compare
from glasshead.audits.judging.slices import (
    MOST_BINS,
    describe_range,
    quantile_bins,
    slice_by_column,
    slice_by_length,
)
from glasshead.errors import InputError
from glasshead.results import AuditCard
from glasshead.training import train
from kinds import data, recipe
from small import WORDS, as_run, planted_model, random_model, split, tokenizer

TAU = "agreement.attention-absolute.gradient"


def two_faced_model():
    """Attention goes where the decision is in texts with good or bad; where music or plot stand it goes to
    them, though long and short decide."""
    model = planted_model("tanhmax")
    ids = dict(zip(WORDS, tokenizer().convert_tokens_to_ids(list(WORDS)), strict=True))
    score_and_value = {
        "good": (4, 1), "bad": (-3, 1),
        "long": (0.3, 8), "short": (-0.3, 8), "plot": (4, 0), "music": (-4, 0),
    }  # fmt: skip
    with torch.no_grad():
        model.pooling.value.bias.zero_()
        for word, (score, value) in score_and_value.items():
            model.pooling.score.context.weight[0, ids[word]] = score
            model.pooling.value.weight[0, ids[word]] = value
    return model


def two_faced_data(honest=130, dishonest=30, seed=0):
    """Texts on two topics, many more on one than on the other, with a column that says so, and one that is
    the same in another order."""
    rng = np.random.default_rng(seed)
    texts, labels, topics = [], [], ["honest"] * honest + ["dishonest"] * dishonest
    for topic in topics:
        label = int(rng.integers(2))
        fillers = ["the", "film", "was", "and"] if topic == "honest" else ["plot", "music"]
        words = list(rng.choice(fillers, size=rng.integers(4, 9)))
        decisive = ("bad", "good") if topic == "honest" else ("short", "long")
        words.insert(int(rng.integers(len(words) + 1)), decisive[label])
        texts.append(" ".join(words))
        labels.append(label)
    data = split(texts, labels).add_column("topic", topics)
    return data.add_column("shuffled", rng.permutation(topics).tolist())


def run_of(data):
    return as_run(two_faced_model(), data["text"][:], data["label"][:])


@pytest.fixture(scope="module")
def sliced():
    data = two_faced_data()
    by = ["topic", "shuffled", "correct"]
    return audit(run_of(data), data, audits=["agreement", "performance"], by=by)


def test_the_slice_that_is_not_to_be_trusted_is_found(sliced):
    honest, dishonest = (sliced.finding(f"{TAU}.topic: {name}") for name in ("honest", "dishonest"))
    assert honest.interval[0] > 0.6 > -0.6 > dishonest.interval[1]
    assert "strong agreement" in honest.verdict
    assert "in the reverse order" in dishonest.verdict
    assert (honest.n, dishonest.n) == (130, 30)
    assert honest.level == dishonest.level == pytest.approx(1 - 0.05 / 6)
    assert sliced.finding(f"{TAU}.all").level == 0.95
    assert sliced.facts["slices"]["topic"] == {"topic: honest": 130, "topic: dishonest": 30}


def test_whether_a_finding_differs_is_tested_and_a_shuffled_column_does_not(sliced):
    tests = {(test.by, test.finding): test for test in sliced.slice_tests}
    assert tests["topic", f"{TAU}.all"].corrected <= 0.05
    assert "differs" in tests["topic", f"{TAU}.all"].verdict
    assert not [test for (by, _), test in tests.items() if by == "shuffled" and test.corrected <= 0.05]
    assert all(test.corrected >= test.p for test in sliced.slice_tests if test.p is not None)


def test_a_slice_that_is_empty_or_so_by_construction_decides_nothing(sliced):
    assert sliced.facts["accuracy"] == 1.0
    wrong = sliced.finding(f"{TAU}.wrong")
    assert (wrong.status, wrong.n, wrong.interval) == ("undecided", 0, None)
    assert sliced.finding("performance.accuracy.correct").reason == "by construction"
    by_correct = [test for test in sliced.slice_tests if test.by == "correct"]
    assert by_correct
    assert all(test.status == "undecided" and test.p is None for test in by_correct)
    assert not [test for test in by_correct if test.statistic == "accuracy"]


def test_the_accuracy_of_a_slice_is_no_point(sliced):
    exact = (0.05 / 6 / 2) ** (1 / 30)  # of 30 texts, all right, in one of six slices
    assert sliced.finding("performance.accuracy.topic: dishonest").interval == pytest.approx((exact, 1))


def test_slices_are_kept(sliced, tmp_path):
    sliced.save(tmp_path / "card")
    loaded = AuditCard.load(tmp_path / "card")
    assert loaded.findings == sliced.findings
    assert loaded.slice_tests == sliced.slice_tests
    assert loaded.examples["slice.topic"].count("topic: dishonest") == 30


def test_slices_of_the_same_texts_are_compared_text_by_text(sliced):
    differences = {one.name: one for one in compare(sliced, replace(sliced)).differences}
    paired = differences[f"{TAU}.topic: dishonest"]
    assert (paired.estimate, paired.n) == (0.0, 30)
    assert paired.level == sliced.finding(f"{TAU}.topic: dishonest").level
    other = replace(sliced, examples={**sliced.examples, "slice.topic": sliced.examples["slice.shuffled"]})
    assert f"{TAU}.topic: dishonest" not in {one.name for one in compare(sliced, other).differences}


def test_one_slice_of_all_texts_is_the_whole():
    data = two_faced_data(40, 20)
    data = data.add_column("constant", ["x"] * len(data))
    card = audit(run_of(data), data, by="constant")
    slices = [finding for finding in card.findings if finding.by]
    assert {finding.audit for finding in slices} == {finding.audit for finding in card.findings}
    for finding in slices:
        whole = card.finding(finding.name.removesuffix(", constant: x").replace(".constant: x", ".all"))
        assert (finding.n, finding.undefined) == (whole.n, whole.undefined)
        assert finding.level == pytest.approx(0.95)
        for ours, theirs in ((finding.estimate, whole.estimate), *_pairs(finding.null, whole.null)):
            assert ours == (theirs if theirs is None else pytest.approx(theirs)), finding.name
        if finding.interval is not None:
            width = whole.interval[1] - whole.interval[0]
            assert finding.interval == pytest.approx(whole.interval, abs=0.15 * width + 1e-9), finding.name


def _pairs(null, other):
    assert set(null) == set(other)
    return [(null[name], other[name]) for name in null]


def test_classes_are_not_computed_twice_and_their_intervals_are_corrected():
    data = two_faced_data(60, 30)
    plain, by_class = (audit(run_of(data), data, audits=["agreement"], by=by, seed=1) for by in ((), "class"))
    names = [finding.name for finding in by_class.findings]
    assert names == [finding.name for finding in plain.findings]
    one, corrected = (card.finding(f"{TAU}.class positive") for card in (plain, by_class))
    assert (one.by, corrected.by) == ("", "class")
    assert corrected.level == pytest.approx(0.975)
    assert {test.by for test in by_class.slice_tests} == {"class"}


@given(st.lists(st.integers(0, 30), min_size=1, max_size=60))
def test_bins_are_few_and_keep_equal_values_together(values):
    values = np.array(values, dtype=float)
    bins, edges = quantile_bins(values)
    assert 1 <= len(edges) <= min(MOST_BINS, len(np.unique(values)))
    assert set(bins.tolist()) == set(range(len(edges)))
    for number, (low, high) in enumerate(edges):
        inside = values[bins == number]
        assert (inside.min(), inside.max()) == (low, high)
    assert all(one[1] < other[0] for one, other in pairwise(edges))


def test_names_of_slices():
    lengths = slice_by_length(np.array([1, 2, 3, 4, 5, 6, 7, 8]))
    assert lengths.names == ("length 1-2", "length 3-4", "length 5-6", "length 7-8")
    assert slice_by_length(np.array([5, 5, 5])).sizes == {"length 5": 3}
    assert describe_range("-3", "5") == "-3 to 5"
    stars = slice_by_column("stars", ["3", "1", None, "3"])
    assert stars.sizes == {"stars: 1": 1, "stars: 3": 2, "stars: (missing)": 1}
    many = slice_by_column("price", [*map(str, range(20)), None])
    assert many.names == ("price: 0-4", "price: 5-9", "price: 10-14", "price: 15-19", "price: (missing)")
    taken = slice_by_column("note", ["(missing)", None, "(missing)", "((missing))"])
    assert taken.sizes == {"note: (missing)": 2, "note: ((missing))": 1, "note: (((missing)))": 1}
    rest = slice_by_column("note", ["(other)"] * 3 + [*"aabbccddeeffgghhij"])
    assert (rest.sizes["note: (other)"], rest.sizes["note: ((other))"]) == (3, 4)
    words = slice_by_column("word", [*"aabbccddeeffgghhij"])
    assert words.names[-1] == "word: (other)"
    assert (len(words.names), words.sizes["word: (other)"]) == (9, 2)
    assert "10 values" in words.note
    with pytest.raises(InputError, match="every text has a different value"):
        slice_by_column("id", [f"text {number}" for number in range(30)])


@pytest.mark.parametrize("kind", ["csv", "jsonl", "parquet", "memory"])
def test_a_column_comes_through_whatever_holds_it(kind, tmp_path):
    data = two_faced_data(40, 30)
    data = data.add_column("old", [None if row % 3 == 0 else row % 3 == 1 for row in range(len(data))])
    names = data.features["label"].names
    rows = [row | {"label": names[row["label"]], "old": row["old"]} for row in data]
    source = data
    if kind != "memory":
        source = tmp_path / f"data.{kind}"
        table = Dataset.from_list(rows)
        {"csv": table.to_csv, "jsonl": table.to_json, "parquet": table.to_parquet}[kind](str(source))
    card = audit(run_of(data), source, audits=["performance"], by=["old", "topic"], split="all")
    assert card.facts["slices"]["old"] == {"old: false": 23, "old: true": 23, "old: (missing)": 24}
    assert card.facts["slices"]["topic"] == {"topic: honest": 40, "topic: dishonest": 30}
    with pytest.raises(InputError, match=r"no column 'tpic'.*text, label, topic"):
        audit(run_of(data), source, by="tpic")


@pytest.mark.parametrize(("by", "words"), [("label", "use that"), ("text", "class, length, correct")])
def test_columns_that_make_no_slices(by, words):
    data = two_faced_data(20, 10)
    with pytest.raises(InputError, match=words):
        audit(run_of(data), data, by=by)


def confident_texts(sure=60, unsure=60, seed=0):
    """Texts with two key words of one class, whose prediction is sure, and with one of each."""
    rng = np.random.default_rng(seed)
    texts, labels = [], []
    for number in range(sure + unsure):
        label = number % 2
        key = "good" if label else "bad"
        keys = [key, key] if number < sure else ["good", "bad"]
        words = [*rng.choice(WORDS[2:], size=6), *keys]
        rng.shuffle(words)
        texts.append(" ".join(words))
        labels.append(label)
    return texts, labels


def test_what_differs_with_confidence_is_found_and_slices_are_named_apart():
    texts, labels = confident_texts()
    card = audit(
        as_run(planted_model("softmax"), texts, labels),
        split(texts, labels),
        audits=["perturbation"],
        by="confidence",
    )
    names = list(card.facts["slices"]["confidence"])
    assert len(set(names)) == len(names) > 1
    assert all(name.startswith("confidence ") for name in names)
    (test,) = [one for one in card.slice_tests if one.finding == "perturbation.permutation.absolute.all"]
    assert test.differs
    probability = np.array(card.examples["probability"])
    confidence = np.maximum(probability, 1 - probability)
    places = np.array(card.examples["slice.confidence"])
    means = [confidence[places == name].mean() for name in names]
    assert means == sorted(means)


@pytest.mark.slow
def test_a_score_without_a_meaning_differs_with_confidence_as_rarely_as_it_may():
    texts, labels = confident_texts(40, 40)
    run, rows = as_run(planted_model("softmax"), texts, labels), split(texts, labels)
    found = [
        test.p
        for seed in range(10)
        for test in audit(
            run, rows, audits=["agreement"], method="random", by="confidence", seed=seed
        ).slice_tests
        if test.p is not None
    ]
    assert len(found) >= 10
    assert np.mean(np.array(found) <= 0.05) <= 0.3


def test_texts_with_unique_weights_are_a_slice_of_their_own():
    """Values of size 4: the weights of up to five tokens, that sum to one, are the only ones."""
    model = random_model(activation="softmax", score="query-key", value_dim=4)
    rng = np.random.default_rng(0)
    texts = [" ".join(rng.choice(WORDS, size=rng.integers(2, 12), replace=True)) for _ in range(80)]
    labels = [row % 2 for row in range(80)]
    run, rows = as_run(model, texts, labels), split(texts, labels)
    card = audit(run, rows, audits=["agreement"], by="identifiability")
    places = np.array(card.examples["slice.identifiability"])
    names = list(card.facts["slices"]["identifiability"])
    assert names[0] == "unique weights"
    assert all(name.startswith("intervals ") for name in names[1:])
    kinds = [len(set(text.split())) for text in texts]
    assert all(place != "unique weights" for place, kind in zip(places, kinds, strict=True) if kind > 5)
    exact = audit(run, rows, audits=["identifiability"], limit=50)
    by_index = dict(zip(card.examples["index"], places, strict=True))
    for index, alone in zip(exact.examples["index"], exact.examples["maps.identifiable"], strict=True):
        assert (by_index[index] == "unique weights") == (alone == 1)
    assert any("about the same length" in note for note in card.facts["notes"])


def test_slices_that_a_model_cannot_have_are_refused(tmp_path):
    family = FAMILIES["DebertaV2"]
    model = family.build(labels=2, id2label={0: "bad", 1: "good"})
    with pytest.raises(InputError, match=r"identifiability: .*are unknown"):
        audit(model, labelled_data(6), tokenizer=family.tokenizer(), by="identifiability")
    run = train(data("ratings"), recipe("ratings").with_changes(epochs=1), tmp_path / "run")
    with pytest.raises(InputError, match="confidence: ratings have no probability"):
        audit(run, data("ratings"), by="confidence")


@pytest.mark.usefixtures("short_search")
@pytest.mark.slow
def test_adversaries_are_sliced_and_compared_text_by_text():
    texts, labels = confident_texts(12, 12)
    run, rows = as_run(planted_model("softmax"), texts, labels), split(texts, labels)
    card = audit(run, rows, audits=["adversarial"], by="confidence")
    found = {test.finding: test for test in card.slice_tests}
    assert {"adversarial.jsd.free.all", "adversarial.found.free.all"} <= set(found)
    values = [value for value in card.examples["adversarial.found.free"] if value is not None]
    assert np.mean(values) == pytest.approx(card.finding("adversarial.found.free.all").estimate)
    twice = compare(card, audit(run, rows, audits=["adversarial"]))
    (same,) = [one for one in twice.differences if one.name == "adversarial.found.free.all"]
    assert (same.estimate, same.n) == (0.0, card.finding("adversarial.found.free.all").n)
