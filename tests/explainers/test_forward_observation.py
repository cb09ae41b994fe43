"""Attention anywhere in a model, questioned by passes: against algebra, loops and finite differences."""

import copy
from functools import partial
from itertools import chain

import numpy as np
import pytest
import torch

from glasshead.data import encode
from glasshead.data.batching import batches
from glasshead.explainers import EXPLAINERS, ForwardObservation, LinearReadout, SentenceReadout, make_context
from glasshead.explainers.forward_observation import observe_by_forward
from glasshead.trace import AttentionSelector, intervene, record, target_score
from readable import KINDS, Kind, turn
from tolerances import EXACT_MATHS, ONE_FORMULA


def view_of(kind, **reading):
    kind = copy.deepcopy(kind)
    encoded = encode(kind.tokenizer, kind.texts, kind.pairs)
    return make_context(
        kind.model.double(), encoded, kind.tokenizer, attention_selector=AttentionSelector(**reading)
    )


@pytest.mark.parametrize(
    ("kind", "reading"),
    [
        ("encoder", {}),
        ("encoder rating", {}),
        ("pair-encoder", {}),
        ("cross-encoder", {}),
        ("hierarchical", {"level": "sentence"}),
        ("hierarchical", {"layer": 3}),
    ],
)
def test_where_outputs_are_linear_in_the_weights_both_ways_agree(kind, reading):
    """The algebra of the read-out, and further passes of the whole model."""
    view = view_of(KINDS[kind](), **reading)
    exact = view.observation
    asked = observe_by_forward(view.model, view.encoded, view.site, view.rows, view.logits)
    assert isinstance(exact, LinearReadout | SentenceReadout)
    assert exact.exact
    assert isinstance(asked, ForwardObservation)
    torch.testing.assert_close(exact.shares(), asked.shares(), **EXACT_MATHS)
    mask = view.encoded.mask
    for name in ("weights", "canonical"):
        torch.testing.assert_close(getattr(exact, name), getattr(asked, name), **EXACT_MATHS)
    for name in ("contributions", "slopes"):
        ours, theirs = (getattr(each, name)(view.target) for each in (exact, asked))
        torch.testing.assert_close(ours[mask], theirs[mask], **ONE_FORMULA)
    for name in ("zero-weight", "renormalise"):
        ours, theirs = (each.without_each(name) for each in (exact, asked))
        torch.testing.assert_close(ours[mask], theirs[mask], **ONE_FORMULA)


@pytest.mark.parametrize("kind", ["encoder", "encoder rating", "pair-encoder", "cross-encoder"])
def test_contributions_and_bias_are_the_score(kind):
    view = view_of(KINDS[kind]())
    seen = view.observation
    outputs = torch.einsum("tn,tno->to", seen.weights, seen.polarity) + seen.bias
    torch.testing.assert_close(seen.to_logits(outputs), view.logits, **ONE_FORMULA)


READINGS = [
    ("encoder first", {}),
    ("encoder first", {"layer": 0, "head": 1}),
    ("encoder first", {"layer": 0, "row": "mean"}),
    ("encoder", {"layer": 0, "row": "last"}),
    ("pair-encoder first", {}),
    ("pair-encoder compare", {}),
    ("encoder mean", {}),
    ("hierarchical", {}),
    ("hierarchical", {"layer": 0}),
    ("bert", {"layer": 0}),
    ("gpt2", {}),
]


def test_an_encoder_that_takes_the_mean_is_read_so():
    assert view_of(KINDS["encoder mean"]()).rows.in_words == "mean of all rows"
    assert view_of(KINDS["encoder first"]()).rows.in_words == "row of the first token"


@pytest.mark.parametrize(("kind", "reading"), READINGS)
def test_contributions_are_what_a_small_change_does(kind, reading):
    """Scaling the weights of one token in the rows that are read by 1 + ε moves the score by ε a ∂z/∂a."""
    whole = KINDS[kind]()
    one = whole.of(0)
    view = view_of(one, **reading)
    found = view.observation.contributions(view.target)[0]
    head = view.site.head
    step = 1e-5
    with record(view.model, [view.site.layer]) as trace, torch.no_grad():
        view.model(**view.encoded.inputs(), **extra(view))
    shape = trace[view.site.layer].weights.shape
    segments = None
    if view.site.key_unit == "packed":
        segments = view.model.segments(view.encoded.ids, view.encoded.mask, view.encoded.types)
    for token in range(view.encoded.ids.shape[1]):
        chosen = torch.zeros(1, shape[3] if segments is None else view.encoded.ids.shape[1])
        chosen[0, token] = 1.0
        keys = chosen if segments is None else segments.pack(chosen[..., None])[..., 0]

        def edit(layer, weights, call, keys=keys, sign=1):
            rows = torch.ones(weights.shape[2])
            if view.site.row == "first":
                rows[1:] = 0
            if view.site.row == "last":
                rows[:-1] = 0
            heads = torch.ones(weights.shape[1])
            if head is not None:
                heads = (torch.arange(weights.shape[1]) == head).double()
            factor = keys[:, None, None, :] * rows[None, None, :, None] * heads[None, :, None, None]
            return weights * (1 + sign * step * factor.to(weights))

        scores = []
        for sign in (1, -1):
            moved = partial(edit, sign=sign)
            with intervene(view.model, moved, [view.site.layer]), torch.no_grad():
                logits = view.model(**view.encoded.inputs(), **extra(view)).logits
            scores.append(float(target_score(logits, view.target)[0]))
        assert (scores[0] - scores[1]) / (2 * step) == pytest.approx(float(found[token]), rel=1e-4, abs=1e-7)


