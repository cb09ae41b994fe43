"""A model comes out of what is sent to workers as it went in: its numbers, and which of them are one."""

from dataclasses import replace

import pytest
import torch

from classifier_families import FAMILIES
from glasshead.audits.measuring.sent_model import TENSORS, Holding, put_together, take_apart
from glasshead.huggingface import isolated_copy
from glasshead.opening import open_subject


def held(name="Bert", dtype=torch.float64):
    family = FAMILIES[name]
    subject = open_subject(family.build(labels=2), family.tokenizer())
    return Holding(subject, isolated_copy(subject.model, dtype))


@pytest.mark.parametrize("name", ["Bert", "GPT2", "Llama"])
def test_every_tensor_comes_back_in_its_precision(name, tmp_path):
    sent = held(name)
    sent.to_files(tmp_path)
    for got in (Holding.of_files(tmp_path), Holding.of_bytes(*sent.to_bytes())):
        for own, theirs in ((sent.model, got.model), (sent.subject.model, got.subject.model)):
            assert [key for key, _ in own.named_buffers()] == [key for key, _ in theirs.named_buffers()]
            pairs = zip(
                [*own.named_parameters(), *own.named_buffers()],
                [*theirs.named_parameters(), *theirs.named_buffers()],
                strict=True,
            )
            for (key, one), (other_key, other) in pairs:
                assert key == other_key
                assert (type(one), one.dtype, one.requires_grad) == (
                    type(other),
                    other.dtype,
                    other.requires_grad,
                )
                torch.testing.assert_close(one, other, rtol=0, atol=0)


def test_a_tensor_is_sent_once_whatever_holds_it(tmp_path):
    """Tied weights, a copy in the same precision, views of one piece of memory, and none of their numbers
    in the pickle."""
    sent = held(dtype=torch.float32)
    model = sent.model
    model.tied = model.bert.embeddings.word_embeddings
    model.same_numbers = model.classifier.weight.data
    model.transposed = model.classifier.weight.data.T
    model.nothing, model.also_nothing = torch.empty(0), torch.empty(0, 3)
    structure, tensors = take_apart(sent)
    distinct = {parameter.data_ptr() for parameter in [*model.parameters(), *model.buffers()]}
    assert len(tensors) == len(distinct) + 3
    assert len(structure) < sum(tensor.nbytes for tensor in tensors.values())
    got = put_together(structure, tensors).model
    assert got.tied.weight is got.bert.embeddings.word_embeddings.weight
    assert got.same_numbers.data_ptr() == got.classifier.weight.data_ptr()
    torch.testing.assert_close(got.transposed, model.transposed, rtol=0, atol=0)
    assert (got.nothing.shape, got.also_nothing.shape) == ((0,), (0, 3))


def test_workers_map_the_file(tmp_path):
    """No memory of their own, and what they write is not in the file."""
    sent = held()
    sent.to_files(tmp_path)
    one, other = Holding.of_files(tmp_path), Holding.of_files(tmp_path)
    with open("/proc/self/maps") as maps:
        assert TENSORS in maps.read()
    with torch.no_grad():
        one.model.classifier.weight.zero_()
    torch.testing.assert_close(other.model.classifier.weight, sent.model.classifier.weight, rtol=0, atol=0)
    assert replace(one.subject, model=sent.subject.model).labels == sent.subject.labels


@pytest.mark.parametrize("name", ["Bert", "Llama"])
def test_a_model_that_has_shown_its_attention_is_sent_too(name):
    """Such a pass leaves hooks of Transformers behind, which still work after the journey."""
    family = FAMILIES[name]
    model, ids = family.build(labels=2), torch.tensor([[3, 4, 5]])
    model(input_ids=ids, output_attentions=True)
    sent = Holding(open_subject(model, family.tokenizer()), model)
    got = Holding.of_bytes(*sent.to_bytes()).model
    own, theirs = (each(input_ids=ids, output_hidden_states=True).hidden_states for each in (model, got))
    assert len(own) == len(theirs) > 1
    torch.testing.assert_close(theirs, own)
