"""What the benchmark measures is what it says it measures."""

import time

import pytest
import torch

from glasshead.bench import MECHANISMS, Settings
from glasshead.bench.attention import Case, cases, error, literal, made
from glasshead.bench.measure import Spread, interleaved, peak_bytes, ratios
from tolerances import ONE_MODEL

MIB = 2**20


def mebibytes(n):
    return torch.zeros(n * MIB // 4)


def test_the_peak_counts_what_lives_at_one_time():
    def one_after_another():
        for _ in range(3):
            mebibytes(2)

    assert peak_bytes(one_after_another) == 2 * MIB
    assert peak_bytes(lambda: [mebibytes(2) for _ in range(3)]) == 6 * MIB


def test_the_peak_counts_no_views_and_no_inputs():
    given = mebibytes(8)
    assert peak_bytes(lambda: given.view(2, -1).T[1:].mul_(2)) == 0
    assert peak_bytes(lambda: (given + 1).view(2, -1)) == 8 * MIB


def test_the_peak_counts_what_the_backward_pass_needs():
    x = torch.ones(MIB // 4, requires_grad=True)
    # exp keeps its result; its gradient and the gradient of the sum come on top
    assert 2 * MIB <= peak_bytes(lambda: torch.autograd.grad(x.exp().sum(), x)) <= 4 * MIB


def test_rounds_are_interleaved():
    order = []
    seconds = interleaved({"a": lambda: order.append("a"), "b": lambda: order.append("b")}, 0.01)
    assert order == ["a", "b"] * (len(order) // 2)
    assert len(seconds["a"]) == len(seconds["b"]) == len(order) // 2 - 1 == 30


def test_long_work_runs_once():
    assert len(interleaved({"a": lambda: time.sleep(0.02)}, 0.01)["a"]) == 1


def test_ratios_are_of_the_same_round():
    assert ratios([2.0, 8.0, 3.0], [1.0, 2.0, 3.0]) == Spread(2.0, 1.0, 4.0)


def test_the_printed_formula_is_measured_at_the_lengths_asked_for():
    """Not at the one where linear time shows, although one head would fit there."""
    for backward in (False, True):
        asked = Settings(
            lengths=(64, 128),
            heads=1,
            mechanisms=("softmax", "tanhmax"),
            kernels=("sdpa",),
            backward=backward,
        )
        found = [each for each in cases(asked) if each.kernel == "literal"]
        assert {(each.mechanism, each.length) for each in found} == {("tanhmax", 64), ("tanhmax", 128)}
        assert len(found) == 2 * (1 + backward)
        assert all(each.length in asked.lengths for each in cases(asked))


def test_every_mechanism_and_its_kernels_are_cases():
    found = list(cases(Settings(lengths=(2048,), kernels=("reference", "sdpa", "blockwise", "linear"))))
    assert {each.mechanism for each in found} == set(MECHANISMS)
    at_length = {(each.mechanism, each.kernel) for each in found if each.length == 2048}
    assert at_length >= {("tanhmax", kernel) for kernel in ("reference", "sdpa", "blockwise", "literal")}
    assert {(each.mechanism, each.kernel) for each in found if each.length != 2048} == {
        ("dot-product", "linear"),
        ("cosformer", "linear"),
    }


def test_a_matrix_too_large_is_not_held():
    found = list(
        cases(Settings(lengths=(16_384,), kernels=("reference", "blockwise"), mechanisms=("tanhmax",)))
    )
    assert [each.kernel for each in found] == ["blockwise"]


@pytest.mark.parametrize("name", MECHANISMS)
def test_the_error_is_that_of_single_precision(name):
    settings = Settings()
    case = Case(name, "blockwise", 40, 16, False)
    assert error(case, made(case, settings)) < 1e-4


def test_the_literal_formula_is_tanhmax():
    call = made(Case("tanhmax", "literal", 12, 8, False), Settings())
    torch.testing.assert_close(literal(call), call.mechanism(call)[0], **ONE_MODEL)
