"""The other gauge of a head is the same model: no number of an audit knows it, but the raw ones."""

import copy
import dataclasses

import numpy as np
import pytest
import torch

from glasshead.attention import AttentionInputs
from glasshead.audits import audit, build_view
from glasshead.audits.measuring.data_view import read_gauge
from glasshead.audits.measuring.forward_perturbation import (
    EvenEdit,
    RandomEdit,
    compose_edits,
    match_row_mass,
)
from glasshead.audits.perturbation import perturbation_verdict
from glasshead.data import encode
from glasshead.models import is_regression
from glasshead.opening import open_subject
from glasshead.results import ONE_SIGN, ONE_SIGNED, RAW_SIGN, SIGN_IN_WEIGHTS, UNDECIDED, WEAK_GAUGE
from glasshead.trace import AttentionSelector, head_gauges, intervene, permute, record, uniform
from glasshead.training.store_gauge import fix_pooled_gauge
from glasshead.training.tensor_dataset import TensorDataset
from readable import WORDS, as_run, data, family, turn


def many(kind, n=30):
    rng = np.random.default_rng(0)
    texts = tuple(" ".join(rng.choice(WORDS, size=rng.integers(3, 12))) for _ in range(n))
    kind = dataclasses.replace(kind, texts=texts)
    if is_regression(kind.model.config):
        return kind, rng.uniform(1, 5, n).tolist()
    return kind, rng.integers(0, 2, n).tolist()


def audited(kind, labels, gauge, **options):
    kind.model.config.gauge = gauge["signs"] if "signs" in gauge else gauge["sign"]
    return audit(as_run(kind, labels, gauge), data(kind, labels), draws=3, **options)


def same_but_raw(one, other):
    """Every number of every finding, and its words, but for what is called raw."""
    for ours, theirs in zip(one.findings, other.findings, strict=True):
        if "raw" in ours.name:
            continue
        for name in ("estimate", "std"):
            assert getattr(ours, name) == pytest.approx(getattr(theirs, name), abs=1e-4), ours.name
        assert ours.null == pytest.approx(theirs.null, abs=1e-4), ours.name
        assert (ours.name, ours.verdict, ours.n) == (theirs.name, theirs.verdict, theirs.n)
    np.testing.assert_allclose(one.examples["max_weight"], other.examples["max_weight"], atol=1e-9)


@pytest.mark.parametrize("row", [None, pytest.param("mean", marks=pytest.mark.slow)])
def test_one_head_of_several(row):
    kind, labels = many(family("encoder", num_hidden_layers=2, pooling="first", attention="tanhmax"), 20)
    inputs = encode(kind.tokenizer, kind.texts).inputs() | {"labels": torch.tensor(labels)}
    gauge = head_gauges(kind.model, [inputs])
    other = copy.deepcopy(kind)
    turn(other.model.encoder.layers[1].attention, 0)
    turned = head_gauges(other.model, [inputs])
    assert turned["signs"][1] == [-gauge["signs"][1][0], gauge["signs"][1][1]]
    cards = [audited(one, labels, g, row=row) for one, g in ((kind, gauge), (other, turned))]
    same_but_raw(*cards)
    raw = [card.finding("agreement.attention-raw.gradient.all").estimate for card in cards]
    assert abs(raw[0] - raw[1]) > 1e-3


@pytest.mark.slow
@pytest.mark.parametrize("rating", [False, True])
def test_the_one_head_of_a_pooled_model(rating):
    kind, labels = many(
        family("pooled", activation="tanhmax", score="query-key", value_dim=4, rating=rating), 20
    )
    other = copy.deepcopy(kind)
    with torch.no_grad():
        for part in (other.model.pooling.score.key, other.model.pooling.value):
            for parameter in part.parameters():
                parameter.neg_()
    encoded = encode(kind.tokenizer, kind.texts)
    rows = TensorDataset(encoded, torch.tensor(labels))
    gauges = [fix_pooled_gauge(each.model, rows) for each in (kind, other)]
    assert gauges[0].sign == -gauges[1].sign
    assert gauges[0].margin == pytest.approx(gauges[1].margin, abs=1e-4)
    same_but_raw(
        *(audited(each, labels, dataclasses.asdict(g)) for each, g in zip((kind, other), gauges, strict=True))
    )


