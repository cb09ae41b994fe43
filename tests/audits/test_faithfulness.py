"""Faithfulness: closed forms of planted models, random tokens, and orders that know the model."""

import itertools
from types import SimpleNamespace

import numpy as np
import pytest
import torch

from classifier_data import named_bert
from classifier_families import FAMILIES
from glasshead.audits import audit, build_view
from glasshead.audits.faithfulness import (
    Faithfulness,
    difference,
    faithfulness_verdict,
)
from glasshead.audits.judging.curve_statistics import STATISTICS
from glasshead.audits.measuring.reference_orders import best_statistics, greedy_ranks
from glasshead.audits.measuring.removal_curves import (
    REMOVED_PERCENTS,
    Orders,
    area_weights,
    bin_weights,
    curves_along,
    lengths_asked,
    random_orders,
    random_sets,
    score_ranks,
    statistic_weights,
    statistics_along,
    values_at_shares,
)
from glasshead.data import encode
from glasshead.explainers import EXPLAINERS, make_context
from glasshead.nouns import IMAGE_NOUNS, TEXTS
from glasshead.opening import open_subject
from glasshead.results import TOO_FEW_EXAMPLES
from small import as_run, planted_model, planted_texts, random_model, split, tokenizer


def additive(texts, seed=0):
    """Tokens of made-up texts with a number each, and what is said of sets of them: their sum is lost."""
    rng = np.random.default_rng(seed)
    counts = rng.integers(2, 31, texts)
    words = np.arange(counts.max()) < counts[:, None]
    return np.where(words, rng.normal(size=words.shape), 0.0), words


class Planted:
    """What a model without a network says of texts without some of their tokens."""

    def __init__(self, words, drop, prediction=None):
        self.words, self.drop = words, drop
        self.prediction = np.zeros(len(words)) if prediction is None else prediction

    def __call__(self, texts, removed):
        return self.drop(texts, removed)


def lost_sum(effects, words):
    return Planted(words, lambda texts, removed: (effects[texts] * removed).sum(axis=1), effects.sum(axis=1))


def ids_like(words):
    return np.arange(words.size).reshape(words.shape)


def test_the_curve_of_the_true_order_of_an_additive_model_is_its_closed_form():
    effects, words = additive(40)
    effects = np.abs(effects)
    drops = lost_sum(effects, words)
    ranks = score_ranks(effects, words, ids_like(words))
    every = np.arange(words.shape[1] + 1) <= words.sum(axis=1)[:, None]
    curves = curves_along(drops, Orders.of(ranks[None]), every)
    for text, own in enumerate(effects):
        count = words[text].sum()
        ordered = np.sort(own[words[text]])[::-1]
        lost = np.concatenate([[0], ordered.cumsum()])
        np.testing.assert_allclose(curves.without[0, text, : count + 1], lost, atol=1e-12)
        np.testing.assert_allclose(curves.alone[0, text, : count + 1], ordered.sum() - lost, atol=1e-12)
        assert (np.diff(curves.without[0, text, : count + 1]) >= 0).all()
        assert (np.diff(np.diff(curves.without[0, text, : count + 1])) <= 1e-12).all()
        assert np.isnan(curves.without[0, text, count + 1 :]).all()


def test_the_curve_at_shares_of_the_tokens_is_a_line_where_all_tokens_weigh_the_same():
    """Between the lengths that are asked values lie on straight lines, whatever the length of the text."""
    counts = np.array([2, 3, 10, 17, 30])
    words = np.arange(30) < counts[:, None]
    drops = lost_sum(np.where(words, 1 / counts[:, None], 0.0), words)
    weights = statistic_weights(counts, 30)
    lengths = lengths_asked(weights, np.array([True, True, True, True, False]))
    order = Orders.of(score_ranks(words * 1.0, words, ids_like(words))[None])
    curves = curves_along(drops, order, lengths)
    values = values_at_shares(curves, lengths, counts, drops.prediction)
    shares = np.linspace(0, 1, 11)
    np.testing.assert_allclose(values["deletion"][0, :4], np.tile(1 - shares, (4, 1)), atol=1e-12)
    np.testing.assert_allclose(values["insertion"][0, :4], np.tile(shares, (4, 1)), atol=1e-12)
    assert np.isnan(values["deletion"][0, 4]).all()


