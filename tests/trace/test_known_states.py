"""What blocks said of texts serves later passes over them: the same numbers, in fewer passes."""

import pickle

import numpy as np
import pytest
import torch
from torch.testing import assert_close

from classifier_families import FAMILIES, TEXTS
from glasshead.data import encode
from glasshead.explainers import make_context
from glasshead.huggingface import isolated_copy
from glasshead.opening import open_subject
from glasshead.trace import KnownStates, known_states, logits_of

KEPT = ("Bert", "DistilBert", "GPT2", "Llama", "ModernBert")
MORE = (*TEXTS, "the film is one long text", "funny")


def context_of(name, known=None):
    """Texts of several lengths before a family's model in float64."""
    family = FAMILIES[name]
    subject = open_subject(family.build(), family.tokenizer())
    encoded = encode(subject.tokenizer, MORE)
    model = isolated_copy(subject.model, torch.float64)
    return make_context(model, encoded, subject.tokenizer, reads_attention=True, known=known)


@pytest.mark.parametrize("name", sorted(FAMILIES))
def test_numbers_are_those_of_whole_passes(name):
    """Weights, rows, contributions, and logits without each token; in the batch and some of it."""
    if FAMILIES[name].lacks.get("attention"):
        pytest.skip("no attention that can be edited")
    known = KnownStates()
    whole, kept = context_of(name), context_of(name, known)
    for some in (None, torch.tensor([4, 1]), torch.tensor([0])):
        one, other = (view if some is None else view.some(some) for view in (whole, kept))
        assert other.known is known
        assert_close(other.logits, one.logits, rtol=0, atol=1e-9)
        assert other.site.layer == one.site.layer
        numbers = [
            (
                view.observation.weights,
                view.observation.contributions(view.target),
                view.observation.without_each("zero-weight"),
            )
            for view in (one, other)
        ]
        for expected, actual in zip(*numbers, strict=True):
            assert_close(actual, expected, rtol=1e-9, atol=1e-9)
    if name in KEPT:
        assert known.states


@pytest.mark.parametrize("name", KEPT)
def test_the_first_block_runs_once_for_all_of_it(name):
    kept = context_of(name, KnownStates())
    kept.observation  # noqa: B018
    rows = []
    block = next(iter(kept.known.shortcuts.values())).blocks[0].module
    forward = block.forward

    def counted(*args, **options):
        rows.append(1)
        return forward(*args, **options)

    block.forward = counted
    kept.observation.contributions(kept.target)
    kept.observation.without_each("renormalise")
    part = kept.some(torch.tensor([3, 0]))
    part.observation.contributions(part.target)
    assert not rows
    whole = context_of(name)
    logits_of(kept.model, kept.encoded.inputs())
    assert rows
    assert_close(kept.logits, whole.logits, rtol=0, atol=1e-9)


def test_what_does_not_give_the_logits_of_the_model_is_not_used():
    """States that somebody has changed: the pass runs as a whole, and the layer is not skipped any more."""
    known = KnownStates()
    whole, kept = context_of("Bert"), context_of("Bert", known)
    for outputs, _ in known.states.values():
        for output in outputs.values():
            for state in [output] if isinstance(output, torch.Tensor) else output:
                state += 0.5
    assert_close(kept.observation.weights, whole.observation.weights, rtol=0, atol=1e-12)
    (shortcut,) = known.shortcuts.values()
    assert shortcut.is_whole
    assert_close(
        kept.observation.without_each("zero-weight"),
        whole.observation.without_each("zero-weight"),
        rtol=0,
        atol=1e-12,
    )


def test_what_is_kept_is_bounded(monkeypatch):
    """The texts that came last stay."""
    monkeypatch.setattr(known_states, "MOST_BYTES", 1)
    known = KnownStates()
    whole, kept = context_of("Bert"), context_of("Bert", known)
    assert not known.states
    assert known.bytes == 0
    assert_close(kept.observation.weights, whole.observation.weights, rtol=0, atol=1e-12)


def test_a_copy_that_is_sent_is_empty():
    known = KnownStates()
    context_of("Bert", known)
    assert known.states
    sent = pickle.loads(pickle.dumps(known))
    assert not sent.states
    assert not sent.models


def test_texts_without_tokens_run_as_a_whole():
    family = FAMILIES["Bert"]
    subject = open_subject(family.build(), family.tokenizer())
    encoded = encode(subject.tokenizer, ["a film", ""])
    encoded.mask[1] = False
    known = KnownStates()
    known.shortcut(subject.model, encoded, 1)
    with known.skip(subject.model, encoded.inputs(), 1) as expected:
        assert expected is None
        subject.model(**encoded.inputs())
    assert not known.states
    assert np.isfinite(encoded.ids.numpy()).all()
