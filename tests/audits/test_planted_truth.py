"""Audits of models whose truth is known: they must find it, and a random map must fail."""

import dataclasses

import numpy as np
import pytest
import torch

from glasshead.audits import audit, build_view
from glasshead.audits.agreement import Agreement
from glasshead.data import encode
from glasshead.opening import open_subject
from glasshead.results import (
    ONE_SIGN,
    ONE_SIGNED,
    RAW_SIGN,
    SIGN_IN_WEIGHTS,
    AuditCard,
)
from glasshead.training.store_gauge import fix_pooled_gauge
from glasshead.training.tensor_dataset import TensorDataset
from small import as_run, planted_model, planted_texts, random_model, split, tokenizer

# A mean over 60 texts is uncertain; the bars are far from both sides.
GRADIENT, ERASURE = "gradient", "erasure-renormalise"


@pytest.fixture(scope="module", params=["softmax", "tanhmax"])
def planted(request):
    texts, labels = planted_texts(60)
    run = as_run(planted_model(request.param), texts, labels)
    return request.param, audit(run, split(texts, labels))


def test_the_model_is_right_and_said_to_be(planted):
    _, card = planted
    accuracy = card.finding("performance.accuracy.all")
    assert accuracy.estimate == 1.0
    assert accuracy.n == 60
    assert accuracy.verdict == "better than always guessing the commonest class"


@pytest.mark.parametrize("audits", [["agreement"], ["performance"]])
def test_how_the_model_stands_beside_guessing_is_told_whichever_audits_are_asked(audits):
    texts, labels = planted_texts(60)
    noisy = [label if i % 5 < 3 else 1 - label for i, label in enumerate(labels)]
    wrong = [1 - label for label in labels]
    model = planted_model("softmax")
    stands = [
        audit(as_run(model, texts, truth), split(texts, truth), audits=audits).facts["against_guessing"]
        for truth in (labels, noisy, wrong)
    ]
    assert stands == ["better", "undecided", "not better"]


def test_the_word_that_decides_gets_all_the_contribution(planted):
    _, card = planted
    for highlight in card.highlights:
        contributions = np.abs(highlight.attribution.contributions)
        assert highlight.attribution.tokens[int(contributions.argmax())] in ("good", "bad")
        assert contributions.max() > 0.9 * contributions.sum()


def test_attention_agrees_with_gradient_and_erasure_beyond_chance(planted):
    """Only one token matters and the rest are tied, so τ-b is limited by the ties but far from its null."""
    _, card = planted
    for against in (GRADIENT, ERASURE):
        finding = card.finding(f"agreement.attention-absolute.{against}.all")
        assert finding.interval[0] > 0.5
        assert abs(finding.null["random"]) < 0.2
        assert finding.verdict in ("strong agreement", "moderate agreement")


def test_contribution_beats_random_weights_only_where_the_weights_decide(planted):
    """With values of 0 on all other words, any weights whatever single out the word that decides."""
    activation, card = planted
    for against in (GRADIENT, ERASURE):
        finding = card.finding(f"agreement.contribution.{against}.all")
        assert finding.interval[0] > 0.5
        if activation == "softmax":
            assert finding.null["random"] == pytest.approx(finding.estimate)
            assert finding.verdict == "not distinguishable from random weights on these texts"
        else:
            assert abs(finding.null["random"]) < 0.2
            assert finding.verdict in ("strong agreement", "moderate agreement")


def test_differences_from_nulls_are_those_of_the_examples(planted):
    """What a verdict rests on can be computed again from what is saved."""
    _, card = planted
    names = {"agreement": "tau.{}.{}", "perturbation": "{}.median.{}", "identifiability": "maps.{}"}
    compared = 0
    for finding in card.findings:
        if finding.group != "all" or finding.audit not in names:
            continue
        column = names[finding.audit].format(finding.statistic, finding.against)
        column = column.removeprefix("tau.") if finding.statistic == "focus" else column
        nulls = {name for name, value in finding.null.items() if value is not None}
        assert set(finding.over_null) == (nulls if finding.n else set())
        for name, paired in finding.over_null.items():
            ours, null = (
                np.array(card.examples[each], dtype=float) for each in (column, f"{column}.null.{name}")
            )
            change = (ours - null)[~np.isnan(ours - null)]
            assert paired.n == len(change)
            assert paired.estimate == pytest.approx(change.mean(), abs=1e-9)
            assert paired.interval[0] <= paired.estimate <= paired.interval[1]
            compared += 1
    assert compared > 20


def test_moving_weights_moves_the_answer_only_where_values_differ(planted):
    activation, card = planted
    finding = card.finding("perturbation.permutation.absolute.all")
    assert finding.null["uniform"] == pytest.approx(0, abs=1e-6)
    if activation == "softmax":
        assert finding.interval[0] > 0.2
        assert "changes much" in finding.verdict
    else:  # all values are 1: only the sum of the weights matters, and shuffling keeps it
        assert finding.interval[1] < 1e-6
        assert "all tokens of a text carry the same value" in finding.verdict
    assert card.finding("perturbation.random.absolute.all").interval[0] > 0.02


