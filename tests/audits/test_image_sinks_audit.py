"""How much of a map is on attention sinks, of models in which one is planted, and of others."""

import copy

import numpy as np
import pytest
import torch

import glasshead
from glasshead.audits.measuring import image_sink_passes
from glasshead.errors import InputError
from glasshead.explainers import image_sinks
from glasshead.generation import image_sinks as written_sinks
from image_text_families import build, photo
from planted_sink import with_image_sink

pytestmark = pytest.mark.usefixtures("quiet")
QUESTIONS = ("what is the cat doing ?", "is the dog at left ?", "what is at top ?")
ANSWERS = ("sleeping", "yes", "the cat", "no dog")
SHARE, FOUND = "image-sinks.share.all", "image-sinks.found.all"


def table(count):
    return [
        {"image": photo(seed=n), "question": QUESTIONS[n % 3], "answer": ANSWERS[n % 4]} for n in range(count)
    ]


def audited(model, processor, count=24, **options):
    return glasshead.audit(model, table(count), tokenizer=processor, audits=["image-sinks"], **options)


def test_a_planted_sink_has_much_of_the_map_and_little_effect():
    model, processor = build("llava")
    card = audited(with_image_sink(copy.deepcopy(model), 5), processor)
    share = card.finding(SHARE)
    assert share.interval[0] > 0.1
    assert share.n == 24
    assert share.verdict == "more than what is on parts that heads agree on by chance"
    assert card.finding(FOUND).interval[0] > 0.3
    effect = card.finding("image-sinks.effect.all")
    assert effect.estimate < 0.05
    assert effect.interval
    # Sinks are chosen by their effects: nothing may be concluded from these.
    assert not effect.null
    assert effect.verdict in ("", "undecided: too few examples")
    assert "of its map of the image is on attention sinks" in card.conclusion.verdict


def test_a_token_that_all_heads_look_at_and_need_is_none():
    model, processor = build("llava")
    card = audited(with_image_sink(copy.deepcopy(model), 5, empty=False), processor)
    assert card.finding(SHARE).estimate == 0
    assert card.finding(FOUND).interval[0] == 0
    assert "not distinguishable" in card.finding(SHARE).verdict
    assert card.finding("image-sinks.effect.all").undefined == {"the image has no attention sink": 24}


@pytest.mark.parametrize(("heads", "found"), [(1, None), (3, 0.0)])
def test_heads_too_few_to_agree_by_more_than_chance_leave_it_open(heads, found, monkeypatch):
    def of_some_heads(context, own=image_sink_passes.weights_on_parts):
        return [one._replace(weights=one.weights[:heads]) for one in own(context)]

    monkeypatch.setattr(image_sink_passes, "weights_on_parts", of_some_heads)
    card = audited(*build("llava"), 4)
    assert card.finding(FOUND).estimate == found
    assert card.finding(SHARE).estimate == found
    for name in ("share", "found", "effect") if found is None else ():
        finding = card.finding(f"image-sinks.{name}.all")
        assert (finding.n, finding.status) == (0, "undecided")
        ((reason, count),) = finding.undefined.items()
        assert reason.startswith("too few heads")
        assert count == 4


def test_weights_that_cannot_be_read_are_no_zero(monkeypatch):
    def refuse(*_):
        raise InputError("attention cannot be followed through all layers")

    monkeypatch.setattr(image_sinks, "record_stack", refuse)
    card = audited(*build("llava"), 4)
    assert card.finding(SHARE).estimate is None
    assert sum(card.finding(FOUND).undefined.values()) == 4


def test_explain_and_audit_compare_with_the_same_parts(monkeypatch):
    drawn = []

    def remember(weights, effects_of, *, small, tokens):
        drawn.append(tuple(tokens.tolist()))
        return np.array([], dtype=int)

    monkeypatch.setattr(image_sinks, "find_sinks", remember)
    monkeypatch.setattr(written_sinks, "find_sinks", remember)
    model, processor = build("llava")
    (row,) = table(1)
    audited(model, processor, 1)
    prompt = {"image": row["image"], "text": row["question"]}
    glasshead.explain(model, [prompt], tokenizer=processor, answer=" " + row["answer"])
    assert drawn[0] == drawn[1]
    written = glasshead.generate(model, prompt, tokenizer=processor, tokens=2, strategy="greedy")
    written.with_maps(["attention"])
    question = len(drawn[2]) - 2
    assert drawn[2][:question] == drawn[0][:question]


def test_the_share_is_that_of_the_audited_method():
    model, processor = build("llava")
    planted = with_image_sink(copy.deepcopy(model), 5)
    attention, random = (
        audited(planted, processor, 8, method=method).examples["image-sinks.share"]
        for method in ("attention", "random")
    )
    with_sinks = [place for place, share in enumerate(attention) if share]
    assert with_sinks
    assert all(random[place] < attention[place] for place in with_sinks)


@pytest.mark.slow
def test_models_with_random_weights_have_none():
    model, processor = build("llava")
    verdicts = []
    for seed in range(20):
        torch.manual_seed(seed)
        random = copy.deepcopy(model)
        with torch.no_grad():
            for weight in random.parameters():
                if weight.ndim > 1:
                    weight.normal_(0.0, (0.1, 0.3, 0.6, 1.0)[seed % 4])
        verdicts.append(audited(random, processor).finding(SHARE).verdict)
    assert sum(verdict.startswith("more") for verdict in verdicts) <= 1


def test_texts_alone_are_not_asked():
    model, processor = build("llava")
    rows = [{"question": row["question"], "answer": row["answer"]} for row in table(3)]
    card = glasshead.audit(model, rows, tokenizer=processor, draws=2)
    assert "image-sinks" not in {finding.audit for finding in card.findings}
    assert not any("image-sinks" in note for note in card.facts["notes"])
