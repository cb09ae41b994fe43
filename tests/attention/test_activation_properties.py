"""Table 3 of Huang, Yang and Wang (2024) from the code, and the measurement behind it."""

from dataclasses import asdict, dataclass

import pytest
import torch

from glasshead.attention import ACTIVATIONS, Activation, ElementwiseRatio
from glasshead.attention.activation import properties_of
from glasshead.attention.activation_properties import ActivationProperties

# The table as it is printed, in its order of columns; sigmoid is not in it, but called log-nonlinear after
# Kanai et al. (2018) in the text. Cosformer is sum normalisation of scores that are not negative. Nor is
# uniform in it, which reads no score.
TABLE_3 = {
    #                mono   log-nonlinear  normalised  origin-symmetric
    "softmax": (True, False, True, False),
    "relu": (True, True, False, False),
    "dot-product": (True, True, False, True),
    "sigsoftmax": (True, True, True, False),
    "sum": (True, True, True, False),
    "tanhmax": (True, True, True, True),
    "sigmoid": (True, True, True, False),
    "uniform": (False, False, False, False),
}
COLUMNS = ("monotone", "log_nonlinear", "normalised", "origin_symmetric")


@pytest.mark.parametrize("name", list(TABLE_3))
def test_table_3_is_declared_and_measured(name):
    facts = asdict(properties_of(ACTIVATIONS[name]()))
    assert tuple(facts[column] for column in COLUMNS) == TABLE_3[name]
    assert tuple(vars(ACTIVATIONS[name])[column] for column in COLUMNS) == TABLE_3[name]


def test_tanhmax_is_the_only_one_with_all_four():
    assert [name for name in TABLE_3 if all(TABLE_3[name])] == ["tanhmax"]


def test_signs_and_sums():
    signed = {name for name in TABLE_3 if ACTIVATIONS[name].signed}
    ones = {name for name in TABLE_3 if ACTIVATIONS[name].rows_sum_to_one}
    assert signed == {"dot-product", "tanhmax"}
    assert ones == {"softmax", "sigsoftmax", "sigmoid", "sum", "uniform"}


def test_the_domain_decides_whether_rows_of_sum_add_up_to_one():
    """A row of negative scores has no weight at all: it is beyond the domain of a plain sum."""

    class Everywhere(ACTIVATIONS["sum"]):
        domain = (-4.0, 4.0)

    assert ACTIVATIONS["sum"].domain == (0.0, 4.0)
    assert not properties_of(Everywhere()).rows_sum_to_one
    assert asdict(properties_of(Everywhere())) | {"rows_sum_to_one": True} == asdict(
        properties_of(ACTIVATIONS["sum"]())
    )


def ratio(g, h):
    return type(
        "Written",
        (ElementwiseRatio,),
        {"g": lambda self, s: g(s), "h": lambda self, s: h(s), "paper": "a test"},
    )()


@pytest.mark.parametrize(
    ("activation", "fact", "value"),
    [
        (ratio(torch.exp, torch.exp), "log_nonlinear", False),
        (ratio(lambda s: torch.exp(-s), lambda s: torch.exp(-s)), "monotone", False),
        (ratio(torch.ones_like, torch.ones_like), "monotone", False),
        (ratio(torch.sin, torch.cosh), "monotone", False),
        (ratio(lambda s: s**3, torch.cosh), "monotone", True),
        (ratio(lambda s: s**3, torch.cosh), "origin_symmetric", True),
        (ratio(lambda s: s**3, torch.exp), "origin_symmetric", False),
        (ratio(lambda s: s**3 + 0.01, torch.cosh), "origin_symmetric", False),
        (ratio(torch.exp, torch.ones_like), "normalised", False),
        (ratio(torch.exp, torch.cosh), "rows_sum_to_one", False),
        (ratio(torch.exp, torch.cosh), "signed", False),
        (ratio(lambda s: s + 3.9, torch.cosh), "signed", True),
    ],
)
def test_what_the_measurement_tells_apart(activation, fact, value):
    assert getattr(properties_of(activation), fact) is value
    assert getattr(activation, fact) is value


def test_monotone_is_about_g_not_about_the_normaliser():
    """g = s, h = 1 + s⁴: raising a large score lowers its own weight; keys stay in the order of scores."""
    activation = ratio(lambda s: s, lambda s: 1 + s**4)
    mask = torch.ones(2, dtype=torch.bool)
    low, high = (activation.weights(torch.tensor([s, 0.1]), mask)[0] for s in (2.0, 3.0))
    assert high < low
    assert activation.monotone


def test_hyper_parameters_decide_for_the_instance():
    @dataclass(frozen=True)
    class Power(ElementwiseRatio):
        """g = s^n, h = |s|^n."""

        exponent_: int = 2
        paper = "a test"

        def g(self, s):
            return s**self.exponent_

        def h(self, s):
            return s.abs() ** self.exponent_

    assert (Power.signed, Power.rows_sum_to_one, Power.monotone) == (False, True, False)
    odd = Power(3)
    assert (odd.signed, odd.rows_sum_to_one, odd.monotone) == (True, False, True)
    assert odd == Power(3)
    assert Power.signed is False


def test_a_measured_fact_is_measured_once():
    calls = []
    activation = ratio(lambda s: calls.append(1) or s, torch.cosh)
    first = activation.signed
    seen = len(calls)
    assert seen > 0
    assert activation.signed is first is True
    assert len(calls) == seen


def test_models_built_on_no_device_can_be_asked():
    with torch.device("meta"):
        assert isinstance(properties_of(ACTIVATIONS["tanhmax"]()), ActivationProperties)
        assert ratio(torch.sinh, torch.cosh).signed is True


def test_measuring_disturbs_nobody():
    before = torch.random.get_rng_state()
    properties_of(ACTIVATIONS["softmax"]())
    assert torch.equal(before, torch.random.get_rng_state())


def test_the_abstract_classes_have_no_facts_of_their_own():
    """So that documentation tools can look at them."""
    for abstract in (Activation, ElementwiseRatio):
        assert not isinstance(abstract.signed, bool)
