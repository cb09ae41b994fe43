"""Whether the map of an image belongs to the question, of models whose truth is planted."""

import copy
from dataclasses import replace
from functools import cache

import numpy as np
import pytest
import torch

import glasshead
from glasshead.audits.judging.conclude import conclude
from glasshead.data import Picture
from glasshead.data.given_answers import GivenAnswer, with_others
from glasshead.results import PairedDifference
from image_text_families import build, photo
from planted_quarters import DIGITS, draw_questions, train_quarters

pytestmark = pytest.mark.usefixtures("quiet")
DELETION = "erasure-mean-embedding"
BETTER = "image-map.fall.other-question.all"


def table(count, seed=1):
    """Digits that the model was not trained on, unequally many of each quarter."""
    drawn = draw_questions(np.random.default_rng(seed), 2 * count, trained=False)
    chosen = sorted(drawn, key=lambda question: question.quarter)[:count]
    order = np.random.default_rng(seed).permutation(count)
    return [
        {"image": one.image, "question": one.text, "answer": DIGITS[one.digit]}
        for one in (chosen[number] for number in order)
    ]


def audited(model, processor, rows, audits=("image-map",), **options):
    return glasshead.audit(model, rows, tokenizer=processor, audits=list(audits), **options)


def with_random_weights(model, seed):
    torch.manual_seed(seed)
    random = copy.deepcopy(model)
    with torch.no_grad():
        for weight in random.parameters():
            if weight.ndim > 1:
                weight.normal_(0.0, 0.05)
    return random


@pytest.fixture(scope="module")
def reader():
    return train_quarters()


@pytest.mark.slow
def test_the_map_of_a_model_that_looks_where_it_is_asked_belongs_to_the_question(reader):
    audits = ("agreement", "perturbation", "image-map")
    card = audited(*reader, table(60), audits, draws=2)
    found = card.finding(BETTER)
    assert found.interval[0] > 1
    assert found.verdict.startswith("more faithful than the map of another question")
    assert card.finding("image-map.fall.centre.all").interval[0] > 0
    painted = card.finding("image-map.fall-pixels.other-question.all")
    assert painted.n == 60
    assert painted.interval[0] > 0
    assert card.finding("image-map.fall-pixels.all").over_null["random"].interval[0] > 0
    assert card.finding("image-map.shared.all").verdict == "less alike than unrelated maps"
    assert "decide" in card.conclusion.verdict
    assert "do not decide" not in card.conclusion.verdict
    assert "large where a token matters" in card.conclusion.verdict
    claims = {claim.says: claim.holds for claim in card.conclusion.claims}
    assert claims["Attention shows what in the image matters for this question, not for another one"] == "yes"


@pytest.mark.slow
def test_uniform_attention_has_one_map_for_all_questions(reader):
    model, processor = reader
    uniform = copy.deepcopy(model)
    with torch.no_grad():
        for layer in uniform.model.language_model.layers:
            layer.self_attn.q_proj.weight.zero_()
    card = audited(uniform, processor, table(30), ("agreement", "perturbation", "image-map"), draws=2)
    assert "do not decide these predictions" in card.conclusion.verdict
    found = card.finding(BETTER)
    assert found.estimate == pytest.approx(0, abs=1e-6)
    assert "not distinguishable" in card.finding("image-map.fall.all").verdict
    shared = card.finding("image-map.shared.all")
    assert shared.estimate == pytest.approx(1)


@pytest.mark.slow
@pytest.mark.parametrize(("method", "most"), [("attention", 1), ("gradient-l2", 1), (DELETION, 0)])
def test_models_with_random_weights_claim_nothing(reader, method, most):
    model, processor = reader
    claims, painted = [], []
    for seed in range(8):
        card = audited(with_random_weights(model, seed), processor, table(24, seed), method=method)
        assert card.finding(BETTER).n == 24
        painted.append(card.finding("image-map.fall-pixels.other-question.all").verdict)
        claims += [
            claim for claim in card.conclusion.claims if claim.finding == BETTER and claim.holds == "yes"
        ]
    assert sum(verdict.startswith("more") for verdict in painted) <= 1
    assert len(claims) <= most  # one in forty, each; what scores parts by the deletion that tests it has none


def test_a_row_is_measured_with_another_question_of_its_own_image_if_there_is_one():
    def row(prompt, answer, image):
        return GivenAnswer(prompt, answer, images=(Picture("a.png", image),))

    rows = [row("what", "one", b"A"), row("what", "two", b"B"), row("where", "three", b"A"),
            row("who", "four", b"C")]  # fmt: skip
    assert [one.other for one in with_others(rows)] == ["where", "where", "what", "what"]
    assert [one.other for one in with_others(rows[:2])] == [None, None]  # the same question twice
    assert [one.other for one in with_others([rows[3], *rows])] == ["what", "where", "where", "what", "what"]


