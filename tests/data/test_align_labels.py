"""Which class of the data is which class of the model."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from glasshead.data import align_labels
from glasshead.errors import InputError

UNNAMED = ["LABEL_0", "LABEL_1", "LABEL_2"]


@given(st.permutations(["bad", "fair", "good", "great"]), st.integers(1, 4))
def test_names_are_matched_in_any_order(data, kept):
    model = ["bad", "fair", "good", "great"]
    order, note = align_labels(model, data[:kept])
    assert [model[index] for index in order] == data[:kept]
    assert (note is None) == (data[:kept] == model[:kept])


def test_case_matters_only_where_it_tells_classes_apart():
    order, note = align_labels(["NEG", "POS"], ["pos", "neg"])
    assert order.tolist() == [1, 0]
    assert "whatever their case" in note
    with pytest.raises(InputError, match="the data have pos, neg"):
        align_labels(["POS", "Pos"], ["pos", "neg"])


def test_numbers_are_classes_that_nobody_named():
    order, note = align_labels(UNNAMED, ["0", "2"])
    assert order.tolist() == [0, 2]
    assert "LABEL_0 is taken for the data's class 0" in note
    with pytest.raises(InputError):
        align_labels(UNNAMED, ["1", "2", "3"])
    with pytest.raises(InputError):
        align_labels(["LABEL_1", "LABEL_0"], ["0", "1"])


def test_a_refusal_has_the_mapping_to_copy():
    with pytest.raises(InputError, match="as in LABEL_0=negative, LABEL_1=positive") as refusal:
        align_labels(UNNAMED[:2], ["negative", "positive"])
    assert "\n" not in str(refusal.value)
    with pytest.raises(InputError, match="these are 3 classes for 2"):
        align_labels(["negative", "positive"], ["a", "b", "c"])


def test_labels_are_moved_by_the_order():
    order, _ = align_labels(["NEG", "POS"], ["POS", "NEG"])
    assert order[np.array([0, 0, 1])].tolist() == [1, 1, 0]


def test_numbers_that_do_not_begin_with_0_may_mean_anything():
    with pytest.raises(InputError, match="as in LABEL_0=0, LABEL_1=1, LABEL_2=2"):
        align_labels(["LABEL_0", "LABEL_1", "LABEL_2"], ["1", "2"])
    order, note = align_labels(["LABEL_0", "LABEL_1", "LABEL_2"], ["0", "2"])
    assert order.tolist() == [0, 2]
    assert note is not None
