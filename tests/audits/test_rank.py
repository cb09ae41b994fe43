"""Methods against each other where the truth is planted: who reads the model right leads, chance does not."""

import json
from unittest.mock import patch

import numpy as np
import pytest
import torch

import glasshead
import readable
from glasshead.errors import InputError
from glasshead.explainers import EXPLAINERS, Explainer
from glasshead.results import Standing
from model_state import model_state
from small import WORDS, as_run, planted_model, planted_texts, random_model, split, tokenizer

FAITHFUL = ("attention", "gradient", "erasure", "captum:integrated-gradients")
STATISTICS = ("comprehensiveness", "sufficiency", "deletion", "insertion")
MEANINGS = ("delete", "renormalise", "unknown-token", "zero-value", "zero-weight")


class Turned(Explainer):
    """What speaks for a class is said to speak against it."""

    description = citation = "the gradient with the wrong sign"

    def importance(self, context):
        return -EXPLAINERS["gradient"].importance(context)


@pytest.fixture(scope="module")
def turned():
    """The method "turned", for the time of these tests."""
    Turned.name = "turned"
    with patch.dict(EXPLAINERS._entries, turned=Turned()):
        yield
    assert "turned" not in EXPLAINERS


@pytest.fixture(scope="module")
def data():
    """Nine negative texts for one positive."""
    texts, labels = planted_texts(counts=(54, 6))
    return split(texts, labels)


@pytest.fixture(scope="module")
def run(data):
    """A model that reads one token."""
    return as_run(planted_model("softmax"), data["text"][:], data["label"][:])


@pytest.fixture(scope="module")
def ranking(run, data, turned):
    return glasshead.rank(run, data, (*FAITHFUL, "random", "turned"), removals=MEANINGS)


def test_methods_that_find_the_one_token_that_is_read_lead_together(ranking):
    for statistic in STATISTICS:
        for removal in ranking.removals:
            assert ranking.leaders(statistic, removal) == [*FAITHFUL]
            random, turned = (ranking.methods[place].standing(statistic, removal) for place in (-2, -1))
            assert random == Standing.NOT_SHOWN
            assert turned == Standing.WORSE
    first = ranking.conclusion[0]
    assert all(name in first for name in FAITHFUL)
    assert "tie for the lead" in first
    worse = [each for each in ranking.conclusion if "worse than a random order" in each]
    assert len(worse) == 1
    assert worse[0].startswith("turned")


def test_fifty_texts_and_a_level_for_every_comparison(ranking):
    assert ranking.facts["examples"] == 50
    methods = len(ranking.names)
    pairs = methods * (methods - 1) // 2
    assert ranking.facts["comparisons"] == len(ranking.removals) * (methods + pairs)
    assert len(ranking.differences) == len(ranking.removals) * len(STATISTICS) * pairs
    level = 1 - 0.05 / ranking.facts["comparisons"]
    assert {each.level for each in ranking.differences} == {level}
    assert {each.n for each in ranking.differences} == {50}


def test_edits_that_are_one_for_this_model_are_named_and_counted_once(ranking):
    """Without an encoder, and without places, to cut a token out is to share its weight among the others."""
    assert set(ranking.removals) == {"delete", "zero-weight"}
    remarks = " ".join(ranking.remarks)
    assert "renormalise does the same as delete on these texts" in remarks
    assert "zero-value does the same as zero-weight on these texts" in remarks


def test_own_edits_and_equal_methods_are_named(ranking):
    assert {method.name: method.own_removal for method in ranking.methods if method.own_removal} == {
        "erasure": "zero-weight"
    }
    assert any("favours it" in each and "erasure" in each for each in ranking.remarks)
    same = [each for each in ranking.remarks if "the same scores" in each]
    assert same
    assert all("random" not in each and "turned" not in each for each in same)


def test_agreement_is_that_of_the_scores(ranking):
    taus = {(ranking.names[each.one], ranking.names[each.other]): each.finding for each in ranking.agreement}
    assert taus["gradient", "turned"].estimate == pytest.approx(-1)
    assert taus["gradient", "captum:integrated-gradients"].estimate == pytest.approx(1)
    random = taus["gradient", "random"].over_null["random"].interval
    assert random[0] < 0 < random[1]


