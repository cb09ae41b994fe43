"""Agreement with human marks: all of it for a model that rests on them, its share for a random order."""

import dataclasses

import numpy as np
import pytest
from sklearn.metrics import auc, precision_recall_curve

from classifier_data import named_bert
from classifier_families import labelled_texts
from glasshead.audits import audit, build_view, compare
from glasshead.audits.judging.table import lists
from glasshead.audits.plausibility import Plausibility, plausibility_verdict, shuffle
from glasshead.data import encode
from glasshead.errors import InputError
from glasshead.explainers import explain_texts
from glasshead.nouns import TEXTS
from glasshead.opening import open_subject
from glasshead.requests import MethodRequest
from glasshead.results import TOO_FEW_EXAMPLES
from small import as_run, planted_model, planted_texts, random_model, tokenizer

STATISTICS = ("auprc", "token-f1", "iou", "pointing")
NAMES = ("negative", "positive", "mixed", "other")


def spans_of(text, *words):
    """Where these words stand."""
    places, start = [], 0
    for word in text.split(" "):
        if word in words:
            places.append([start, start + len(word)])
        start += len(word) + 1
    return places


def marked(texts, labels, marks):
    return [
        {"text": text, "label": NAMES[label], "marks": spans}
        for text, label, spans in zip(texts, labels, marks, strict=True)
    ]


def planted(activation, counts=None):
    """A run that rests on one word, and its data with that word marked."""
    texts, labels = planted_texts(60, counts=counts)
    run = as_run(planted_model(activation), texts, labels)
    return run, marked(texts, labels, [spans_of(text, "good", "bad") for text in texts])


@pytest.mark.parametrize("counts", [None, (25, 75)])
@pytest.mark.parametrize("activation", ["softmax", "tanhmax"])
def test_a_model_that_rests_on_the_marked_word(activation, counts):
    """In TanhMax a negative weight speaks for the negative class: towards its own class it is positive."""
    run, rows = planted(activation, counts)
    card = audit(run, rows, audits=["plausibility"])
    assert card.facts["top_tokens"] == 1
    for statistic in STATISTICS:
        for group in ("all", "class negative", "class positive"):
            finding = card.finding(f"plausibility.{statistic}.{group}")
            assert finding.estimate == pytest.approx(1)
            assert finding.over_null["random"].interval[0] > 0.5
            assert finding.verdict == "closer to the marks of people than a random order"
    assert card.finding("plausibility.iou.all").n == len(rows)


def test_the_wrong_word_is_further_from_the_marks_than_chance():
    run, rows = planted("softmax")
    rows = [row | {"marks": spans_of(row["text"], "the", "film", "was")} for row in rows]
    card = audit(run, rows, audits=["plausibility"])
    finding = card.finding("plausibility.iou.all")
    assert finding.undefined == {"no marked token": sum(not row["marks"] for row in rows)}
    assert finding.n + finding.undefined["no marked token"] == len(rows)
    assert finding.interval[1] < finding.null["random"]
    assert finding.verdict == "further from the marks of people than a random order"


def test_the_null_is_what_a_random_order_has_on_average():
    """Of n tokens with m marks, k in random order share km / n with the marks on average: F1 is 2 / (k + m)
    of that."""
    run, rows = planted("softmax", counts=(60, 60))
    card = audit(run, rows, audits=["plausibility"])
    lengths = np.array(card.examples["tokens"])
    null = np.array(card.examples["plausibility.token-f1.null.random"])
    error = np.sqrt((1 / lengths * (1 - 1 / lengths)).sum() / 20) / len(lengths)
    assert null.mean() == pytest.approx((1 / lengths).mean(), abs=4 * error)
    np.testing.assert_allclose(
        null, card.examples["plausibility.iou.null.random"]
    )  # with one each they are one


def test_a_random_method_is_no_better_than_a_random_order():
    run, rows = planted("softmax", counts=(100, 200))
    card = audit(run, rows, audits=["plausibility"], method="random")
    for statistic in STATISTICS:
        finding = card.finding(f"plausibility.{statistic}.all")
        assert finding.interval[0] < finding.null["random"] < finding.interval[1]
        assert finding.verdict == "not distinguishable from a random order on these texts"


@pytest.mark.parametrize("method", ["gradient", "erasure-delete", "gradient-l2"])
def test_any_method_may_be_asked(method):
    run, rows = planted("softmax")
    finding = audit(run, rows, audits=["plausibility"], method=method).finding("plausibility.auprc.all")
    assert finding.estimate == pytest.approx(1)


def test_of_more_classes_signed_scores_are_about_the_predicted_one():
    texts, labels = planted_texts(80)
    model = random_model(classes=3)
    rows = marked(texts, [label + index % 2 for index, label in enumerate(labels)], [[[0, 2]]] * len(texts))
    context = build_view(open_subject(model, tokenizer()), as_split_of(rows), method="gradient")
    wrong = context.predicted != context.labels
    assert 0 < wrong.sum() < len(wrong)
    finding = Plausibility()(context, seed=0).findings[0]
    assert finding.undefined == {"explained for another class": int(wrong.sum())}
    sizes = dataclasses.replace(context, method="gradient-l2")
    assert Plausibility()(sizes, seed=0).findings[0].n == len(wrong)


def as_split_of(rows):
    from datasets import Dataset

    from glasshead.data import LoadOptions, as_split

    names = ("negative", "positive", "mixed")
    split = as_split(Dataset.from_list(rows), LoadOptions(classes=names))
    assert split.features["label"].names == list(names)
    return split


