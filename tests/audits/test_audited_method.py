"""Any explainer can be the subject of an audit."""

import numpy as np
import pytest

import glasshead
from classifier_data import named_bert, table
from classifier_families import FAMILIES, labelled_data
from glasshead.audits import build_view
from glasshead.errors import InputError
from glasshead.explainers import EXPLAINERS
from glasshead.opening import open_subject
from glasshead.report import audit_page
from glasshead.results import AuditCard
from glasshead.statistics import kendall_tau_b
from glasshead.trace import AttentionSelector
from readable import KINDS
from readable import as_run as kind_as_run
from readable import data as kind_data
from small import as_run, planted_model, planted_texts, random_model, split

TEXTS, LABELS = planted_texts(40)
DATA = split(TEXTS, LABELS)
WEIGHTS_ONLY = ("identifiability", "perturbation", "tokens")


@pytest.fixture(scope="module")
def run():
    return as_run(random_model(activation="tanhmax", encoder="affine"), TEXTS, LABELS)


@pytest.fixture(scope="module")
def cards(run):
    """Audits of four methods on the same texts."""
    options = {"attention": {"audits": ["performance", "agreement"]}}
    methods = ("attention", "gradient-l2", "random", "erasure-renormalise")
    return {name: glasshead.audit(run, DATA, method=name, **options.get(name, {})) for name in methods}


@pytest.mark.slow
def test_tau_is_that_of_the_explainers_themselves(run, cards):
    """τ of one text after the other, of what the two explainers give by themselves."""
    ours, theirs = (
        EXPLAINERS[name](run.model.double(), run.tokenizer, TEXTS) for name in ("gradient-l2", "erasure")
    )
    run.model.float()
    taus = []
    for one, other in zip(ours, theirs, strict=True):
        pair = [np.abs(np.array([each.scores])) for each in (one, other)]
        taus.append(kendall_tau_b(*pair, np.ones_like(pair[0], dtype=bool)).tau.item())
    found = cards["gradient-l2"].examples["tau.gradient-l2-absolute.erasure-zero-weight"]
    np.testing.assert_allclose(np.array(found, dtype=float), taus, atol=1e-9)
    finding = cards["gradient-l2"].finding("agreement.gradient-l2-absolute.erasure-zero-weight.all")
    assert finding.estimate == pytest.approx(np.nanmean(taus), abs=1e-9)


def test_signs_are_compared_only_where_there_are_some(cards):
    statistics = {
        name: {finding.statistic for finding in card.findings if finding.audit == "agreement"}
        for name, card in cards.items()
    }
    assert statistics["gradient-l2"] == {"gradient-l2-absolute", "focus"}
    assert statistics["random"] == {"random", "random-absolute", "focus"}
    assert "contribution" in statistics["attention"]
    assert cards["gradient-l2"].facts["signed"] is False
    assert cards["random"].facts["signed"] is True


def test_random_numbers_agree_with_nothing(cards):
    for against in ("gradient", "erasure-renormalise"):
        finding = cards["random"].finding(f"agreement.random.{against}.all")
        assert finding.over_null["random"].interval[0] <= 0 <= finding.over_null["random"].interval[1]
        assert "not distinguishable from random scores" in finding.verdict


def test_planted_truth():
    """The decision rests on one word, which the gradient and both erasures put first: the same order."""
    run = as_run(planted_model("softmax"), TEXTS, LABELS)
    card = glasshead.audit(run, DATA, method="gradient", audits=["agreement"])
    context = build_view(open_subject(run), DATA, method="gradient")
    first = np.abs(context.scores).argmax(axis=1)
    assert all(text.split()[place] in ("good", "bad") for text, place in zip(TEXTS, first, strict=True))
    assert card.finding("agreement.gradient.erasure-renormalise.all").interval[0] > 0.3


def test_a_measure_that_is_the_method_itself_is_left_out(run, cards):
    findings = cards["erasure-renormalise"].findings
    against = {finding.against for finding in findings if finding.audit == "agreement"}
    assert against == {"gradient", "erasure-zero-weight"}
    assert any(
        "'erasure-renormalise' was left out" in each for each in cards["erasure-renormalise"].facts["remarks"]
    )
    # Nothing normalises these embeddings, so both gradients are one.
    card = glasshead.audit(run, DATA, method="gradient", audits=["agreement"])
    assert {finding.against for finding in card.findings} == {"erasure-zero-weight", "erasure-renormalise"}
    model, tokenizer = named_bert()
    data = [
        {"text": text, "label": ("bad", "good")[label]} for text, label in zip(TEXTS, LABELS, strict=True)
    ]
    card = glasshead.audit(
        model, data[:8], tokenizer=tokenizer, method="gradient", audits=["agreement"], dtype="float32"
    )
    assert {finding.against for finding in card.findings} == {
        "gradient",
        "erasure-zero-weight",
        "erasure-renormalise",
    }
    assert any(
        each.startswith("gradient: this model normalises its embeddings") for each in card.facts["remarks"]
    )