@pytest.mark.slow
def test_sizes_of_several_heads_without_a_gauge_say_nothing():
    kind, labels = many(family("encoder", pooling="first", attention="tanhmax"))
    run, split = as_run(kind, labels), data(kind, labels)
    verdicts = {
        head: audit(run, split, audits=["agreement"], head=head)
        .finding("agreement.attention-absolute.gradient.all")
        .verdict
        for head in (None, 0)
    }
    assert verdicts[None] == RAW_SIGN.words
    assert verdicts[0] != RAW_SIGN.words  # |a| of one head has no gauge
    card = audit(run, split, audits=["agreement"])
    assert card.finding("agreement.contribution.gradient.all").null["uniform"] is None


def test_shaken_weights_keep_what_their_names_say():
    kind, _ = many(family("encoder", pooling="first", attention="tanhmax"), 5)
    inputs = encode(kind.tokenizer, kind.texts).inputs()
    turns = torch.tensor([1.0, -1.0])
    generator = torch.Generator().manual_seed(0)
    with torch.no_grad(), record(kind.model, [0]) as trace:
        kind.model(**inputs)
    seen = trace[0]
    own, call = seen.weights, seen.call
    assert isinstance(call, AttentionInputs)
    allowed = call.mask.allowed(own.device).expand_as(own)
    assert not allowed.all()
    mass = own.abs().sum(-1)
    chance = match_row_mass(RandomEdit(generator, turns))
    of_own_mass = match_row_mass(EvenEdit(turns))
    for edit in (of_own_mass, chance, permute(generator), compose_edits(chance, permute(generator))):
        made = edit(0, own, call)
        torch.testing.assert_close(made.abs().sum(-1), mass)
        assert (made[~allowed] == 0).all()
    even = of_own_mass(0, own, call)
    for row, count in zip(even.flatten(0, 2), allowed.flatten(0, 2).sum(-1), strict=True):
        assert row.abs().max() == pytest.approx(float(row.abs().sum() / count), abs=1e-6)
    assert (even[:, 0] >= 0).all()
    assert (even[:, 1] <= 0).all()
    fresh = RandomEdit(generator, turns)
    drawn = fresh(0, own, call)
    assert drawn is fresh(0, own, call)
    assert drawn.min() < -0.5 < 0.5 < drawn.max()
    turned = RandomEdit(torch.Generator().manual_seed(7), turns)(0, own, call)
    plain = RandomEdit(torch.Generator().manual_seed(7), torch.ones(2))(0, own, call)
    torch.testing.assert_close(turned, plain * turns[:, None, None])
    order = permute(generator)(0, own, call)
    torch.testing.assert_close(order.sort(-1).values, own.sort(-1).values)


@pytest.mark.parametrize("reading", [{}, {"layer": 3}])
def test_uniform_weights_of_words_are_what_uniform_attention_reads(reading):
    """A model all of whose attention is uniform."""
    kind, labels = many(family("hierarchical"))
    subject = build_view(
        open_subject(as_run(kind, labels)),
        data(kind, labels),
        attention_selector=AttentionSelector(**reading),
    )
    place = subject.explanation.site
    layers = [place.layer] if place.above is None else [place.layer, place.above.layer]
    with intervene(subject.explanation.model, uniform, layers):
        found = dataclasses.replace(subject.explanation).observation.weights.numpy()
    np.testing.assert_allclose(subject.uniform, found, atol=1e-9)
    assert subject.parts.max() > 1


def test_two_layers_that_are_multiplied_are_as_sure_as_the_weaker():
    kind, labels = many(family("hierarchical", pooling="first", attention="tanhmax"))
    view = build_view(open_subject(as_run(kind, labels)), data(kind, labels)).explanation
    layers = view.site.num_layers
    two = view.site.layer, view.site.above.layer

    def read(kinds, margins=()):
        marked, sure = dict(zip(two, kinds, strict=True)), dict(zip(two, margins, strict=False))
        return read_gauge(
            {
                "kinds": [[marked.get(layer, ONE_SIGN)] * 2 for layer in range(layers)],
                "margins": [[sure.get(layer, 0.9)] * 2 for layer in range(layers)],
                "masses": [[1.0, 1.0]] * layers,
            },
            view,
        )

    assert read((SIGN_IN_WEIGHTS, SIGN_IN_WEIGHTS)) == (SIGN_IN_WEIGHTS, pytest.approx(0.9))
    for margins in ((0.05, 0.9), (0.9, 0.05)):
        assert read((SIGN_IN_WEIGHTS, SIGN_IN_WEIGHTS), margins)[1] == pytest.approx(0.05)
    assert read((ONE_SIGN, SIGN_IN_WEIGHTS))[0] == SIGN_IN_WEIGHTS
    assert read((ONE_SIGN, ONE_SIGN))[0] == ONE_SIGN
    assert read((UNDECIDED, SIGN_IN_WEIGHTS))[0] == UNDECIDED


