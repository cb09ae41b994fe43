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
    assert "ignoring case" in note
    with pytest.raises(InputError, match="the data have pos, neg"):
        align_labels(["POS", "Pos"], ["pos", "neg"])


@pytest.mark.parametrize("model", [UNNAMED, ["bad", "fair", "good"]])
@pytest.mark.parametrize("data", [["0", "2"], ["0.0", "2.0"], ["2", "0"]])
def test_numbers_are_classes_in_the_models_order(model, data):
    order, note = align_labels(model, data)
    assert order.tolist() == [int(float(name)) for name in data]
    assert f"{model[0]} is taken for the data's class 0" in note
    assert note.endswith(", and so on")


@pytest.mark.parametrize("data", [["False", "True"], ["LABEL_0", "LABEL_1"], ["0", "1"], ["0.0", "1.0"]])
def test_two_classes_by_number(data):
    order, note = align_labels(["NEGATIVE", "POSITIVE"], data)
    assert order.tolist() == [0, 1]
    assert f"NEGATIVE is taken for the data's class {data[0]}, POSITIVE for {data[1]}" in note


@pytest.mark.parametrize(
    "data", [["1", "2", "3"], ["0", "3"], ["0", "0.0"], ["0", "fair"], ["False", "True"]]
)
def test_what_numbers_no_class_of_the_model_is_none(data):
    with pytest.raises(InputError):
        align_labels(["bad", "medium", "good"], data)


@pytest.mark.parametrize(
    ("model", "data"),
    [
        (["LABEL_1", "LABEL_0"], ["0", "1"]),
        (["1", "0"], ["0.0", "1.0"]),
        (["1", "0"], ["False", "True"]),
        (["true", "false"], ["0", "1"]),
        (["1", "2", "3"], ["0", "1", "2"]),
    ],
)
def test_names_of_the_model_that_say_other_numbers_are_not_overruled(model, data):
    with pytest.raises(InputError, match="which is which"):
        align_labels(model, data)


def test_names_come_before_numbers():
    assert align_labels(["LABEL_1", "LABEL_0"], ["LABEL_0", "LABEL_1"])[0].tolist() == [1, 0]
    assert align_labels(["1", "0"], ["0", "1"])[0].tolist() == [1, 0]


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