def by_loop(effects):
    """The four statistics of one text of an additive model, in order, by the definitions alone."""
    count, total = len(effects), sum(effects)
    sizes = sorted({int(count * share // 100) for share in REMOVED_PERCENTS} - {0})
    grid = [0, *sizes, count]
    left = [total - sum(effects[:k]) for k in grid]
    kept = [sum(effects[:k]) for k in grid]
    shares = [k / count for k in grid]
    return {
        "comprehensiveness": np.mean([sum(effects[:k]) for k in sizes]),
        "sufficiency": np.mean([total - sum(effects[:k]) for k in sizes]),
        "deletion": np.trapezoid(left, shares),
        "insertion": np.trapezoid(kept, shares),
    }


def test_statistics_are_a_loop_over_their_definitions():
    effects, words = additive(60)
    drops, counts = lost_sum(effects, words), words.sum(axis=1)
    rng = np.random.default_rng(1)
    scores = rng.normal(size=effects.shape)
    weights = statistic_weights(counts, words.shape[1])
    ranks = score_ranks(scores, words, ids_like(words))
    found = statistics_along(drops, Orders.of(ranks[None]), np.ones(60, dtype=bool), weights)
    for text in range(60):
        order = sorted(range(counts[text]), key=lambda token: -scores[text, token])
        for name, value in by_loop([effects[text, token] for token in order]).items():
            assert found[name][0, text] == pytest.approx(value, abs=1e-12)


def seeded(seed):
    """Random numbers of each text, of its own."""
    return lambda text: np.random.default_rng([seed, text])


@pytest.mark.parametrize("apart", [False, True])
def test_a_random_order_has_its_expectation(apart):
    """Of an additive model, k random tokens of n take k / n of the sum."""
    effects, words = additive(20)
    drops, counts = lost_sum(effects, words), words.sum(axis=1)
    weights = statistic_weights(counts, words.shape[1])
    orders = random_orders(words, 400, seeded(1))
    if apart:
        orders = random_sets(words, weights, 400, seeded(1))
    found = statistics_along(drops, orders, np.ones(20, dtype=bool), weights)
    share = np.arange(words.shape[1] + 1) / counts[:, None]
    for name, statistic in STATISTICS.items():
        lost = share if statistic.curve == "without" else 1 - share
        mean = (weights[name] * lost).sum(axis=1) * effects.sum(axis=1)
        expected = drops.prediction - mean if statistic.area else mean
        error = found[name].std(axis=0) / np.sqrt(400)
        assert (np.abs(found[name].mean(axis=0) - expected) <= 4.5 * error + 1e-12).all()


@pytest.mark.slow
def test_few_random_sets_are_as_good_as_many_random_orders():
    """The mean of four is nearer to the expectation than that of ten independent orders."""
    effects, words = additive(200)
    drops, counts = lost_sum(effects, words), words.sum(axis=1)
    weights = statistic_weights(counts, words.shape[1])
    every = np.ones(200, dtype=bool)
    true = statistics_along(drops, random_orders(words, 2000, seeded(3)), every, weights)
    few = statistics_along(drops, random_sets(words, weights, 4, seeded(1)), every, weights)
    alone = Orders(*(part[::2] for part in random_orders(words, 20, seeded(2))))
    many = statistics_along(drops, alone, every, weights)
    for name in STATISTICS:
        errors = [np.square(one[name].mean(axis=0) - true[name].mean(axis=0)).mean() for one in (few, many)]
        assert errors[0] < errors[1]


def test_sets_of_an_order_have_no_token_in_common():
    words = np.arange(50) < np.array([[2], [3], [5], [25], [50]])
    counts = words.sum(axis=1)
    asked = bin_weights(counts, 50) > 0
    ranks, begins = random_sets(words, statistic_weights(counts, 50), 2, seeded(0))
    for text, count in enumerate(counts):
        for order in range(2):
            own = [
                set(np.flatnonzero((ranks[order, text] >= begin) & (ranks[order, text] < begin + size)))
                for size, begin in enumerate(begins[order, text])
                if asked[text, size]
            ]
            assert [len(one) for one in own] == np.flatnonzero(asked[text]).tolist()
            assert len(set.union(*own)) == sum(map(len, own))
            assert set.union(*own) <= set(range(count))
        assert begins[0, text, count] == 0


def test_random_orders_follow_from_the_text_and_its_own_numbers():
    effects, words = additive(8)
    many = random_orders(words, 4, seeded(5)).ranks
    for text in range(8):
        one = slice(text, text + 1)
        count = words[text].sum()
        alone = random_orders(words[one, :count], 4, lambda _, text=text: seeded(5)(text)).ranks
        np.testing.assert_array_equal(alone[:, 0], many[:, text, :count])
        assert (many[0, text, :count] + many[1, text, :count] == count - 1).all()
    tied = score_ranks(np.zeros_like(effects), words, ids_like(words))
    assert all(sorted(row[own]) == list(range(own.sum())) for row, own in zip(tied, words, strict=True))
    assert not all((row[own] == np.arange(own.sum())).all() for row, own in zip(tied, words, strict=True))


@pytest.mark.parametrize("seed", range(3))
def test_the_best_order_is_the_best_of_all(seed):
    """Of texts of four tokens whose sets all have values of their own, all 24 orders."""
    rng = np.random.default_rng(seed)
    words = np.ones((5, 4), dtype=bool)
    values = rng.normal(size=(5, 16))
    values[:, 0] = 0
    drops = Planted(words, lambda t, removed: values[t, removed @ (1 << np.arange(4))], rng.normal(size=5))
    weights = statistic_weights(words.sum(axis=1), 4)
    every = np.ones(5, dtype=bool)
    ranks = np.array([np.tile(order, (5, 1)) for order in itertools.permutations(range(4))])
    table = statistics_along(drops, Orders.of(ranks), every, weights)
    best = best_statistics(drops, every, weights)
    greedy = statistics_along(drops, Orders.of(greedy_ranks(drops, every)[None]), every, weights)
    for name, statistic in STATISTICS.items():
        extreme = table[name].max(axis=0) if statistic.larger_is_better else table[name].min(axis=0)
        np.testing.assert_allclose(best[name], extreme, atol=1e-12)
        gap = (best[name] - greedy[name][0]) * (1 if statistic.larger_is_better else -1)
        assert (gap >= -1e-12).all()


def test_the_greedy_order_of_an_additive_model_is_the_true_one():
    effects, words = additive(12)
    some = np.arange(12) % 3 > 0
    ranks = greedy_ranks(lost_sum(effects, words), some)
    true = score_ranks(effects, words, ids_like(words))
    assert (ranks[some][words[some]] == true[some][words[some]]).all()
    assert (ranks[~some] == words.shape[1]).all()


def test_weights_of_short_texts():
    counts = np.array([0, 1, 2, 3, 10, 25])
    bins, areas = bin_weights(counts, 25), area_weights(counts, 25)
    assert np.isnan(bins[:2]).all()
    assert np.isnan(areas[:2]).all()
    assert [row.nonzero()[0].tolist() for row in bins[2:]] == [[1], [1], [1, 2, 5], [1, 2, 5, 12]]
    np.testing.assert_allclose(bins[2:].sum(axis=1), 1)
    np.testing.assert_allclose(areas[2:].sum(axis=1), 1)
    assert areas[3].nonzero()[0].tolist() == [0, 1, 3]
    assert areas[5].nonzero()[0].tolist() == [0, 1, 2, 5, 12, 25]


FAITHFUL = ("attention", "gradient", "erasure-delete", "erasure-renormalise", "gradient-l2")


@pytest.fixture(scope="module")
def run():
    """A model that reads one token, and three negative texts for one positive."""
    texts, labels = planted_texts(60, counts=(45, 15))
    return as_run(planted_model("softmax"), texts, labels), split(texts, labels)


@pytest.mark.parametrize("method", FAITHFUL)
def test_every_faithful_method_puts_the_one_token_first_that_is_read(run, method):
    """Without it ŷ is even, and with it alone what it was."""
    card = audit(*run, audits=["faithfulness"], method=method)
    assert card.facts["removal"] == "delete"
    drop = np.abs(np.array(card.examples["probability"]) - 0.5)
    np.testing.assert_allclose(card.examples["faithfulness.comprehensiveness"], drop, atol=0.02)
    for name, statistic in STATISTICS.items():
        for group in ("all", "class negative"):
            finding = card.finding(f"faithfulness.{name}.{group}")
            assert finding.verdict == "more faithful than random tokens"
            assert (finding.over_null["random"].estimate > 0) == statistic.larger_is_better
        greedy = card.finding(f"faithfulness.{name}.greedy.all")
        assert abs(greedy.estimate) < 0.02
        assert greedy.n == 50
    assert card.finding("faithfulness.deletion.class positive").verdict == TOO_FEW_EXAMPLES.words


def test_a_random_method_is_no_better_than_a_random_order(run):
    card = audit(*run, audits=["faithfulness"], method="random")
    for name in STATISTICS:
        finding = card.finding(f"faithfulness.{name}.all")
        assert finding.verdict == "not distinguishable from random tokens on these texts"
        assert card.finding(f"faithfulness.{name}.best.all").verdict == "less faithful than the best order"


@pytest.mark.parametrize(("removal", "method"), [("delete", "erasure-delete"), ("zero-weight", "attention")])
def test_no_order_is_better_than_the_best(removal, method):
    texts, labels = planted_texts(30)
    subject = open_subject(random_model(activation="tanhmax", encoder="affine"), tokenizer())
    context = build_view(subject, split(texts, labels), method=method)
    columns = Faithfulness(removal=removal)(context, seed=0).examples
    for name, statistic in STATISTICS.items():
        gap, greedy = (columns[f"faithfulness.{name}.{other}"] for other in ("best", "greedy"))
        own, null = columns[f"faithfulness.{name}"], columns[f"faithfulness.{name}.null.random"]
        sign = 1 if statistic.larger_is_better else -1
        assert np.isfinite(gap).all()
        for other in (own, own - greedy, null):
            assert (sign * (own - gap - other) >= -1e-6).all()


def test_signed_scores_are_turned_towards_the_predicted_class():
    """The model's own prediction without each set of tokens, one text after the other."""
    texts, labels = planted_texts(12)
    model = random_model(seed=3)
    context = build_view(open_subject(model, tokenizer()), split(texts, labels), method="gradient")
    assert 0 < context.predicted.sum() < 12
    columns = Faithfulness()(context, seed=0).examples
    scores = EXPLAINERS["gradient"](model.double(), tokenizer(), texts)
    for text, (attribution, predicted) in enumerate(zip(scores, context.predicted, strict=True)):
        words = texts[text].split()
        towards = np.array(attribution.scores) * (1 if predicted else -1)
        order = np.argsort(-towards, kind="stable")
        if len(set(np.round(towards, 9))) < len(words):
            continue
        sizes = sorted({len(words) * share // 100 for share in REMOVED_PERCENTS} - {0})
        full = probability(model, " ".join(words), predicted)
        drops = [
            full
            - probability(model, " ".join(w for i, w in enumerate(words) if i not in order[:k]), predicted)
            for k in sizes
        ]
        assert columns["faithfulness.comprehensiveness"][text] == pytest.approx(np.mean(drops), abs=1e-5)


def probability(model, text, label):
    with torch.no_grad():
        logits = make_context(model, encode(tokenizer(), [text]), tokenizer()).logits
    return float(logits.softmax(-1)[0, label])


@pytest.fixture(scope="module")
def short_texts():
    """Texts of one to 80 tokens, an empty one among them, before a random BERT."""
    texts = ["", "film", "the film was bad", "good music and a long scene", "the plot " * 40]
    model, tokenizer_of_bert = named_bert()
    return open_subject(model, tokenizer_of_bert), texts


def view_of(subject, texts):
    return build_view(subject, split(texts, [0] * len(texts), ("bad", "good")), method="gradient")


def statistics_of(subject, texts, **options):
    return Faithfulness(**options)(view_of(subject, texts))


def test_a_text_has_the_numbers_that_it_has_alone(short_texts):
    subject, texts = short_texts
    together = statistics_of(subject, texts, references=True).examples
    again = statistics_of(subject, texts, references=True).examples
    whole = view_of(subject, texts)
    alone = [Faithfulness(references=True)(whole.some(np.array([row]))).examples for row in range(len(texts))]
    for name, column in together.items():
        np.testing.assert_array_equal(column, again[name])
        np.testing.assert_allclose(column, [own[name][0] for own in alone], atol=1e-5)


def test_what_is_left_out_is_counted(short_texts):
    subject, texts = short_texts
    findings = {finding.name: finding for finding in statistics_of(subject, texts, references=True).findings}
    short = {"fewer than two tokens": 2}
    assert findings["faithfulness.deletion.all"].undefined == short
    greedy, best = (findings[f"faithfulness.deletion.{name}.all"] for name in ("greedy", "best"))
    assert greedy.undefined == short | {"more than 64 tokens": 1}
    assert best.undefined == short | {"more than 10 tokens": 1}
    assert (greedy.n, best.n) == (2, 2)
    many = statistics_of(subject, ["the film was bad"] * 54)
    assert many.findings[0].undefined == {"not drawn": 4}
    assert many.facts == {"removal": "delete", "faithfulness_texts": 50}
    assert not any(finding.against for finding in many.findings)


def test_ratings_may_be_asked_and_sentences_not():
    family = FAMILIES["Bert"]
    rows = [{"text": text, "label": float(place)} for place, text in enumerate(planted_texts(25)[0])]
    card = audit(
        family.build(labels=1), rows, tokenizer=family.tokenizer(), audits=["faithfulness"], method="gradient"
    )
    whole, lost = (np.array(card.examples[name]) for name in ("predicted", "faithfulness.deletion"))
    assert np.isfinite(lost).all()
    assert card.finding("faithfulness.comprehensiveness.all").n == len(whole)
    context = SimpleNamespace(sentence_of_token=np.zeros((1, 1)), nouns=TEXTS)
    assert "this audit removes tokens" in Faithfulness().unsupported_reason(context)


def test_rounding_is_no_difference_from_another_order():
    gaps = difference(np.array([0.5, 0.5, 200.0, np.nan]), np.array([0.5 - 3e-7, 0.49, 200.0001, 0.1]))
    np.testing.assert_allclose(gaps, [0, 0.01, 0, np.nan], atol=1e-12)


@pytest.mark.parametrize(
    ("interval", "statistic", "words"),
    [
        ((0.1, 0.2), "comprehensiveness", "more faithful"),
        ((0.1, 0.2), "sufficiency", "less faithful"),
        ((-0.2, -0.1), "deletion", "more faithful"),
        ((-0.2, -0.1), "insertion", "less faithful"),
        ((-0.1, 0.1), "insertion", "not distinguishable"),
        ((0.0, 0.0), "deletion", "not distinguishable"),
    ],
)
def test_a_verdict_rests_on_the_paired_interval(interval, statistic, words):
    assert faithfulness_verdict(interval, statistic, IMAGE_NOUNS).words.startswith(words)
    assert faithfulness_verdict(None, statistic, IMAGE_NOUNS) == TOO_FEW_EXAMPLES
