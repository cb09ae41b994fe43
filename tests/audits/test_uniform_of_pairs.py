"""The uniform null of a model that reads two texts: each has weights of its own, which add up to one."""

import numpy as np
from datasets import ClassLabel, Dataset, Features, Value

import readable
from glasshead.audits import build_view
from glasshead.opening import open_subject


def context_of(name):
    kind = readable.family(name)
    columns = {"text": list(kind.texts), "label": [0, 1] * (len(kind.texts) // 2)}
    if kind.pairs is not None:
        columns["text_pair"] = list(kind.pairs)
    features = {column: Value("string") for column in columns} | {
        "label": ClassLabel(names=["negative", "positive"])
    }
    return build_view(
        open_subject(kind.model, kind.tokenizer), Dataset.from_dict(columns, features=Features(features))
    )


def test_uniform_weights_of_a_pair_are_those_of_each_text_by_itself():
    context = context_of("pair-encoder")
    second = (context.explanation.encoded.types.numpy() == 1) & context.mask
    first = context.mask & ~second
    assert (first.any(axis=1) & second.any(axis=1)).all()
    assert (first.sum(axis=1) != second.sum(axis=1)).any()
    for text in (first, second):
        expected = text / text.sum(axis=1, keepdims=True)
        np.testing.assert_allclose(np.where(text, context.uniform, 0), expected)
    np.testing.assert_allclose(context.uniform.sum(axis=1), 2)


def test_uniform_weights_of_a_pair_that_is_read_as_one_add_up_to_one():
    context = context_of("cross-encoder")
    np.testing.assert_allclose(context.uniform.sum(axis=1), 1)


def test_uniform_weights_of_one_text_add_up_to_one():
    context = context_of("encoder")
    np.testing.assert_allclose(context.uniform.sum(axis=1), 1)
