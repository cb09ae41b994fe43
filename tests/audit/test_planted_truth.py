"""Audits of models whose truth is known: they must find it, and a random map must fail."""

import dataclasses

import numpy as np
import pytest
import torch

from glasshead.audit import audit, prepare
from glasshead.audit.agreement import Agreement
from glasshead.audit.subject import RAW_SIGN, WEAK_GAUGE
from glasshead.results import AuditCard
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


@pytest.mark.parametrize("tests", [["agreement"], ["performance"]])
def test_chance_is_told_whichever_audits_are_asked(tests):
    texts, labels = planted_texts(60)
    wrong = [1 - label for label in labels]
    model = planted_model("softmax")
    at_chance = [
        audit(as_run(model, texts, truth), split(texts, truth), tests=tests).facts["at_chance"]
        for truth in (labels, wrong)
    ]
    assert at_chance == [False, True]


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
            assert finding.verdict == "no better than random weights"
        else:
            assert abs(finding.null["random"]) < 0.2
            assert finding.verdict in ("strong agreement", "moderate agreement")


def test_moving_weights_moves_the_answer_only_where_values_differ(planted):
    activation, card = planted
    finding = card.finding("perturbation.permutation.absolute.all")
    assert finding.null["uniform"] == pytest.approx(0, abs=1e-6)
    if activation == "softmax":
        assert finding.interval[0] > 0.2
        assert "changes much" in finding.verdict
    else:  # all values are 1: only the sum of the weights matters, and shuffling keeps it
        assert finding.interval[1] < 1e-6
        assert "hardly changes" in finding.verdict
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
    model = random_model(activation="tanhmax", score="query-key", value_size=4)
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
    subject = prepare(run, split(texts, labels))
    rng = np.random.default_rng(5)
    observation = subject.view.observation
    noise = torch.from_numpy(rng.uniform(-1, 1, observation.weights.shape)) * observation.mask
    honest = subject.importance  # of the true model
    view = dataclasses.replace(subject.view)
    view.__dict__["observation"] = dataclasses.replace(observation, weights=noise)
    impostor = dataclasses.replace(subject, view=view)
    impostor.__dict__["importance"] = honest
    findings = {finding.name: finding for finding in Agreement()(impostor, seed=0).findings}
    for statistic in ("attention", "attention-raw", "attention-absolute"):
        for against in (GRADIENT, ERASURE, "erasure-zero-weight"):
            finding = findings[f"agreement.{statistic}.{against}.all"]
            raw = statistic == "attention-raw"
            assert finding.verdict == (RAW_SIGN if raw else "no better than random weights"), finding
            assert finding.interval[0] < 0.05


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
    assert card.finding("perturbation.permutation.absolute.all").undefined == {"no tokens": 2}
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


def test_signs_that_live_in_the_values_are_not_read_off_the_weights():
    texts, labels = planted_texts(60)
    run = as_run(signs_in_the_values(), texts, labels)
    run.record["gauge"]["margin"] = 0.03
    card = audit(run, split(texts, labels))
    assert card.facts["accuracy"] == 1.0
    for name in (
        "agreement.attention.gradient.all",
        "tokens.sign.weight.positive vs negative",
        "tokens.separation.weight.positive vs negative",
    ):
        assert card.finding(name).verdict == WEAK_GAUGE
    for name in ("agreement.attention-raw.gradient.all", "tokens.sign.weight-raw.positive vs negative"):
        assert card.finding(name).verdict == RAW_SIGN
    # Weights of one sign have half of the signs right, however many words each group has.
    assert card.finding("tokens.sign.weight.positive vs negative").estimate == 0.5
    assert card.finding("tokens.separation.contribution.positive vs negative").estimate == 1.0


def test_few_units_decide_nothing():
    texts, labels = planted_texts(12)
    card = audit(as_run(planted_model("tanhmax"), texts, labels), split(texts, labels))
    assert all(
        any(words in f.verdict for words in ("undecided", "construction", "raw sign", "not asked"))
        for f in card.findings
        if f.group == "all"
    ), [f.verdict for f in card.findings]
    assert card.finding("performance.accuracy.all").interval == (1.0, 1.0)


@pytest.mark.parametrize("gain", [1.0, 10.0])
def test_the_identity_holds_for_confident_models_too(gain):
    """σ(z) − σ(z − a·o) orders tokens as a·o does, at z = 40 as at z = 4: nothing is lost to rounding."""
    texts, labels = planted_texts(40)
    model = random_model(activation="tanhmax", value_size=4)
    with torch.no_grad():
        model.classifier.weight.mul_(gain)
    card = audit(as_run(model, texts, labels), split(texts, labels), tests=["agreement"])
    finding = card.finding("agreement.contribution.erasure-zero-weight.all")
    assert finding.estimate == pytest.approx(1.0, abs=1e-12)
    assert finding.n == 40
    assert card.finding("agreement.attention.gradient.all").n == 40