def test_audits_of_weights_are_left_out_and_refused_where_named(run, cards, tmp_path):
    for name in ("gradient-l2", "random"):
        assert {finding.audit for finding in cards[name].findings} == {
            "performance",
            "agreement",
            "faithfulness",
        }
        assert any(
            all(repr(audit) in each for audit in WEIGHTS_ONLY) for each in cards[name].facts["remarks"]
        )
    for audit in WEIGHTS_ONLY:
        with pytest.raises(
            InputError, match=f"{audit!r} has no meaning here: the method 'gradient' gives no"
        ):
            glasshead.audit(run, DATA, method="gradient", audits=[audit])
    model, tokenizer = named_bert()
    with pytest.raises(InputError, match="gives no attention weights"):
        glasshead.audit(
            model,
            table(tmp_path / "data.csv"),
            tokenizer=tokenizer,
            method="gradient",
            audits=["identifiability"],
        )


def test_methods_that_cannot_be(run):
    with pytest.raises(InputError, match="did you mean 'gradient'"):
        glasshead.audit(run, DATA, method="gradeint")
    run.tokenizer.mask_token, mask = None, run.tokenizer.mask_token
    try:
        with pytest.raises(InputError, match="this tokenizer has no"):
            glasshead.audit(run, DATA, method="erasure-mask-token", audits=["performance"])
    finally:
        run.tokenizer.mask_token = mask


def test_texts_are_read_by_the_method_and_the_card_says_which(cards, tmp_path):
    card = cards["gradient-l2"]
    assert {highlight.attribution.method for highlight in card.highlights} == {"gradient-l2"}
    by_text = dict(
        zip(card.examples["text"], card.examples["tau.gradient-l2-absolute.erasure-renormalise"], strict=True)
    )
    for highlight in card.highlights:
        assert highlight.faithfulness == by_text[highlight.attribution.text]
    assert card.facts["name"].endswith("· gradient-l2")
    assert "gradient-l2" not in cards["attention"].facts["name"]
    card.save(tmp_path)
    assert AuditCard.load(tmp_path).method == "gradient-l2"
    page = audit_page([card])
    assert "method gradient-l2" in page
    assert "attention audit" not in page


def test_audits_of_two_methods_are_compared_text_by_text(cards):
    comparison = glasshead.compare(cards["attention"], cards["gradient-l2"])
    name = "agreement.method-absolute.erasure-renormalise.all"
    (difference,) = [each for each in comparison.differences if each.name == name]
    one, other = (
        np.array(cards[method].examples[f"tau.{method}-absolute.erasure-renormalise"], dtype=float)
        for method in ("gradient-l2", "attention")
    )
    assert difference.estimate == pytest.approx(np.nanmean(one - other))
    page = audit_page(comparison.cards, comparison.differences)
    assert "Is the audited method large where removing a token&#39;s weight matters?" in page
    for renamed in comparison.cards:
        assert renamed.conclusion.verdict == cards[renamed.method].conclusion.verdict != ""
    same = glasshead.compare(cards["random"], cards["gradient-l2"])
    assert "agreement.method-absolute.gradient.all" in {each.name for each in same.differences}
    assert cards["random"].statistic == "random"  # the audits themselves stay as they were


def test_scores_of_sentences_are_the_sums_over_their_words():
    kind = KINDS["hierarchical"]()
    labels = [0, 1] * (len(kind.texts) // 2)
    subject, sentences = open_subject(kind_as_run(kind, labels)), AttentionSelector(level="sentence")
    whole = build_view(subject, kind_data(kind, labels), method="gradient", attention_selector=sentences)
    words = build_view(subject, kind_data(kind, labels), method="gradient")
    assert whole.scores.shape[1] < words.scores.shape[1]
    np.testing.assert_allclose(whole.scores.sum(axis=1), words.scores.sum(axis=1), atol=1e-12)
    assert whole.scores_signed


def test_the_card_says_which_attention_the_method_reads_and_where_weights_are_erased():
    family = FAMILIES["Bert"]
    model = family.build(labels=2, id2label={0: "bad", 1: "good"})
    for method, reading in (("rollout", "layers 0 to 1"), ("cp-lrp", None), ("attention", "layer 1")):
        options = {"tokenizer": family.tokenizer(), "method": method, "audits": ["agreement"]}
        facts = glasshead.audit(model, labelled_data(6), **options).facts
        assert facts.get("reading", "").startswith(reading or "")
        assert ("reading" in facts) == (reading is not None)
        erased = any(note.startswith("Where tokens are erased from attention") for note in facts["notes"])
        assert erased == (method != "attention")