def test_the_words_fall_into_their_groups(planted):
    activation, card = planted
    groups = dict(zip(card.tokens["token"], card.tokens["group"], strict=True))
    assert (groups["good"], groups["bad"]) == ("positive", "negative")
    weights = dict(zip(card.tokens["token"], card.tokens["weight"], strict=True))
    polarity = dict(zip(card.tokens["token"], card.tokens["polarity"], strict=True))
    contribution = dict(zip(card.tokens["token"], card.tokens["contribution"], strict=True))
    assert contribution["good"] > 1 > -1 > contribution["bad"]
    if activation == "tanhmax":
        assert weights["good"] > 0.5 > -0.5 > weights["bad"]
        assert polarity["good"] == pytest.approx(polarity["bad"])
    else:
        assert min(weights["good"], weights["bad"]) > 0.9
        assert polarity["good"] > 0 > polarity["bad"]


def test_negating_weights_and_values_changes_nothing_but_the_raw_numbers():
    texts, labels = planted_texts(40)
    data = split(texts, labels)
    model = random_model(activation="tanhmax", score="query-key", value_dim=4)
    card = audit(as_run(model, texts, labels), data)
    for parameter in [*model.pooling.score.key.parameters(), *model.pooling.value.parameters()]:
        parameter.data.neg_()
    model.config.gauge = -model.config.gauge
    other = audit(as_run(model, texts, labels), data)
    raw = 0
    for finding in card.findings:
        if finding.audit not in ("agreement", "tokens"):  # the others draw their own random numbers
            continue
        twin = other.finding(finding.name)
        expected = finding.estimate
        if finding.statistic in ("attention-raw", "weight-raw"):
            expected = -expected
        elif finding.against == "weight-raw":  # a share of pairs, or of signs
            expected = 1 - expected
        raw += expected != finding.estimate
        assert twin.estimate == pytest.approx(expected, abs=1e-9), finding.name
    assert raw >= 9


def test_a_random_map_must_fail():
    """The same model, but the audit is handed weights that have nothing to do with it."""
    texts, labels = planted_texts(120, seed=1)
    run = as_run(planted_model("tanhmax"), texts, labels)
    subject = build_view(open_subject(run), split(texts, labels))
    rng = np.random.default_rng(5)
    observation = subject.explanation.observation
    noise = torch.from_numpy(rng.uniform(-1, 1, observation.weights.shape)) * observation.mask
    honest = subject.importance  # of the true model
    explanation = dataclasses.replace(subject.explanation)
    explanation.__dict__["observation"] = dataclasses.replace(observation, weights=noise)
    impostor = dataclasses.replace(subject, explanation=explanation)
    impostor.__dict__["importance"] = honest
    findings = {finding.name: finding for finding in Agreement()(impostor, seed=0).findings}
    for statistic in ("attention", "attention-raw", "attention-absolute"):
        for against in (GRADIENT, ERASURE, "erasure-zero-weight"):
            finding = findings[f"agreement.{statistic}.{against}.all"]
            raw = statistic == "attention-raw"
            assert finding.verdict == (
                RAW_SIGN.words if raw else "not distinguishable from random weights on these texts"
            ), finding
            assert finding.interval[0] < 0.05


@pytest.mark.slow
def test_deterministic_under_a_seed_and_sensitive_to_it():
    texts, labels = planted_texts(30)
    run = as_run(random_model(activation="tanhmax"), texts, labels)
    one, same, other = (audit(run, split(texts, labels), seed=seed) for seed in (0, 0, 1))
    assert one.findings == same.findings
    assert one.highlights == same.highlights
    assert one.findings != other.findings
    estimates = [f.estimate for f in one.findings if f.audit in ("agreement", "performance")]
    assert estimates == [f.estimate for f in other.findings if f.audit in ("agreement", "performance")]


def test_a_limit_takes_part_of_the_texts_and_says_which():
    texts, labels = planted_texts(30)
    run = as_run(random_model(), texts, labels)
    card = audit(run, split(texts, labels), limit=10, seed=3)
    assert card.facts["examples"] == 10
    assert [texts[index] for index in card.examples["index"]] == list(card.examples["text"])
    assert len(set(card.examples["index"])) == 10


def test_empty_and_unknown_texts_are_kept_and_counted(tmp_path):
    texts, labels = planted_texts(20)
    run = as_run(planted_model("tanhmax"), texts, labels)
    odd = split(["", "   ", "zzz qqq", "good", *texts], [0, 1, 0, 1, *labels])
    card = audit(run, odd)
    assert card.facts["empty_texts"] == 2
    assert card.facts["unknown_texts"] == 1
    finding = card.finding("agreement.contribution.gradient.all")
    assert finding.undefined == {"fewer than two tokens": 3, "all tokens tied": 1}
    assert finding.n == len(odd) - 4
    undefined = {"no tokens": 2, "fewer than two tokens": 1}
    assert card.finding("perturbation.permutation.absolute.all").undefined == undefined
    card.save(tmp_path)
    assert AuditCard.load(tmp_path).findings == card.findings