@pytest.mark.slow
def test_a_question_that_says_the_same_has_the_same_map_although_its_row_has_another_answer():
    """Else whatever follows the answer, and not the question, would seem to belong to the question."""
    model, processor = build("llava")
    answers = ("no", "sleeping", "the cat", "yes")
    rows = [
        {
            "image": photo(seed=n // 2),
            "question": f"what is at top ?{' ?' * (n % 2)}",
            "answer": answers[n % 4],
        }
        for n in range(24)
    ]
    card = audited(with_random_weights(model, seed=0), processor, rows, method=DELETION)
    better, random = card.finding(BETTER), card.finding("image-map.fall.all").over_null["random"]
    assert better.n == 24
    assert better.interval[1] < random.interval[0] / 5
    assert card.conclusion.claims == ()


@pytest.mark.slow
def test_what_there_is_no_second_question_for_has_no_number_and_texts_alone_no_word():
    model, processor = build("llava")
    rows = [{"image": photo(seed=n), "question": "what is at top ?", "answer": "no"} for n in range(3)]
    found = audited(model, processor, rows).finding(BETTER)
    assert (found.n, found.undefined) == (0, {"no row with as many images has another question": 3})
    alone = [{"question": row["question"], "answer": row["answer"]} for row in rows]
    card = glasshead.audit(model, alone, tokenizer=processor, draws=2)
    assert "image-map" not in {finding.audit for finding in card.findings}
    assert not any("image-map" in note for note in card.facts["notes"])


def test_a_map_that_is_zero_in_the_whole_image_shares_nothing_and_is_not_said_to_lack_a_question():
    model, processor = build("llava")
    blind = copy.deepcopy(model)
    with torch.no_grad():
        for layer in blind.model.language_model.layers:
            layer.self_attn.o_proj.weight.zero_()  # no image token reaches the answer
    rows = [{"image": photo(), "question": f"what is at {at} ?", "answer": "no"} for at in ("top", "left")]
    card = audited(blind, processor, rows, method="gradient-l2")
    assert card.finding("image-map.shared.all").undefined == {"a map is zero in the whole image": 2}
    assert (card.finding(BETTER).n, card.finding(BETTER).undefined) == (2, {})


def test_pixels_are_painted_over_where_tokens_have_their_own():
    rows = [
        {"image": photo(seed=n // 2), "question": f"what is at {('top', 'left')[n % 2]} ?", "answer": "no"}
        for n in range(4)
    ]
    card = audited(*build("llava"), rows)
    painted = card.examples["image-map.fall-pixels"]
    assert not np.allclose(painted, card.examples["image-map.fall"])
    tiled = audited(*build("llava_next"), rows)  # an overview shares its pixels with the tiles
    assert card.finding("image-map.fall-pixels.all").n == 4
    assert tiled.finding("image-map.fall.all").n == 4
    assert tiled.finding("image-map.fall-pixels.all") is None


def test_an_image_whose_tokens_share_pixels_leaves_the_others_as_they_are():
    rows = [
        {"image": photo(seed=n // 2), "question": f"what is at {('top', 'left')[n % 2]} ?", "answer": "no"}
        for n in range(4)
    ]
    narrow = {"image": photo(300, 2), "question": "what is at top ?", "answer": "no"}
    alone = audited(*build("llava"), rows)
    card = audited(*build("llava"), [*rows, narrow])
    own, found = (one.examples["image-map.fall-pixels"] for one in (alone, card))
    np.testing.assert_allclose(found[:4], own, atol=1e-6)
    for name in ("fall-pixels", "fall-pixels.other-question", "fall-pixels.centre"):
        finding = card.finding(f"image-map.{name}.all")
        assert (finding.n, finding.undefined) == (4, {"image tokens have no pixels of their own": 1})
    assert card.finding("image-map.fall.all").n == 5


PAINTED = "image-map.fall-pixels.all"


def judged_as(card, **differences):
    """The card where each of these findings has that difference from its rival, and its intervals."""
    found = []
    for one in card.findings:
        ends = differences.get(one.name)
        if ends is not None:
            mean = sum(ends) / 2
            null = {name: PairedDifference(mean, ends, 100) for name in one.over_null}
            words = "less faithful than" if ends[1] < 0 else "more faithful than"
            one = replace(
                one,
                estimate=mean,
                n=100,
                interval=ends,
                over_null=null,
                status="evidence",
                reason="",
                verdict=words,
            )
        found.append(one)
    return conclude(replace(card, findings=found))


@pytest.mark.parametrize(("painted", "holds"), [((-0.3, -0.1), "undecided"), ((-0.3, 0.1), "yes"),
                                                ((0.1, 0.3), "yes")])  # fmt: skip
@pytest.mark.parametrize("name", [PAINTED, "image-map.fall-pixels.other-question.all"])
def test_a_map_that_painting_contradicts_leaves_the_claim_open(name, painted, holds):
    better = {BETTER: (0.5, 1.0), "image-map.fall.all": (0.5, 1.0)}
    card = judged_as(small_card(), **better, **{name: painted})
    (claim,) = (one for one in card.conclusion.claims if one.finding == BETTER)
    assert claim.holds == holds
    assert claim.inputs_needed is None
    assert "with pixels painted over, " in claim.note
    assert card.finding(name).verdict in claim.note
    assert ("with pixels painted over it is worse" in card.conclusion.verdict) == (holds == "undecided")


@cache
def small_card():
    rows = [
        {"image": photo(seed=n // 2), "question": f"what is at {('top', 'left')[n % 2]} ?", "answer": "no"}
        for n in range(4)
    ]
    return audited(*build("llava"), rows)


def test_a_method_that_paints_over_pixels_is_not_tested_by_that():
    rows = [
        {"image": photo(seed=n // 2), "question": f"what is at {('top', 'left')[n % 2]} ?", "answer": "no"}
        for n in range(4)
    ]
    card = audited(*build("llava"), rows, method="erasure-neutral-colour")
    assert card.finding("image-map.fall-pixels.all").status == "not evidence"
    assert card.finding("image-map.fall.all").status != "not evidence"