def extra(view):
    """Our encoders leave rows out unless weights are asked for."""
    return {"output_attentions": True} if view.site.row in ("mean", "last") and "glasshead" in type(
        view.model
    ).__module__ else {}  # fmt: skip


OPERATORS = ("zero-weight", "renormalise", "zero-value")


@pytest.mark.parametrize(
    ("kind", "reading", "operator"),
    [
        # One of three, another one for the next.
        pytest.param(*one, operator, marks=() if (number + place) % 3 == 0 else pytest.mark.slow)
        for number, one in enumerate([*READINGS, ("hierarchical", {"level": "sentence"})])
        for place, operator in enumerate(OPERATORS)
    ],
)
def test_erasure_one_token_at_a_time(kind, reading, operator):
    kind = KINDS[kind]()
    view = view_of(kind, **reading)
    found = view.observation.without_each(operator)
    for text in (0, 3):  # a short one, and the longest
        alone = view_of(kind.of(text), **reading)
        encoded, segments = alone.encoded, None
        if alone.site.key_unit != "token":
            segments = alone.model.segments(encoded.ids, encoded.mask, encoded.types)
        for token in range(int(encoded.mask.sum())):

            def edit(layer, weights, call, token=token, alone=alone, segments=segments):
                row, column = 0, token
                if segments is not None:
                    row, column = divmod(int(segments.places[token]), segments.mask.shape[1])
                    if alone.site.key_unit == "sentence":
                        row, column = 0, int(segments.number[row])
                every = alone.site.head is None or operator == "zero-value"
                heads = range(weights.shape[1]) if every else [alone.site.head]
                changed = weights.clone()
                scores = call.mechanism.scores(call)
                for head in heads:
                    changed[row, head, :, column] = 0
                    if operator == "renormalise":
                        for query in range(weights.shape[2]):
                            allowed = (
                                call.mask.allowed(weights.device).expand_as(weights)[row, head, query].clone()
                            )
                            allowed[column] = False
                            changed[row, head, query] = call.mechanism.activation.weights(
                                scores[row, head, query], allowed
                            )
                return changed

            if operator == "renormalise" and alone.site.mechanism.position.changes_weights:
                pytest.skip("its position works on whole weights")
            with intervene(alone.model, edit, [alone.site.layer]), torch.no_grad():
                expected = alone.model(**encoded.inputs()).logits[0]
            torch.testing.assert_close(found[text, token], expected, **ONE_FORMULA)


def test_a_narrowed_mask_moves_no_distance():
    """Distance-aware attention counts real tokens: a key that may not be attended to still stands there."""
    view = view_of(KINDS["encoder"](), layer=0)
    found = view.observation.without_each("renormalise")
    assert (found - view.logits[:, None])[view.encoded.mask].abs().max() > 1e-3
    # The last token alone leaves all other distances as they are, also when it is cut out.
    weights = {}
    for name, keep in (("whole", slice(None)), ("cut", slice(-1))):
        with record(view.model, [0]) as trace, torch.no_grad():
            n = int(view.encoded.mask[0].sum())
            ids = view.encoded.ids[:1, :n][:, keep]
            view.model(input_ids=ids, attention_mask=torch.ones_like(ids))
        weights[name] = trace[0]
    n = weights["cut"].scores.shape[-1]
    torch.testing.assert_close(weights["whole"].scores[..., :n, :n], weights["cut"].scores, **ONE_FORMULA)


@pytest.mark.parametrize("reading", [{"level": "sentence"}, {"layer": 3}])
def test_contributions_of_sentences_and_bias_are_the_score(reading):
    view = view_of(KINDS["hierarchical"](), **reading)
    total = view.observation.contributions(view.target).sum(dim=1) + view.model.classifier.bias
    torch.testing.assert_close(total, view.logits[:, 1], **ONE_FORMULA)


