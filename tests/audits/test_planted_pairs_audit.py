"""An audit of a table of pairs of images, of a model whose truth is planted: the question names the image.
Its first layer looks at the image that is named; its last one does not."""

import copy

import numpy as np
import pytest
import torch

import glasshead
from planted_pair import ORDINALS, draw_pair_questions, train_pairs
from planted_quarters import DIGITS

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("quiet")]
COUNT = 60
BETTER, PAINTED = "image-map.fall.other-question.all", "image-map.fall-pixels.other-question.all"
SHARED = "image-map.shared.all"


@pytest.fixture(scope="module")
def reader():
    return train_pairs()


def pairs(count=COUNT):
    """Digits that the model was not trained on."""
    drawn = draw_pair_questions(np.random.default_rng(1), count, trained=False)
    return [{"images": one.images, "text": one.text, "answer": DIGITS[one.digit]} for one in drawn]


def audited(model, processor, rows, audits=("image-map",), **options):
    return glasshead.audit(model, rows, tokenizer=processor, audits=list(audits), draws=2, **options)


def share_on_named(model, processor, layer):
    """The share of the weights on images that is on the image that the question names, from explanations of
    single questions."""
    shares = []
    for row in pairs(20):
        question = {"images": row["images"], "text": row["text"]}
        (own,) = glasshead.explain(
            model, [question], tokenizer=processor, answer=f" {row['answer']}", layer=layer
        )
        named = 1 + next(n for n, ordinal in enumerate(ORDINALS) if f"image {ordinal}" in row["text"])
        numbers = np.array([number or 0 for number in own.image_numbers])
        scores = np.array(own.scores)
        shares.append(scores[numbers == named].sum() / scores[numbers > 0].sum())
    return np.mean(shares)


@pytest.mark.parametrize("options", [{"layer": 0}, {"method": "gradient-l2"}, {"method": "rollout"}])
def test_a_map_of_the_named_image_is_better_than_that_of_the_other_question(reader, options):
    card = audited(*reader, pairs(), **options)
    for name in (BETTER, PAINTED):
        assert card.finding(name).n == COUNT
        assert card.finding(name).interval[0] > 0.5
    assert card.finding("image-map.fall.all").over_null["random"].interval[0] > 0
    assert card.finding(SHARED).verdict == "less alike than unrelated maps"
    (claim,) = (one for one in card.conclusion.claims if one.finding == BETTER)
    assert claim.holds == "yes"


def test_attention_that_looks_at_both_images_for_both_questions_claims_nothing(reader):
    assert share_on_named(*reader, layer=0) > 0.8
    assert share_on_named(*reader, layer=1) < 0.6
    card = audited(*reader, pairs(), layer=1)
    assert "not distinguishable" in card.finding(BETTER).verdict
    assert card.finding(SHARED).verdict == "more alike than unrelated maps"
    assert all(one.holds != "yes" for one in card.conclusion.claims if one.finding == BETTER)


def test_uniform_attention_over_both_images_has_one_map_for_both_questions(reader):
    model, processor = reader
    uniform = copy.deepcopy(model)
    with torch.no_grad():
        for layer in uniform.model.language_model.layers:
            layer.self_attn.q_proj.weight.zero_()
    card = audited(uniform, processor, pairs(30), ("agreement", "perturbation", "image-map"))
    assert card.finding(BETTER).estimate == pytest.approx(0, abs=1e-6)
    assert card.finding(SHARED).estimate == pytest.approx(1)
    assert "do not decide these predictions" in card.conclusion.verdict


def test_the_table_says_what_erasure_says_of_each_row(reader):
    """Agreement of the audited map with erasure follows from explanations of single rows."""
    card = audited(*reader, pairs(), ("agreement",), layer=0)
    assert card.finding("agreement.attention.erasure-zero-weight.all").interval[0] > 0
