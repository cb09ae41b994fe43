"""Models of images and texts in half precision say what their float32 copies do."""

import copy
from functools import cache

import pytest
import torch
from transformers import GenerationConfig

import glasshead
from image_text_families import FAMILIES, build, photo

pytestmark = pytest.mark.usefixtures("quiet")
QUICK = ("llava", "qwen2_vl")
NAMES = [pytest.param(name, marks=[] if name in QUICK else pytest.mark.slow) for name in FAMILIES]
HALVES = (torch.bfloat16, torch.float16)
QUESTION = "what is the cat doing ?"


@cache
def both(name, dtype=torch.bfloat16):
    """A model in half precision, one in float32 with the same rounded weights, and their processor."""
    model, processor = build(name)
    half = copy.deepcopy(model).to(dtype)
    return half, copy.deepcopy(half).float(), processor


def asked(processor, count):
    if count == 1:
        return {"image": photo(), "text": QUESTION}
    images = [photo(), photo(64, 96, seed=1)]
    return {"images": images, "text": f"the {processor.image_token} dog : {processor.image_token} {QUESTION}"}


def near(scores, expected, share=0.02):
    largest = max(map(abs, expected))
    assert list(scores) == pytest.approx(list(expected), abs=share * largest)


@pytest.mark.parametrize("count", [1, 2])
@pytest.mark.parametrize("dtype", HALVES, ids=str)
@pytest.mark.parametrize("name", NAMES)
def test_explanations_are_those_of_the_float32_copy(name, dtype, count):
    half, whole, processor = both(name, dtype)
    for method in ("attention", "gradient"):
        own, expected = (
            glasshead.explain(
                model, [asked(processor, count)], tokenizer=processor, answer=" sleeping", method=method
            )[0]
            for model in (half, whole)
        )
        assert own.prediction == pytest.approx(expected.prediction, rel=0.02)
        near(own.scores, expected.scores)


@pytest.mark.parametrize("name", QUICK)
def test_products_in_bfloat16_move_a_probability_little(name):
    _, whole, processor = both(name)
    own, expected = (
        glasshead.explain(whole, [asked(processor, 1)], tokenizer=processor, answer=" sleeping", dtype=dtype)[
            0
        ]
        for dtype in ("bfloat16", None)
    )
    assert own.prediction == pytest.approx(expected.prediction, rel=0.1)
    near(own.scores, expected.scores, 0.1)


@pytest.mark.parametrize("name", NAMES)
def test_a_text_is_what_the_float32_copy_writes(name):
    half, whole, processor = both(name)
    allowed = set(processor.tokenizer("yes no two", add_special_tokens=False)["input_ids"])
    others = set(range(half.config.get_text_config().vocab_size)) - allowed  # among them tokens of images
    strategy = GenerationConfig(suppress_tokens=sorted(others))
    own, expected = (
        glasshead.generate(model, asked(processor, 1), tokenizer=processor, strategy=strategy, tokens=2)
        for model in (half, whole)
    )
    assert own.start == expected.start
    assert len(own.ids) == len(expected.ids) == own.start + 2
    first = (text.answer_tokens[0].log_probability for text in (own, expected))
    if own.ids[own.start] == expected.ids[own.start]:  # a tie may fall to either side
        assert next(first) == pytest.approx(next(first), abs=0.05)


def test_an_audit_predicts_what_that_of_the_float32_copy_does():
    half, whole, processor = both("llava")
    rows = [
        {"image": photo(seed=row), "question": QUESTION, "answer": answer}
        for row, answer in enumerate(("sleeping", "yes", "the cat", "no dog"))
    ]
    own, expected = (
        glasshead.audit(model, rows, tokenizer=processor, audits=["agreement"], draws=2)
        for model in (half, whole)
    )
    assert list(own.examples["predicted"]) == pytest.approx(list(expected.examples["predicted"]), abs=0.05)