@pytest.mark.parametrize(
    ("kinds", "masses", "kind"),
    [
        ((SIGN_IN_WEIGHTS, SIGN_IN_WEIGHTS), (1.0, 1.0), SIGN_IN_WEIGHTS),
        ((SIGN_IN_WEIGHTS, ONE_SIGN), (1.0, 1.0), UNDECIDED),
        ((ONE_SIGN, UNDECIDED), (97.0, 3.0), ONE_SIGN),
        ((ONE_SIGN, ONE_SIGN), (0.0, 0.0), UNDECIDED),
    ],
)
def test_several_heads_are_of_the_kind_that_nearly_all_of_their_pull_shares(kinds, masses, kind):
    family_kind, labels = many(family("encoder", pooling="first", attention="tanhmax"))
    view = build_view(open_subject(as_run(family_kind, labels)), data(family_kind, labels)).explanation
    gauge = {"kinds": [list(kinds)], "margins": [[0.8, 0.2]], "masses": [list(masses)]}
    assert read_gauge(gauge, view)[0] == kind


def test_changes_of_ratings_are_measured_by_the_labels():
    kind, labels = many(family("encoder", rating=True))
    subject = build_view(open_subject(as_run(kind, labels)), data(kind, labels))
    assert subject.prediction_range == pytest.approx(np.ptp(labels))
    equal = build_view(open_subject(as_run(kind, [3.0] * 30)), data(kind, [3.0] * 30))
    assert equal.prediction_range == 0
    assert perturbation_verdict((0.1, 0.2), (0.1, 0.2), "random", "absolute", 0.0).words.startswith(
        "undecided: all labels are equal"
    )


def test_a_weak_gauge_of_several_heads_decides_no_size():
    kind, labels = many(family("encoder", pooling="first", attention="tanhmax"))
    gauge = {
        "signs": [[1, -1]], "kinds": [[UNDECIDED] * 2], "margins": [[0.01, 0.01]], "masses": [[1.0, 1.0]],
    }  # fmt: skip
    card = audited(kind, labels, gauge, audits=["agreement", "tokens"])
    for name in ("agreement.attention.gradient.all", "agreement.attention-absolute.gradient.all"):
        assert card.finding(name).verdict == WEAK_GAUGE.words
    levels = [each for each in card.findings if each.audit == "tokens" and each.statistic == "weight"]
    assert all(each.verdict == WEAK_GAUGE.words for each in levels)


def test_heads_of_one_sign_are_sizes():
    kind, labels = many(family("encoder", pooling="first", attention="tanhmax"))
    gauge = {
        "signs": [[1, -1]], "kinds": [[ONE_SIGN] * 2], "margins": [[0.3, 0.3]], "masses": [[1.0, 1.0]],
    }  # fmt: skip
    card = audited(kind, labels, gauge, audits=["agreement", "tokens"])
    assert card.facts["gauge"]["kind"] == ONE_SIGN
    for name in ("attention", "effective", "effective-gain"):
        assert card.finding(f"agreement.{name}.gradient.all").verdict == ONE_SIGNED.words
    assert card.finding("agreement.attention-absolute.gradient.all").verdict not in (
        WEAK_GAUGE.words,
        ONE_SIGNED.words,
    )
    assert card.finding("tokens.sign.weight.positive vs negative").verdict == ONE_SIGNED.words


@pytest.mark.slow
def test_sentences_that_are_read_out_are_judged_as_an_identity():
    kind, labels = many(family("hierarchical"))
    card = audit(
        as_run(kind, labels),
        data(kind, labels),
        level="sentence",
        draws=3,
    )
    assert any("identity, not evidence" in note for note in card.facts["notes"])
    finding = card.finding("agreement.contribution.erasure-zero-weight.all")
    assert finding.verdict.startswith("true by construction")
    assert finding.estimate == pytest.approx(1.0)
    shared = audit(as_run(kind, labels), data(kind, labels), layer=3, draws=3)
    nearly = shared.finding("agreement.contribution.erasure-zero-weight.all")
    assert nearly.verdict.startswith("nearly true by construction")
