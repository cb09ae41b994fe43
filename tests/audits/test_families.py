"""Audits of every family of models: they finish, find planted truth, and say what they read."""

import dataclasses

import numpy as np
import pytest
import torch

from glasshead.audits import audit, build_view
from glasshead.audits.measuring.forward_perturbation import perturb_by_forward
from glasshead.audits.perturbation import Perturbation
from glasshead.data import encode
from glasshead.errors import InputError
from glasshead.explainers.forward_observation import observe_by_forward
from glasshead.opening import open_subject
from glasshead.report import audit_page
from glasshead.results import RAW_SIGN, AuditCard
from glasshead.trace import AttentionSelector, head_gauges
from readable import KINDS, WORDS, as_run, data, family, planted
from small import planted_texts


def many(kind, n=24, seed=0):
    """The kind with more texts, and labels that mean nothing."""
    rng = np.random.default_rng(seed)

    def texts():
        return tuple(" ".join(rng.choice(WORDS, size=rng.integers(3, 12))) for _ in range(n))

    kind = dataclasses.replace(kind, texts=texts(), pairs=None if kind.pairs is None else texts())
    rating = kind.model.config.problem_type == "regression"
    labels = rng.uniform(1, 5, n) if rating else rng.integers(0, len(kind.model.config.id2label), n)
    return kind, labels.tolist()


def hooks(model):
    """Everything that is called around the modules, with the hooks that are set on them."""
    kinds = ("_forward_hooks", "_forward_pre_hooks", "_backward_hooks", "_backward_pre_hooks")
    return {
        name: ([list(getattr(module, kind)) for kind in kinds], sorted(vars(module)))
        for name, module in model.named_modules()
    }


DRAWN = ("encoder rating", "encoder added, three classes")
"""Of the others there is only the page, and too few texts for most verdicts."""


ALIKE = (
    "pooled rating",
    "pair-encoder first",
    "pair-encoder compare",
    "hierarchical normalised",
    "encoder mean",
    "pair-encoder",
    "encoder first",
    "hierarchical first, rating",
)
"""Families that others stand for."""


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=pytest.mark.slow if name in ALIKE else ()) for name in KINDS]
)
def test_every_family_is_audited_saved_and_shown(name, tmp_path, monkeypatch):
    if name not in DRAWN:
        monkeypatch.setattr("glasshead.report.html.figure_page.panel_drawings", lambda figure, key: [])
    kind, labels = many(KINDS[name](), n=20 if name in DRAWN else 10)
    run, split = as_run(kind, labels), data(kind, labels)
    before = {key: value.clone() for key, value in kind.model.state_dict().items()}
    hooked = hooks(kind.model)
    card = audit(run, split, draws=3)
    assert hooks(kind.model) == hooked
    assert all(torch.equal(value, before[key]) for key, value in kind.model.state_dict().items())
    card.save(tmp_path)
    loaded = AuditCard.load(tmp_path)
    assert loaded.findings == card.findings
    page = audit_page([loaded])
    assert "agreement" in page.lower()
    if name in ("encoder", "gpt2"):
        again = audit(run, split, draws=3)
        assert [f.estimate for f in again.findings] == [f.estimate for f in card.findings]
    rating = kind.model.config.problem_type == "regression"
    assert (card.finding("performance.rmse.all") is not None) == rating
    assert (card.finding("performance.accuracy.all") is None) == rating
    assert any(finding.audit == "tokens" for finding in card.findings) == (not rating)
    signed = "tanhmax" in card.facts.get("attention", "")
    assert card.facts["signed"] == signed
    attention = card.finding("agreement.attention.gradient.all")
    assert attention.n > 0
    assert (attention.verdict == RAW_SIGN.words) == signed  # no gauge was fixed


@pytest.mark.parametrize("pooling", ["attention", "first"])
def test_planted_truth_in_an_encoder_is_found(pooling):
    texts, labels = planted_texts(40)
    kind = dataclasses.replace(planted(pooling), texts=tuple(texts))
    card = audit(as_run(kind, labels), data(kind, labels), draws=10)
    assert card.finding("performance.accuracy.all").estimate == 1.0
    for against in ("gradient", "erasure-renormalise"):
        finding = card.finding(f"agreement.attention-absolute.{against}.all")
        assert finding.interval[0] > 0.3, against
        assert abs(finding.null["random"]) < 0.2
    shuffled = card.finding("perturbation.permutation.absolute.all")
    assert shuffled.interval[0] > 0.2
    assert "changes much" in shuffled.verdict
    assert shuffled.null["uniform"] == pytest.approx(0, abs=1e-6)
    for highlight in card.highlights:
        contributions = np.abs(highlight.attribution.contributions)
        assert highlight.attribution.tokens[int(contributions.argmax())] in ("good", "bad")
    weights = dict(zip(card.tokens["token"], card.tokens["weight"], strict=True))
    groups = dict(zip(card.tokens["token"], card.tokens["group"], strict=True))
    assert (groups["good"], groups["bad"], groups["[CLS]"]) == ("positive", "negative", "")
    assert min(weights["good"], weights["bad"]) > 0.9 > 0.1 > weights["film"]


