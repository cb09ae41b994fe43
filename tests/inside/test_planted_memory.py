"""An MLP that stores what goes with each word: attribution, exchanges and the lens name exactly it."""

import pytest
import torch

import glasshead
from induction import WORDS
from memory import LAYERS, MEMORY, VALUES, memory_model


def texts_of(number):
    """A text, and the same with another last word."""
    order = torch.randperm(len(WORDS), generator=torch.Generator().manual_seed(number)).tolist()
    words = [WORDS[index] for index in order[:6]]
    return words, [*words[:-1], WORDS[order[6]]]


def memory_pairs(count=10):
    rows = []
    for clean, corrupted in map(texts_of, range(count)):
        answer, against = VALUES[clean[-1]], VALUES[corrupted[-1]]
        texts = {"clean": " ".join(clean), "corrupted": " ".join(corrupted)}
        rows.append({**texts, "answer": answer, "against": against})
    return rows


@pytest.mark.parametrize("number", range(4))
def test_attribution_gives_the_answer_to_this_mlp(number):
    model, tokenizer = memory_model()
    words, _ = texts_of(number)
    found = glasshead.logit_attribution(model, " ".join(words), tokenizer=tokenizer)
    assert found.predicted == found.target == f"“{VALUES[words[-1]]}”"
    sizes = {part.name: part.effect for part in found.parts()}
    assert max(sizes, key=sizes.get) == f"MLP {MEMORY}"
    others = [abs(size) for name, size in sizes.items() if name != f"MLP {MEMORY}"]
    assert sizes[f"MLP {MEMORY}"] > 10 * max(others)


@pytest.mark.parametrize("direction", ["denoise", "noise"])
def test_exchanges_name_this_mlp_at_the_key_and_no_other(direction):
    model, tokenizer = memory_model()
    found = glasshead.patch(model, memory_pairs(), sites="mlp", direction=direction, tokenizer=tokenizer)
    assert [(one.layer, found.columns[one.column]) for one in found.shown] == [(MEMORY, "−1")]
    assert found.shown[0].share == pytest.approx(1, abs=0.1)


@pytest.mark.parametrize("direction", ["denoise", "noise"])
def test_no_head_is_named(direction):
    model, tokenizer = memory_model()
    found = glasshead.patch(model, memory_pairs(), sites="heads", direction=direction, tokenizer=tokenizer)
    assert found.shown == []


def test_the_lens_sees_the_answer_from_this_layer_on():
    model, tokenizer = memory_model()
    words, _ = texts_of(0)
    found = glasshead.lens(model, " ".join(words), tokenizer=tokenizer)
    assert found.first_layer == f"layer {MEMORY}"
    assert len(found.layers) == LAYERS + 1