def test_a_method_costs_what_it_takes(ranking):
    cost = {method.name: method.predictions for method in ranking.methods}
    assert all(method.seconds > 0 for method in ranking.methods)
    assert cost["captum:integrated-gradients"] > cost["attention"]  # fifty passes, and one


def test_an_additive_model_is_ranked_by_who_knows_its_words():
    """Every word has an effect of its own and the same weight: attention says nothing, the others all."""
    model = planted_model("softmax")
    rng = np.random.default_rng(0)
    ids = tokenizer().convert_tokens_to_ids([*WORDS])
    with torch.no_grad():
        model.pooling.score.context.weight.zero_()
        model.pooling.value.weight[0, ids] = torch.tensor(rng.normal(size=len(ids)), dtype=torch.float32)
        model.classifier.weight.fill_(3.0)
    texts, labels = planted_texts(40)
    ranking = glasshead.rank(
        as_run(model, texts, labels), split(texts, labels), ("attention", "gradient", "erasure"),
        removals=["delete", "zero-weight"],
    )  # fmt: skip
    for removal in ("delete", "zero-weight"):
        assert "gradient" in ranking.leaders("comprehensiveness", removal)
        assert "attention" not in ranking.leaders("comprehensiveness", removal)
        attention = ranking.methods[0].standing("comprehensiveness", removal)
        assert attention in (Standing.NOT_SHOWN, Standing.WORSE)
    assert "erasure" in ranking.leaders("comprehensiveness", "zero-weight")


@pytest.fixture(scope="module")
def some(data):
    """Texts before a model of random weights, of which two words are marked."""
    model = random_model(activation="tanhmax", encoder="affine")
    rows = [row | {"label": ("negative", "positive")[row["label"]], "marks": [[0, 6]]} for row in data]
    return as_run(model, data["text"][:], data["label"][:]), rows[10:]


@pytest.fixture(scope="module")
def marked(some):
    return glasshead.rank(*some, ("attention", "gradient", "random"), removals=["delete", "zero-weight"])


def estimates(ranking, name):
    (method,) = [method for method in ranking.methods if method.name == name]
    return {
        finding.name: (finding.estimate, finding.null["random"], finding.over_null["random"].estimate)
        for finding in method.findings
    }


def test_the_numbers_of_a_method_do_not_depend_on_the_others(some, marked):
    """Only the level of the intervals does."""
    alone = glasshead.rank(*some, ["gradient"], removals=["delete", "zero-weight"])
    ours, theirs = estimates(alone, "gradient"), estimates(marked, "gradient")
    assert ours.keys() == theirs.keys()
    for name, numbers in ours.items():
        assert numbers == pytest.approx(theirs[name], abs=1e-6)
    assert alone.facts["interval_level"] < marked.facts["interval_level"]
    assert alone.differences == [] == alone.agreement


def test_differences_are_those_of_the_same_texts(marked):
    """The mean of what one has more than the other, text by text."""
    for each in marked.differences:
        statistic = each.name.removeprefix("rank.").removesuffix(".all")
        columns = [f"{marked.names[place]}.{statistic}" for place in (each.one, each.other)]
        one, other = (np.array(marked.examples[name]) for name in columns)
        assert each.estimate == pytest.approx((one - other).mean(), abs=1e-6)
        assert each.interval[0] <= each.estimate <= each.interval[1]


@pytest.mark.parametrize("method", ["attention", "gradient", "random"])
def test_the_audit_of_one_method_has_the_same_numbers(some, marked, method):
    """On the same texts; with fifty of them all are drawn. The null of both is the mean over other random
    sets: of an audit apart from each other, of a ranking those of whole orders."""
    card = glasshead.audit(*some, audits=["faithfulness", "plausibility"], method=method)
    (ours,) = [one for one in marked.methods if one.name == method]
    pairs = {f"faithfulness.{name}.all": (name, "delete") for name in STATISTICS}
    for name, of in (pairs | {"plausibility.auprc.all": ("auprc", "")}).items():
        audited, finding = card.finding(name), ours.finding(*of)
        assert finding.n == audited.n == 50
        assert finding.estimate == pytest.approx(audited.estimate, abs=1e-6)
        draws = 1e-6 if of[0] == "auprc" else 0.02
        assert finding.null["random"] == pytest.approx(audited.null["random"], abs=draws)