@pytest.mark.slow
@pytest.mark.parametrize("name", ["encoder", "pair-encoder"])
def test_draws_by_passes_and_by_algebra_have_one_distribution(name):
    """Medians of many draws, of the read-out's by_readout and of forward passes of the whole model."""
    kind = KINDS[name]().of(0, 1, 3)  # two tokens have two orders, whose median is a coin
    labels = [1] * len(kind.texts)
    subject = build_view(open_subject(as_run(kind, labels)), data(kind, labels))
    draws = 300
    by_readout = Perturbation(draws).medians(subject, subject.weights[None])[0]
    explanation = subject.explanation
    asked = observe_by_forward(
        explanation.model, explanation.encoded, explanation.site, explanation.rows, explanation.logits
    )
    changed = perturb_by_forward(subject, asked, draws, "passes")
    drawn = Perturbation.median_changes(changed, 1.0, subject.resolution)[0]
    for column, values in by_readout.items():
        np.testing.assert_allclose(drawn[column], values, atol=0.06, err_msg=column)


def test_shaken_weights_are_what_their_names_say():
    kind = family("encoder", num_hidden_layers=2, pooling="first")
    labels = [1] * len(kind.texts)
    subject = build_view(open_subject(as_run(kind, labels)), data(kind, labels))
    found = perturb_by_forward(subject, subject.explanation.observation, 2, "perturbation")
    np.testing.assert_allclose(found["own"].values[:, 0], subject.prediction, atol=1e-5)
    assert set(found) == {
        "own", "chance", "uniform", "permuted", "permuted-chance", "random", "random-normalised",
    }  # fmt: skip
    assert np.abs(found["random"].values - found["random-normalised"].values).max() > 1e-4
    one, other = (
        perturb_by_forward(subject, subject.explanation.observation, 2, "perturbation"),
        perturb_by_forward(subject.with_seed(1), subject.explanation.observation, 2, "perturbation"),
    )
    np.testing.assert_array_equal(one["random"].values, found["random"].values)
    assert np.abs(one["random"].values - other["random"].values).max() > 1e-4


def test_errors_of_ratings_by_hand():
    kind, _ = many(family("encoder", rating=True), n=30)
    encoded = encode(kind.tokenizer, kind.texts)
    with torch.no_grad():
        predicted = kind.model(**encoded.inputs()).logits[:, 0].numpy()
    rng = np.random.default_rng(1)
    labels = predicted + rng.normal(0, 0.3, 30)
    card = audit(as_run(kind, labels.tolist()), data(kind, labels.tolist()), audits=["performance"])
    rmse, mae = (card.finding(f"performance.{name}.all") for name in ("rmse", "mae"))
    assert rmse.estimate == pytest.approx(np.sqrt(((predicted - labels) ** 2).mean()), rel=1e-4)
    assert rmse.null["mean"] == pytest.approx(labels.std(), rel=1e-6)
    assert mae.estimate == pytest.approx(np.abs(predicted - labels).mean(), rel=1e-4)
    assert mae.null["mean"] == pytest.approx(np.abs(labels - labels.mean()).mean())
    assert rmse.interval[0] < rmse.estimate < rmse.interval[1]
    assert rmse.verdict == "better than always guessing the mean rating"
    wrong = audit(as_run(kind, [3.0] * 30), data(kind, (3 - labels).tolist()), audits=["performance"])
    assert wrong.finding("performance.mae.all").verdict == "worse than always guessing the mean rating"
    assert [each.facts["against_guessing"] for each in (card, wrong)] == ["better", "not better"]
    paired = rmse.over_null["mean"]
    assert paired.estimate == pytest.approx(rmse.estimate - rmse.null["mean"])
    assert paired.interval[0] < paired.estimate < paired.interval[1] < 0
    assert (card.facts["rmse"], card.facts["task"]) == (pytest.approx(rmse.estimate), "regression")


