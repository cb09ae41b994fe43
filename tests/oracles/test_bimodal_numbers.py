"""Bi-modal relevance: numbers of the authors' code (Chefer, Gur and Wolf 2021) for weights and gradients of
closed formulas.

Their generators for LXMERT and DETR were given blocks whose attention and gradients are those of `tensors`.
LXMERT itself reads features of boxes that another model found, which is no kind of input here, so its order
of rules is followed on the same tensors.
"""

import json
from pathlib import Path

import numpy as np
import pytest
import torch

from glasshead.explainers.bimodal_rules import attend_to_other, attend_to_own

AUTHORS = json.loads((Path(__file__).parent / "bimodal_numbers.json").read_text(encoding="utf-8"))
HEADS = 2


def tensors(number, queries, keys):
    """Weights and gradients [1, heads, queries, keys] of one attention call."""
    head, query, key = np.meshgrid(np.arange(HEADS), np.arange(queries), np.arange(keys), indexing="ij")
    scores = np.sin(1.7 * query + 0.9 * key**2 + 2.3 * head + 0.37 * number) * 2
    gradients = np.cos(0.8 * query * key + 1.1 * head + 0.61 * number + key)
    weights = torch.from_numpy(scores).softmax(dim=-1)
    return weights[None], torch.from_numpy(gradients)[None]


def combined(number, queries, keys):
    """Ā of one call."""
    weights, gradients = tensors(number, queries, keys)
    return (weights * gradients).clamp(min=0).mean(dim=1)


def start(**sizes):
    """What two streams know before any attention."""
    return {
        (one, other): torch.eye(sizes[one]).double()[None]
        if one == other
        else torch.zeros(1, sizes[one], sizes[other]).double()
        for one in sizes
        for other in sizes
    }


def test_lxmert_knows_what_the_authors_say():
    text, image = AUTHORS["sizes"]["text"], AUTHORS["sizes"]["image"]
    calls = iter(range(100))
    known = start(text=text, image=image)
    for _ in range(2):
        known = attend_to_own(known, "text", combined(next(calls), text, text))
    known = attend_to_own(known, "image", combined(next(calls), image, image))
    for last in (False, True):
        of_text = attend_to_other(known, "text", "image", combined(next(calls), text, image))
        of_image = attend_to_other(known, "image", "text", combined(next(calls), image, text))
        known = {names: (of_text if names[0] == "text" or last else of_image)[names] for names in known}
        known = attend_to_own(known, "text", combined(next(calls), text, text))
        of_image = attend_to_own(known, "image", combined(next(calls), image, image))
        known = known if last else of_image
    own = known["text", "text"][0].clone()
    own[0, 0] = 0  # they leave out what the class token knows of itself
    np.testing.assert_allclose(own, AUTHORS["lxmert"]["text"], atol=1e-5)
    np.testing.assert_allclose(known["text", "image"][0], AUTHORS["lxmert"]["image"], atol=1e-5)


def test_an_encoder_decoder_knows_what_the_authors_say_of_detr():
    queries, image = AUTHORS["sizes"]["queries"], AUTHORS["sizes"]["image"]
    calls = iter(range(100))
    known = start(queries=queries, image=image)
    for _ in range(2):
        known = attend_to_own(known, "image", combined(next(calls), image, image))
    for _ in range(2):
        known = attend_to_own(known, "queries", combined(next(calls), queries, queries))
        known = attend_to_other(known, "queries", "image", combined(next(calls), queries, image))
    np.testing.assert_allclose(known["queries", "image"][0], AUTHORS["detr"], atol=1e-5)


@pytest.mark.parametrize("name", ["lxmert", "detr"])
def test_the_numbers_are_not_all_alike(name):
    numbers = AUTHORS[name]["image"] if name == "lxmert" else AUTHORS[name]
    assert np.ptp(numbers) > 0.05