def test_marks_are_a_criterion(run, data):
    """The word that is read is the one that people mark."""
    rows = [
        {"text": text, "label": ("negative", "positive")[label], "marks": spans(text)}
        for text, label in zip(data["text"], data["label"], strict=True)
    ]
    ranking = glasshead.rank(run, rows, ("gradient", "random"), removals=["delete"])
    assert ranking.has_plausibility
    assert ranking.leaders("auprc") == ["gradient"]
    assert ranking.methods[0].finding("auprc").estimate == pytest.approx(1)
    assert ranking.facts["comparisons"] == 2 * 3
    assert "people mark" in ranking.conclusion[-1]
    assert "gradient" in ranking.conclusion[-1]


def spans(text):
    word = "good" if "good" in text.split() else "bad"
    start = f" {text} ".index(f" {word} ")
    return [[start, start + len(word)]]


def test_the_model_stays_as_it_is_and_a_seed_says_all(run, data):
    before = model_state(run.model, run.tokenizer)
    asked = {"methods": ("gradient", "random"), "removals": ["delete"], "limit": 30}
    one, again, other = (glasshead.rank(run, data, seed=seed, **asked) for seed in (3, 3, 4))
    assert model_state(run.model, run.tokenizer) == before
    assert one.differences == again.differences
    assert one.examples == again.examples
    assert one.examples["index"] != other.examples["index"]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"methods": ("gradeint",)}, "did you mean 'gradient'"),
        ({"methods": ("gradient", "gradient")}, "names 'gradient' twice"),
        ({"methods": ()}, "is empty"),
        ({"removals": ("delte",)}, "did you mean 'delete'"),
        ({"removals": ("delete", "delete")}, "names 'delete' twice"),
        ({"removals": ()}, "is empty"),
        ({"statistic": "comprehensivness"}, "did you mean 'comprehensiveness'"),
        ({"level": "sentence"}, "has no option 'level'"),
        ({"limit": 0}, "`limit` must be at least 1, not 0"),
        ({"draws": 5}, "has no option 'draws'"),
    ],
)
def test_what_cannot_be_asked_is_refused_in_a_line(run, data, options, message):
    with pytest.raises(InputError, match=message) as caught:
        glasshead.rank(run, data, **options)
    assert "\n" not in str(caught.value)


def test_a_meaning_that_a_tokenizer_does_not_know_is_left_out_and_refused_where_named(run, data):
    few = data.select(range(4))
    run.tokenizer.mask_token, mask = None, run.tokenizer.mask_token
    try:
        with pytest.raises(InputError, match="'mask-token' has no meaning here"):
            glasshead.rank(run, few, ["gradient"], removals=["mask-token"])
        ranking = glasshead.rank(run, few, "gradient")
    finally:
        run.tokenizer.mask_token = mask
    assert "mask-token" not in ranking.removals
    assert any("mask-token" in each and "[MASK]" in each for each in ranking.remarks)
    assert ranking.conclusion == ["gradient is undecided: 4 texts have a number, but 20 are needed."]


def test_one_name_alone_is_a_list(run, data):
    ranking = glasshead.rank(run, data.select(range(3)), "gradient", removals="delete")
    assert ranking.names == ["gradient"]
    assert [*ranking.removals] == ["delete"]
    assert json.loads(ranking.to_json())["conclusion"] == [*ranking.conclusion]


def test_weights_whose_sign_nobody_fixed_are_no_evidence_and_compared_by_size(turned):
    """Sizes agree as well with the gradient as with its opposite; two signed methods do not."""
    kind = readable.bert("tanhmax")
    ranking = glasshead.rank(
        readable.as_run(kind, [0, 1] * 3), readable.data(kind, [0, 1] * 3),
        ("attention", "gradient", "turned"), removals=["delete"],
    )  # fmt: skip
    attention = ranking.methods[0]
    assert attention.standing("comprehensiveness", "delete") == Standing.UNDECIDED
    assert attention.finding("comprehensiveness", "delete").reason == "raw sign"
    assert {(each.one, each.other) for each in ranking.differences} == {(1, 2)}
    by_pair = {(each.one, each.other): each.finding.estimate for each in ranking.agreement}
    assert by_pair[0, 1] == pytest.approx(by_pair[0, 2])
    assert by_pair[0, 1] != 0
    assert by_pair[1, 2] == pytest.approx(-1)
