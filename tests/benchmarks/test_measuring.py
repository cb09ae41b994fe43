"""What the benchmark measures is what it says it measures."""

import sys
import time

import pytest
import torch

from glasshead.bench import MECHANISMS, AttentionSettings
from glasshead.bench.attention import Case, cases, literal_tanhmax, make_inputs, max_error
from glasshead.bench.timing import Spread, peak_bytes, ratios, time_interleaved, time_once
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


@pytest.mark.parametrize(("budget", "rounds"), [(3.9, 0), (4.0, 3), (12.0, 3), (42.0, 10), (4000.0, 30)])
def test_rounds_are_interleaved(monkeypatch, budget, rounds):
    """Of works of one second and of three; a first round that takes too long is the only one."""
    order = []

    def timed(work, device):
        order.append(work)
        return {"one": 1.0, "other": 3.0}[work]

    monkeypatch.setattr(sys.modules[time_interleaved.__module__], "time_once", timed)
    seconds = time_interleaved({"a": "one", "b": "other"}, budget)
    assert order == ["one", "other"] * (1 + rounds)
    assert seconds == {"a": [1.0] * max(1, rounds), "b": [3.0] * max(1, rounds)}


def test_what_is_timed_is_run():
    ran = []
    assert 0.005 < time_once(lambda: ran.append(time.sleep(0.005)), "cpu") < 60
    assert len(ran) == 1


def test_ratios_are_of_the_same_round():
    assert ratios([2.0, 8.0, 3.0], [1.0, 2.0, 3.0]) == Spread(2.0, 1.0, 4.0)


def test_the_printed_formula_is_measured_at_the_lengths_asked_for():
    """Not at the one where linear time shows, although one head would fit there."""
    for backward in (False, True):
        asked = AttentionSettings(
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
    found = list(
        cases(AttentionSettings(lengths=(2048,), kernels=("reference", "sdpa", "blockwise", "linear")))
    )
    assert {each.mechanism for each in found} == set(MECHANISMS)
    at_length = {(each.mechanism, each.kernel) for each in found if each.length == 2048}
    assert at_length >= {("tanhmax", kernel) for kernel in ("reference", "sdpa", "blockwise", "literal")}
    assert {(each.mechanism, each.kernel) for each in found if each.length != 2048} == {
        ("dot-product", "linear"),
        ("cosformer", "linear"),
    }


def test_a_matrix_too_large_is_not_held():
    found = list(
        cases(
            AttentionSettings(lengths=(16_384,), kernels=("reference", "blockwise"), mechanisms=("tanhmax",))
        )
    )
    assert [each.kernel for each in found] == ["blockwise"]


@pytest.mark.parametrize("name", MECHANISMS)
def test_the_error_is_that_of_single_precision(name):
    settings = AttentionSettings()
    case = Case(name, "blockwise", 40, 16, False, "none")
    assert max_error(case, make_inputs(case, settings)) < 1e-4


def test_the_literal_formula_is_tanhmax():
    call = make_inputs(Case("tanhmax", "literal", 12, 8, False, "none"), AttentionSettings())
    torch.testing.assert_close(literal_tanhmax(call), call.mechanism(call)[0], **ONE_MODEL)