def test_all_texts_empty_is_no_crash():
    texts, labels = planted_texts(20)
    card = audit(as_run(random_model(), texts, labels), split(["", " "], [0, 1]))
    finding = card.finding("agreement.attention.gradient.all")
    assert (finding.estimate, finding.interval, finding.n) == (None, None, 0)
    assert finding.verdict == "undecided: too few examples"


def test_four_classes():
    texts, labels = planted_texts(40)
    labels = [(label * 2 + index % 2) for index, label in enumerate(labels)]
    names = ("negative", "positive", "mixed", "other")
    run = as_run(random_model(classes=4, activation="tanhmax"), texts, labels)
    card = audit(run, split(texts, labels, names))
    assert {f.group for f in card.findings if f.audit == "performance"} == {
        "all",
        *(f"class {name}" for name in names),
    }
    trivial = card.finding("agreement.contribution.erasure-zero-weight.all")
    assert "by construction" not in trivial.verdict


def signs_in_the_values():
    """TanhMax whose weights are positive on both good and bad, and whose values carry the sign."""
    model = planted_model("tanhmax")
    ids = tokenizer().convert_tokens_to_ids(["good", "bad"])
    with torch.no_grad():
        model.pooling.score.context.weight[0, ids] = 4.0
        model.pooling.value.bias.zero_()
        model.pooling.value.weight[0, ids] = torch.tensor([1.0, -1.0])
    return model


def gauged(model, counts):
    """A run with the gauge that training on so many texts of each class would have fixed; texts, labels."""
    trained, classes = planted_texts(counts=counts)
    gauge = fix_pooled_gauge(model, TensorDataset(encode(tokenizer(), trained), torch.tensor(classes)))
    texts, labels = planted_texts(60)
    run = as_run(model, texts, labels)
    run.record["gauge"], model.config.gauge = dataclasses.asdict(gauge), gauge.sign
    return run, texts, labels


@pytest.mark.parametrize("turned", [False, True])
@pytest.mark.parametrize("counts", [(40, 120), (120, 40)])
def test_signs_that_live_in_the_values_are_not_read_off_the_weights(counts, turned):
    model = signs_in_the_values()
    if turned:
        for parameter in (model.pooling.score.context.weight, model.pooling.value.weight):
            parameter.data.neg_()
    run, texts, labels = gauged(model, counts)
    card = audit(run, split(texts, labels), audits=["performance", "agreement", "tokens"])
    assert card.facts["accuracy"] == 1.0
    assert card.facts["gauge"]["kind"] == ONE_SIGN
    for name in ("agreement.attention.gradient.all", "tokens.sign.weight.positive vs negative"):
        assert card.finding(name).verdict == ONE_SIGNED.words
    for name in ("agreement.attention-raw.gradient.all", "tokens.sign.weight-raw.positive vs negative"):
        assert card.finding(name).verdict == RAW_SIGN.words
    # Weights of one sign have half of the signs right, however many words each group has.
    assert card.finding("tokens.sign.weight.positive vs negative").estimate == 0.5
    # Polarity keeps its meaning, whichever class has more texts.
    assert card.finding("tokens.separation.polarity.positive vs negative").estimate == 1.0
    assert card.finding("tokens.separation.contribution.positive vs negative").estimate == 1.0
    assert card.finding("tokens.weight.positive").estimate > 0.3


@pytest.mark.parametrize("counts", [(40, 120), (35, 700)])
def test_signs_that_live_in_the_weights_are_found_there(counts):
    run, texts, labels = gauged(planted_model("tanhmax"), counts)
    assert run.record["gauge"]["kind"] == SIGN_IN_WEIGHTS
    card = audit(run, split(texts, labels), audits=["agreement"])
    assert "agreement" in card.finding("agreement.attention.gradient.all").verdict


def test_few_units_decide_nothing():
    texts, labels = planted_texts(12)
    card = audit(as_run(planted_model("tanhmax"), texts, labels), split(texts, labels))
    assert all(
        any(words in f.verdict for words in ("undecided", "construction", "raw sign", "not tested"))
        for f in card.findings
        if f.group == "all"
    ), [f.verdict for f in card.findings]
    assert card.finding("performance.accuracy.all").interval == pytest.approx((0.025 ** (1 / 12), 1.0))


@pytest.mark.parametrize("gain", [1.0, 10.0])
def test_the_identity_holds_for_confident_models_too(gain):
    """σ(z) − σ(z − a·o) orders tokens as a·o does, at z = 40 as at z = 4: nothing is lost to rounding."""
    texts, labels = planted_texts(40)
    model = random_model(activation="tanhmax", value_dim=4)
    with torch.no_grad():
        model.classifier.weight.mul_(gain)
    card = audit(as_run(model, texts, labels), split(texts, labels), audits=["agreement"])
    finding = card.finding("agreement.contribution.erasure-zero-weight.all")
    assert finding.estimate == pytest.approx(1.0, abs=1e-12)
    assert finding.n == 40
    assert card.finding("agreement.attention.gradient.all").n == 40
