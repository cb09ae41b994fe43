"""What a model says of texts without some of their tokens, asked in parts of workers that hold the model."""

import pickle
from dataclasses import replace

import pytest
import torch

import readable
from glasshead.audits.on_cluster import Worker, part_of
from glasshead.data import EncodedImages, encode
from glasshead.errors import InputError
from glasshead.explainers import REMOVALS, make_context, removable
from glasshead.huggingface import isolated_copy


class InTwoProcesses:
    """As a cluster does it: everything that is sent is pickled."""

    def __init__(self, context):
        model, tokenizer = pickle.loads(pickle.dumps((context.model, context.tokenizer)))
        self.worker, self.sent = Worker(model, tokenizer, False), []

    def __call__(self, function, context, texts, removed):
        found = []
        for part in torch.arange(len(texts)).tensor_split(3):
            task = pickle.dumps((function, *part_of(context, texts[part], removed[part])))
            self.sent.append(len(task))
            found.append(self.worker.compute(*pickle.loads(task)))
        return torch.cat(found)


def contexts_of(name):
    kind = readable.KINDS[name]()
    model = isolated_copy(kind.model, torch.float64)
    context = make_context(model, encode(kind.tokenizer, kind.texts, kind.pairs), kind.tokenizer)
    return context, replace(context, in_parts=InTwoProcesses(context))


@pytest.mark.parametrize(
    ("name", "removal"),
    [
        pytest.param(name, removal, marks=() if place % 6 == number % 6 else pytest.mark.slow)
        for number, name in enumerate(readable.KINDS)
        for place, removal in enumerate(sorted(set(REMOVALS) - set(EncodedImages.removals)))
        if place % 3 == number % 3
    ],
)
def test_parts_are_the_whole(name, removal):
    here, there = contexts_of(name)
    reason = REMOVALS[removal].unsupported_reason(here)
    if reason is not None:
        with pytest.raises(InputError):
            REMOVALS[removal].logits_of_each(there)
        return
    expected = REMOVALS[removal].logits_of_each(here)
    torch.testing.assert_close(REMOVALS[removal].logits_of_each(there), expected, atol=1e-9, rtol=0)
    assert (there.in_parts.sent == []) == REMOVALS[removal].is_product(here)
    # Any sets of words, in any order.
    words = removable(here)
    texts = torch.tensor([3, 0, 5, 3, 1])
    removed = (torch.rand(5, words.shape[1], generator=torch.Generator().manual_seed(0)) < 0.4) & words[texts]
    expected = REMOVALS[removal].logits(here, texts, removed)
    torch.testing.assert_close(REMOVALS[removal].logits(there, texts, removed), expected, atol=1e-9, rtol=0)


def test_a_part_holds_its_own_texts_and_no_model():
    here, _ = contexts_of("encoder")
    words = removable(here)
    part, dtype, texts, removed = part_of(here, torch.tensor([4, 2, 4]), words[[4, 2, 4]])
    assert (part.model, part.tokenizer, dtype) == (None, None, torch.float64)
    assert part.encoded.ids.shape[0] == 2
    assert texts.tolist() == [1, 0, 1]
    assert removed.shape == (3, part.encoded.ids.shape[1])
