"""Why this next token: numbers of inseq for a GPT-2 of closed formulas.

Its weights are those of tests/closed_forms.py. inseq was given the same model and the target as a constrained
answer: `attention` by layer as the mean over heads, `saliency` by its Euclidean norm, `input_x_gradient` as a
sum over the embedding, `occlusion`, which puts the unknown token in the place of each and keeps sizes.
"""

import json
from pathlib import Path

import numpy as np
import pytest

import glasshead
from classifier_families import word_tokenizer
from closed_forms import closed_form_gpt2

INSEQ = json.loads((Path(__file__).parent / "inseq_numbers.json").read_text(encoding="utf-8"))
PARITY = {"rtol": 1e-5, "atol": 1e-9}
TARGETS = {"logit": "logit", "probability": "probability", "contrast_logits_diff": None}
METHODS = {"gradient-l2": "gradient-l2", "gradient": "gradient", "erasure": "erasure-unknown-token"}


@pytest.fixture(scope="module")
def subject():
    return glasshead.open(closed_form_gpt2(), word_tokenizer(""), dtype="float64")


def explained(subject, **options):
    return glasshead.explain(subject, INSEQ["text"], target=INSEQ["target"], **options)[0].scores


@pytest.mark.parametrize("layer", [0, 1])
def test_attention(subject, layer):
    np.testing.assert_allclose(
        explained(subject, layer=layer, row="last"), INSEQ["attention"][layer], rtol=1e-5, atol=1e-7
    )


@pytest.mark.parametrize("key", [key for key in INSEQ if key.split()[0] in METHODS])
def test_gradients_and_erasure(subject, key):
    method, function = key.split()
    options = {"against": INSEQ["against"]} if function.startswith("contrast") else {}
    ours = np.array(explained(subject, method=METHODS[method], target_fn=TARGETS[function], **options))
    theirs = np.array(INSEQ[key])
    np.testing.assert_allclose(np.abs(ours) if method == "erasure" else ours, theirs, **PARITY)
    assert np.ptp(theirs) > 1e-5
