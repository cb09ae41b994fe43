"""Of two classes what speaks against one speaks for the other, but for methods whose signs compose."""

import numpy as np
import pytest

import glasshead
from classifier_families import FAMILIES, TEXTS
from glasshead.audits import build_view
from glasshead.explainers import EXPLAINERS
from glasshead.opening import open_subject
from planted_heads import as_data
from planted_layers import KEYS, layered_model, layered_texts
from tolerances import ALL_LAYERS

SLOW = ("captum:kernel-shap", "captum:lime")
OF_IMAGES = {name for name, explainer in EXPLAINERS.items() if explainer.for_images}
METHODS = [name for name in EXPLAINERS if name not in (*SLOW, "captum:deep-lift", *OF_IMAGES)]
BOTH_RULES = pytest.mark.parametrize("method", ["gradient-attention", "gradient-attention-signed"])


@pytest.fixture(scope="module")
def bert():
    family = FAMILIES["Bert"]
    model = family.build(labels=2, id2label={0: "bad", 1: "good"}).double()
    return open_subject(model, family.tokenizer())


@pytest.mark.parametrize("method", METHODS)
def test_a_method_mirrors_classes_as_it_says(method, bert):
    """Two layers, so that a path may have a sign that is the same for both classes."""
    explainer = EXPLAINERS[method]
    bad, good = (explainer(bert.model, bert.tokenizer, TEXTS, target=target) for target in ("bad", "good"))
    one, other = (np.concatenate([each.scores for each in told]) for told in (bad, good))
    size = np.abs(one).max()
    mirrored = np.allclose(one, -other, atol=1e-6 * size) or np.allclose(one, other, atol=1e-6 * size)
    assert mirrored == explainer.mirrors_classes


@BOTH_RULES
def test_unless_a_class_is_named_the_predicted_one_is_explained(method, bert):
    told = EXPLAINERS[method](bert.model, bert.tokenizer, TEXTS)
    for text, attribution in zip(TEXTS, told, strict=True):
        (named,) = EXPLAINERS[method](bert.model, bert.tokenizer, [text], target=attribution.predicted)
        assert attribution.target == attribution.predicted
        np.testing.assert_allclose(attribution.scores, named.scores, **ALL_LAYERS)


@pytest.fixture(scope="module")
def planted():
    model, tokenizer = layered_model("[SEP]")
    return model, tokenizer, as_data(layered_texts(30))


@BOTH_RULES
def test_the_key_word_is_first_in_texts_of_either_class(method, planted):
    """Nine of ten texts are bad; class 1 is good."""
    model, tokenizer, data = planted
    context = build_view(open_subject(model, tokenizer), data, method=method)
    predicted = context.scores_towards(method, context.predicted)
    words = np.asarray(context.explanation.encoded.words) >= 0
    first = np.where(words, np.abs(context.scores), -1).argmax(axis=1)
    for row, text in enumerate(data["text"]):
        tokens = tokenizer.convert_ids_to_tokens(context.explanation.encoded.ids[row].tolist())
        assert tokens[first[row]] in KEYS, text
    np.testing.assert_allclose(np.abs(context.scores), np.abs(predicted))


@pytest.mark.parametrize(
    "method", ["gradient-attention", pytest.param("gradient-attention-signed", marks=pytest.mark.slow)]
)
def test_faithfulness_is_about_the_predicted_class(method, planted):
    model, tokenizer, data = planted
    asked = {"tokenizer": tokenizer, "method": method, "audits": ["faithfulness"], "limit": 22}
    card = glasshead.audit(model, data, **asked)
    for group in ("all", "class bad"):
        finding = card.finding(f"faithfulness.comprehensiveness.{group}")
        assert finding.over_null["random"].interval[0] > 0.1, (group, finding)
