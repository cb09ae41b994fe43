"""What is explained of a pipeline is what it prints, whatever its settings; else they are refused by name."""

import pytest
import torch
import transformers as hf
from PIL import Image
from transformers.pipelines import TextClassificationPipeline

import glasshead
from classifier_families import FAMILIES
from glasshead.errors import InputError
from image_families import image_model, processor

pytestmark = pytest.mark.usefixtures("quiet")
LONG = "a warm funny film is not so dull and the plot was very good . " * 4


def pipeline(family="Bert", task="text-classification", limit=None, labels=3, config=None, **settings):
    model = FAMILIES[family].build(labels, **(config or {}))
    tokenizer = FAMILIES[family].tokenizer()
    if limit is not None:
        tokenizer.model_max_length = limit
    return hf.pipeline(task, model=model, tokenizer=tokenizer, **settings)


@pytest.mark.parametrize(
    ("family", "settings"),
    [
        ("Bert", {"truncation": True, "limit": 12}),
        ("Bert", {"truncation": True, "max_length": 9}),
        ("Bert", {"truncation": "longest_first", "max_length": 7, "limit": 12}),
        (
            "Bert",
            {"truncation": True, "max_length": 30, "limit": 12},
        ),  # the setting goes before the usual length
        ("Bert", {"truncation": True, "max_length": 9, "padding": "max_length"}),
        ("Bert", {"max_length": 9}),
        ("ModernBert", {"limit": 12}),  # nothing is cut
        ("ModernBert", {"truncation": False, "limit": 12, "batch_size": 2}),
        ("ModernBert", {"truncation": True, "limit": 12, "top_k": 2}),
        ("Bert", {"truncation": True, "max_length": 9, "top_k": None, "function_to_apply": "softmax"}),
        ("Bert", {"task": "sentiment-analysis", "truncation": True, "max_length": 9, "device": "cpu"}),
    ],
)
def test_the_probability_that_is_explained_is_what_the_pipeline_prints(family, settings):
    classify = pipeline(family, **settings)
    for text, place in ((LONG, 0), ("a warm film", 2)):
        printed = classify(text, top_k=3)[place]
        (attribution,) = glasshead.explain(classify, text, target=printed["label"])
        assert attribution.prediction == pytest.approx(printed["score"], abs=1e-5)


def test_a_rating_is_printed_as_it_is():
    for config, settings in (({"problem_type": "regression"}, {}), ({}, {"function_to_apply": "none"})):
        rate = pipeline(labels=1, config=config, **settings)
        (attribution,) = glasshead.explain(rate, "a warm film")
        assert attribution.prediction == pytest.approx(rate("a warm film")[0]["score"], abs=1e-5)


def test_a_sigmoid_is_the_probability_of_one_label():
    several = {"problem_type": "multi_label_classification"}
    chosen = {"function_to_apply": "sigmoid"}
    for settings in (chosen, {"labels": 1}, {"config": several}, {"config": several, "labels": 1}):
        classify = pipeline(**settings)
        for printed in classify("a warm film", top_k=None):
            (attribution,) = glasshead.explain(classify, "a warm film", target=printed["label"])
            assert attribution.prediction == pytest.approx(printed["score"], abs=1e-5)


def test_audits_cut_texts_as_the_pipeline_does():
    classify = pipeline(truncation=True, max_length=9)
    rows = [{"text": LONG, "label": "LABEL_0"}, {"text": "a warm film", "label": "LABEL_1"}]
    card = glasshead.audit(classify, rows * 2, audits=["performance"])
    printed = {row["label"]: row["score"] for row in classify(LONG, top_k=3)}
    assert card.examples["probability"][0] == pytest.approx(printed[card.examples["target"][0]], abs=1e-5)


@pytest.mark.parametrize(
    ("says", "settings"),
    [
        ("add_special_tokens=False, which Glasshead does not follow", {"add_special_tokens": False}),
        ("truncation='only_second'", {"truncation": "only_second", "max_length": 9}),
        ("stride=2", {"stride": 2}),
        ("cuts texts to 0 tokens", {"truncation": True, "max_length": 0}),
        ("leaves no room for a word", {"truncation": True, "max_length": 2}),
        ("function_to_apply='none'", {"function_to_apply": "none"}),
        ("the softmax of one number", {"labels": 1, "function_to_apply": "softmax"}),
    ],
)
def test_settings_that_cannot_be_followed_are_refused_by_name(says, settings):
    with pytest.raises(InputError, match=says) as refusal:
        glasshead.explain(pipeline(**settings), "a warm film")
    assert len(str(refusal.value)) <= 300


def test_the_hint_to_logits_can_be_followed():
    plain = pipeline()
    with pytest.raises(InputError) as refusal:
        glasshead.explain(pipeline(function_to_apply="none"), "a warm film")
    assert "`target_fn='logit'` and `method='gradient'`" in str(refusal.value)
    (attribution,) = glasshead.explain(plain, "a warm film", target_fn="logit", method="gradient")
    assert len(attribution.scores) == len(attribution.tokens)


def test_padding_that_is_read_is_refused():
    """GPT-2 counts places from the left, so padding there moves every word."""
    classify = pipeline(
        "GPT2",
        config={"pad_token_id": 0},
        truncation=True,
        max_length=20,
        padding="max_length",
        padding_side="left",
    )
    classify.tokenizer.pad_token = "[PAD]"
    with pytest.raises(
        InputError, match=r"predicts something else than its model .* its settings \(truncation, max_length"
    ):
        glasshead.explain(classify, "a warm film")


def test_a_pipeline_with_code_of_its_own_is_refused():
    class Shortened(TextClassificationPipeline):
        def preprocess(self, inputs, **settings):
            return super().preprocess(inputs[::2], **settings)

    classify = pipeline(pipeline_class=Shortened)
    with pytest.raises(InputError, match="because of the code of its class"):
        glasshead.explain(classify, "a warm film")


def test_a_pipeline_stays_as_it_was():
    classify = pipeline(truncation=True, max_length=9, limit=12)
    glasshead.explain(classify, LONG)
    assert classify.tokenizer.model_max_length == 12
    assert (classify._preprocess_params, classify.call_count) == ({"truncation": True, "max_length": 9}, 0)


def test_images_are_classified_as_the_pipeline_does_it():
    image = Image.effect_noise((30, 20), 80).convert("RGB")
    classify = hf.pipeline(
        "image-classification", model=image_model(), image_processor=processor(), top_k=1, timeout=3.0
    )
    (best,) = classify(image)
    (attribution,) = glasshead.explain(classify, [image], target=best["label"])
    assert attribution.prediction == pytest.approx(best["score"], abs=1e-4)
    sigmoids = hf.pipeline(
        "image-classification", model=image_model(), image_processor=processor(), function_to_apply="sigmoid"
    )
    (best,) = sigmoids(image, top_k=1)
    (attribution,) = glasshead.explain(sigmoids, [image], method="erasure-blur")
    assert attribution.target == best["label"]
    assert attribution.prediction == pytest.approx(best["score"], abs=1e-4)


def test_a_pipeline_that_writes_says_what_to_pass():
    model = FAMILIES["GPT2"].language_model()
    write = hf.pipeline("text-generation", model=model, tokenizer=FAMILIES["GPT2"].tokenizer())
    with pytest.raises(InputError, match="pass its model, and its tokenizer"):
        glasshead.generate(write, "a warm")
    assert glasshead.generate(write.model, "a warm", tokenizer=write.tokenizer, tokens=2).answer
    with torch.no_grad():
        assert glasshead.explain(write.model, "a warm", tokenizer=write.tokenizer, method="erasure-delete")
