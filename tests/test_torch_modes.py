"""Whatever modes of torch a notebook has set, the front doors give what they give without them."""

import pytest
import torch

import glasshead
from classifier_families import FAMILIES, TEXTS
from image_families import image_model, pictures, processor

MODES = {
    "no_grad": torch.no_grad,
    "inference_mode": torch.inference_mode,
    "autocast": lambda: torch.autocast("cpu", dtype=torch.bfloat16),
}
ROWS = [{"text": text, "label": label} for text, label in zip(TEXTS, ("bad", "good", "bad"), strict=True)] * 4
CLASSES = {"id2label": {0: "bad", 1: "good"}}
AUDITS = ["agreement", "perturbation"]


def classifier():
    return FAMILIES["Bert"].build(2, **CLASSES), FAMILIES["Bert"].tokenizer()


def explained(model, tokenizer, method):
    return [each.scores for each in glasshead.explain(model, TEXTS, tokenizer=tokenizer, method=method)]


def estimates(report):
    return [finding.estimate for finding in report.findings]


def answers(model, tokenizer):
    """What each front door says of a classifier, as numbers."""
    of_model = {"tokenizer": tokenizer}
    for method in ("attention", "gradient", "erasure", "attn-lrp"):
        yield explained(model, tokenizer, method)
    card = glasshead.audit(model, ROWS, audits=AUDITS, **of_model)
    yield estimates(card)
    yield estimates(glasshead.rank(model, ROWS, ["gradient"], limit=4, **of_model).methods[0])
    yield estimates(glasshead.heads(model, ROWS[:3], **of_model).heads[0])
    yield [len(glasshead.doctor(model, "tanhmax").diagnostics)]


def same(found, expected):
    for one, other in zip(found, expected, strict=True):
        torch.testing.assert_close(
            torch.tensor(one), torch.tensor(other), rtol=1e-4, atol=1e-6, equal_nan=True
        )


@pytest.fixture(scope="module")
def expected():
    return list(answers(*classifier()))


@pytest.mark.parametrize(
    "mode", [pytest.param(mode, marks=pytest.mark.slow if mode == "no_grad" else ()) for mode in MODES]
)
def test_every_front_door_gives_the_same(mode, expected):
    with MODES[mode]():
        model, tokenizer = classifier()  # made inside, as a notebook does
        found = list(answers(model, tokenizer))
        assert torch.is_grad_enabled() == (mode == "autocast")
        assert torch.is_inference_mode_enabled() == (mode == "inference_mode")
        assert torch.is_autocast_enabled("cpu") == (mode == "autocast")
    for one, other in zip(found, expected, strict=True):
        same(one, other)
    assert torch.is_grad_enabled()


@pytest.mark.parametrize("mode", MODES)
def test_texts_that_are_written_and_images(mode):
    tokenizer = FAMILIES["GPT2"].tokenizer()

    images = {"tokenizer": processor(), "method": "gradient"}

    def numbers(model, picture_model):
        written = glasshead.generate(model, "a warm film", tokenizer=tokenizer, tokens=3)
        yield [token.log_probability for token in written.answer_tokens]
        yield from (written.explain(method).map.scores[0] for method in ("attention", "gradient"))
        (attribution,) = glasshead.explain(picture_model, pictures(1), **images)
        yield attribution.scores

    expected = list(numbers(FAMILIES["GPT2"].language_model(), image_model()))
    with MODES[mode]():
        found = list(numbers(FAMILIES["GPT2"].language_model(), image_model()))
    for one, other in zip(found, expected, strict=True):
        same(one, other)


def test_a_model_that_inference_mode_made_stays_as_it_was():
    with torch.inference_mode():
        model, tokenizer = classifier()
    before = {name: tensor.clone() for name, tensor in model.state_dict().items()}
    assert explained(model, tokenizer, "gradient")
    assert glasshead.plug(model, "tanhmax") is model
    assert glasshead.unplug(model) is model
    assert all(tensor.is_inference() for tensor in model.parameters())
    assert all(torch.equal(tensor, before[name]) for name, tensor in model.state_dict().items())