def test_tokens_that_share_a_character_with_a_mark_are_marked():
    texts = ["the film was good", "", "bad plot and long"]
    marks = [[(5, 9), (2, 3)], None, [(0, 17), (4, 6)]]
    encoded = encode(tokenizer(), texts)
    assert encoded.find_marked(texts, marks).tolist() == [
        [True, True, False, False],  # a mark ends before its end: the blank before "was" is not in it
        [False] * 4,
        [True] * 4,
    ]


def test_shuffled_scores_stay_where_tokens_are():
    scores = lists([np.arange(1.0, 4), np.arange(5.0, 10), np.zeros(0)])
    rngs = [np.random.default_rng(seed) for seed in range(3)]
    tables = [shuffle(scores, rngs) for _ in range(300)]
    assert all(sorted(table[0, :3]) == [1, 2, 3] and not table[0, 3:].any() for table in tables)
    assert all(sorted(table[1]) == list(scores[1]) for table in tables)
    assert not any(table[2].any() for table in tables)
    # Each of three orders at each place, about equally often.
    assert min(np.bincount([int(table[0, 0]) for table in tables])[1:]) > 60


def test_the_orders_of_a_text_do_not_depend_on_the_texts_beside_it():
    scores = [np.arange(1.0, 4), np.arange(5.0, 10)]

    def orders(*places):
        rngs = [np.random.default_rng(place) for place in places]
        return [shuffle(lists([scores[place] for place in places]), rngs) for _ in range(5)]

    for both, alone in zip(orders(1, 0), orders(0), strict=True):
        np.testing.assert_array_equal(both[1, :3], alone[0])


def test_what_cannot_be_asked_is_counted_or_refused():
    run, rows = planted("softmax")
    every = [row | {"marks": [[0, len(row["text"])]]} for row in rows[:20]]
    card = audit(run, every + rows[20:], audits=["plausibility"])
    assert card.finding("plausibility.auprc.all").undefined == {"every token is marked": 20}
    bare = [{key: value for key, value in row.items() if key != "marks"} for row in rows]
    with pytest.raises(InputError, match=r"these data have no marked words.*`marks_column`"):
        audit(run, bare, audits=["plausibility"])
    silent = audit(run.model, bare, tokenizer=tokenizer(), limit=5)
    assert not any(finding.audit == "plausibility" for finding in silent.findings)
    assert "plausibility" not in " ".join(silent.facts["notes"])


def test_slices_and_comparisons_are_those_of_the_texts():
    run, rows = planted("softmax")
    card = audit(run, rows, audits=["plausibility"], by="length")
    assert {test.finding for test in card.slice_tests} == {f"plausibility.{name}.all" for name in STATISTICS}
    other = audit(as_run(random_model(), *planted_texts(60)), rows, audits=["plausibility"])
    difference = next(one for one in compare(card, other).differences if one.name == "plausibility.auprc.all")
    assert difference.n == len(rows)
    change = other.finding("plausibility.auprc.all").estimate - 1
    assert abs(difference.estimate) == pytest.approx(abs(change))


@pytest.mark.parametrize(
    ("interval", "words"),
    [
        ((0.01, 0.2), "closer to"),
        ((-0.2, -0.01), "further from"),
        ((-0.1, 0.1), "not distinguishable"),
        ((0.0, 0.0), "not distinguishable"),
    ],
)
def test_a_verdict_rests_on_the_paired_interval(interval, words):
    assert plausibility_verdict(interval, TEXTS).words.startswith(words)
    assert plausibility_verdict(None, TEXTS) == TOO_FEW_EXAMPLES


def by_loop(attribution, spans, k):
    """Area, F1, IOU and the pointing game of one explained text, token by token."""
    scores, truth = [], []
    for score, word, (start, end) in zip(
        attribution.scores, attribution.words, attribution.offsets, strict=True
    ):
        if word >= 0:
            scores.append(score)
            truth.append(any(start < mark[1] and mark[0] < end for mark in spans))
    precision, recall, _ = precision_recall_curve(truth, scores)
    order = sorted(range(len(scores)), key=lambda token: -scores[token])
    top = {token for token in order[:k] if scores[token] > 0}
    marks = {token for token, mark in enumerate(truth) if mark}
    shared = len(top & marks)
    largest = [own for own, score in zip(truth, scores, strict=True) if score == max(scores)]
    pointing = sum(largest) / len(largest)
    return auc(recall, precision), 2 * shared / (len(top) + len(marks)), shared / len(top | marks), pointing


@pytest.mark.parametrize("paired", [False, True])
def test_tokens_of_a_foreign_tokenizer(paired):
    """What it adds is neither counted nor marked, and a mark may cut a word or span both texts."""
    model, tokenizer_of_bert = named_bert()
    texts, labels = labelled_texts(24, ("bad", "good"))
    seconds = texts[::-1] if paired else None
    marks = [[[0, 2], [len(text) - 1, len(text) + 3 if paired else len(text)]] for text in texts]
    rows = [
        {"text": text, "label": label, "marks": spans}
        for text, label, spans in zip(texts, labels, marks, strict=True)
    ]
    if paired:
        rows = [row | {"text_pair": second} for row, second in zip(rows, seconds, strict=True)]
    card = audit(model, rows, tokenizer=tokenizer_of_bert, audits=["plausibility"])
    subject = open_subject(model.double(), tokenizer_of_bert)
    explained = explain_texts(subject, texts, seconds, MethodRequest(method="attention"))
    expected = [
        by_loop(attribution, spans, card.facts["top_tokens"])
        for attribution, spans in zip(explained, marks, strict=True)
    ]
    columns = [card.examples[f"plausibility.{name}"] for name in STATISTICS]
    np.testing.assert_allclose(np.array(columns, dtype=float).T, expected, atol=1e-6)