def test_slopes_have_no_gauge():
    """Turning one head, and its canonical sign with it, changes its weights alone."""
    kind = copy.deepcopy(KINDS["encoder first"]())
    signs = [[1, -1], [1, 1]]
    found = []
    for turned in (False, True):
        if turned:
            turn(kind.model.encoder.layers[1].attention, 0)
        kind.model.config.gauge = [signs[0], [-1 if turned else 1, 1]]
        found.append(view_of(kind))
    one, other = (each.observation for each in found)
    torch.testing.assert_close(found[0].logits, found[1].logits, **ONE_FORMULA)
    assert (one.weights - other.weights).abs().max() > 1e-3
    torch.testing.assert_close(one.canonical, other.canonical, **ONE_FORMULA)
    for name in ("slopes", "contributions"):
        ours, theirs = (
            getattr(each, name)(each_view.target) for each, each_view in zip((one, other), found, strict=True)
        )
        torch.testing.assert_close(ours, theirs, **ONE_FORMULA)


def test_gradients_are_taken_once_for_each_class_that_a_token_has(monkeypatch):
    view = view_of(KINDS["encoder added, three classes"]())
    asked = []
    gradients = torch.autograd.grad

    def counted(value, *rest, **options):
        asked.append(1)
        return gradients(value, *rest, **options)

    monkeypatch.setattr(torch.autograd, "grad", counted)
    seen = view.observation
    asked.clear()
    for name in ("contributions", "slopes", "contributions"):
        getattr(seen, name)(view.target)
    assert len(asked) == 1
    seen.contributions(torch.full(view.encoded.ids.shape, 2))
    seen.slopes(torch.full(view.encoded.ids.shape, 2))
    assert len(asked) == (1 if (view.target == 2).all() else 2)


def test_the_budget_of_a_batch_counts_heads_and_layers(monkeypatch):
    kind = KINDS["encoder first"]()
    encoded = encode(kind.tokenizer, ["the film was good"] * 32)
    n = encoded.ids.shape[1]
    monkeypatch.setattr("glasshead.data.batching.PAIRS", 16 * n**2)
    assert [len(places) for places, _ in batches(encoded)] == [16, 16]
    assert [len(places) for places, _ in batches(encoded, maps=4)] == [4] * 8
    sizes = []
    kind.model.register_forward_pre_hook(
        lambda module, args, given: sizes.append(len(given["input_ids"])), with_kwargs=True
    )
    make_context(kind.model, encoded, kind.tokenizer)
    assert sizes == [8] * 4  # two heads
    sizes.clear()
    EXPLAINERS["gradient"].importance(make_context(kind.model, encoded, kind.tokenizer))
    assert sizes == [8] * 4 + [4] * 8  # and two layers


@pytest.mark.slow
def test_small_batches_change_nothing(monkeypatch):
    for name in ("encoder first", "hierarchical", "pair-encoder"):
        kind = KINDS[name]()
        methods = ("attention", "erasure", "erasure-renormalise", "gradient")
        whole = [EXPLAINERS[each](kind.model, kind.tokenizer, kind.texts, kind.pairs) for each in methods]
        with monkeypatch.context() as patch:
            patch.setattr("glasshead.data.batching.TOKENS_PER_BATCH", 20)
            small = [EXPLAINERS[each](kind.model, kind.tokenizer, kind.texts, kind.pairs) for each in methods]
        for one, other in zip(chain(*whole), chain(*small), strict=True):
            np.testing.assert_allclose(one.scores, other.scores, rtol=1e-4, atol=1e-6)


def test_every_class_has_contributions_of_its_own():
    view = view_of(KINDS["encoder added, three classes"]())
    seen = view.observation
    texts, n = view.encoded.ids.shape
    targets = torch.arange(n).expand(texts, n) % 3
    found = seen.contributions(targets)
    for k in range(3):
        expected = seen.contributions(torch.full((texts,), k))
        torch.testing.assert_close(found[targets == k], expected[targets == k], **EXACT_MATHS)


def test_a_sentence_shares_its_weight_and_its_erasure():
    kind: Kind = KINDS["hierarchical"]()
    plain = EXPLAINERS["attention"](kind.model, kind.tokenizer, kind.texts)
    told = EXPLAINERS["attention"](
        kind.model, kind.tokenizer, kind.texts, attention_selector=AttentionSelector(level="sentence")
    )
    for words, sentences in zip(plain, told, strict=True):
        assert sum(words.scores) == pytest.approx(1, abs=1e-5)
        assert sum(sentences.scores) == pytest.approx(1, abs=1e-5)
        assert " ".join(sentences.tokens) == sentences.text
        place = 0
        for sentence, score in zip(sentences.tokens, sentences.scores, strict=True):
            size = len(sentence.split())
            assert sum(words.scores[place : place + size]) == pytest.approx(score, abs=1e-5)
            place += size
    erased = EXPLAINERS["erasure-renormalise"](
        kind.model, kind.tokenizer, kind.texts[:1], attention_selector=AttentionSelector(level="sentence")
    )[0]
    view = view_of(kind.of(0), level="sentence")
    without = view.observation.without_each("renormalise").softmax(-1)[0, :, 1]
    before = view.logits.softmax(-1)[0, 1]
    assert erased.scores == pytest.approx([float(before - without[0]), float(before - without[-1])], abs=1e-5)