def test_sentences_are_the_units_where_they_are_read():
    kind, labels = many(family("hierarchical"))
    run, split = as_run(kind, labels), data(kind, labels)
    subject = build_view(open_subject(run), split, attention_selector=AttentionSelector(level="sentence"))
    assert subject.mask.sum() < subject.token_mask.sum()
    np.testing.assert_allclose(subject.weights.sum(axis=1), 1, atol=1e-9)
    np.testing.assert_array_equal(
        subject.mask.sum(axis=1), [len(set(row[row >= 0])) for row in subject.sentence_of_token]
    )
    for values in subject.importance.values():
        assert values.shape == subject.mask.shape
    card = audit(run, split, level="sentence", draws=2)
    assert not any(finding.audit == "tokens" for finding in card.findings)
    assert card.facts["level"] == "sentence"
    with pytest.raises(InputError, match="sentences belong to no class"):
        audit(run, split, level="sentence", audits=["tokens"])


def test_a_gauge_per_head_makes_signed_attention_speak():
    kind, labels = many(family("encoder", pooling="first", attention="tanhmax", head_combination="concat"))
    encoded = encode(kind.tokenizer, kind.texts)
    inputs = encoded.inputs() | {"labels": torch.tensor(labels)}
    gauge = head_gauges(kind.model, [inputs])
    kind.model.config.gauge = gauge["signs"]
    card = audit(as_run(kind, labels, gauge), data(kind, labels), audits=["agreement"])
    assert card.facts["gauge"]["signs"] == gauge["signs"][0]
    assert card.finding("agreement.attention.gradient.all").verdict != RAW_SIGN.words
    assert card.finding("agreement.attention-raw.gradient.all").verdict == RAW_SIGN.words
    # The other gauge of one head: the same model, the same canonical numbers, other raw ones.
    layer, size = kind.model.encoder.layers[0].attention, 4
    with torch.no_grad():
        for linear in (layer.key, layer.value):
            linear.weight[:size].neg_()
            linear.bias[:size].neg_()
        layer.output.weight[:, :size].neg_()
        # Negated values and a negated projection cancel: the weights must not turn with them.
        layer.output.weight[:, :size].neg_()
    turned = head_gauges(kind.model, [inputs])
    assert turned["signs"][0] == [-gauge["signs"][0][0], gauge["signs"][0][1]]
    kind.model.config.gauge = turned["signs"]
    other = audit(as_run(kind, labels, turned), data(kind, labels), audits=["agreement"])
    for name in ("attention.gradient", "contribution.gradient", "contribution.erasure-renormalise"):
        ours, theirs = (each.finding(f"agreement.{name}.all").estimate for each in (card, other))
        assert ours == pytest.approx(theirs, abs=1e-6)
    raw = [each.finding("agreement.attention-raw.gradient.all").estimate for each in (card, other)]
    assert abs(raw[0] - raw[1]) > 1e-3


@pytest.mark.parametrize(
    ("name", "break_it", "message"),
    [
        ("encoder", {"pairs": True}, "reads one text at a time, but these are pairs"),
        ("pair-encoder", {"pairs": False}, "compares two texts"),
        ("encoder rating", {"classes": True}, "the model predicts ratings, but the data have the classes"),
        (
            "encoder",
            {"ratings": True},
            "knows the classes negative, positive, but the data have ratings",
        ),
        ("encoder rating", {"audits": ["tokens"]}, "words have no class if ratings are predicted"),
        ("encoder", {"draws": 2000}, "`draws` must be from 1 to 1,000, not 2000"),
        ("encoder", {"draws": 0}, "`draws` must be from 1 to 1,000, not 0"),
        (
            "encoder",
            {"layer": 7},
            "there is no attention layer 7: choose from 0 encoder",
        ),
        ("pooled", {"layer": 1}, "one attention with one head"),
    ],
)
def test_refusals(name, break_it, message):
    kind = KINDS[name]()
    texts = len(kind.texts)
    labels = [3.5] * texts if "rating" in name else [1] * texts
    split = data(kind, labels)
    if break_it.pop("pairs", False):
        split = split.add_column("text_pair", list(kind.texts))
    elif name == "pair-encoder":
        split = split.remove_columns("text_pair")
    if break_it.pop("classes", False) or break_it.pop("ratings", False):
        other = KINDS["encoder" if "rating" in name else "encoder rating"]()
        split = data(other, [1] * texts)
    break_it.pop("pairs", None)
    with pytest.raises(InputError, match=message):
        audit(as_run(kind, labels), split, **break_it)
