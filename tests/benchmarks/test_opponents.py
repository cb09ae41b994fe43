"""All ways of a benchmark are measured, and give the same numbers."""

import json

import numpy as np
import pytest
import torch

from benchmarks import attention, training
from benchmarks.attention import (
    MECHANISMS,
    AttentionSettings,
    Case,
    cases,
    literal_tanhmax,
    make_inputs,
    max_error,
)
from benchmarks.erasure import ErasureSettings, measure_erasure
from benchmarks.explain import ExplainSettings, measure_explain
from benchmarks.identifiability import (
    WARM,
    IdentifiabilitySettings,
    measure_identifiability,
    random_row,
    solve_cold,
    solve_warm,
)
from benchmarks.patching import PatchingSettings, measure_patching
from glasshead.explainers import EXPLAINERS, LayerwiseRelevance, StackExplainer
from glasshead.identifiability import intervals
from tolerances import ONE_MODEL


def test_exchanges_by_every_way_give_the_same_numbers():
    results = {result.way: result for result in measure_patching(PatchingSettings(3, 3, 24, 4, 9, 0.01))}
    assert set(results) == {"loop", "exact", "attribution"}
    assert results["exact"].error < 1e-5


def test_erasure_by_every_way_gives_the_same_numbers():
    settings = ErasureSettings(layers=(2,), texts=2, draws=2, hidden_size=24, heads=2, budget=0.01)
    results = list(measure_erasure(settings))
    assert len({result.work for result in results}) == 3
    assert {result.way for result in results} == {"from the layer on", "the whole model", "Captum"}
    for result in results:
        assert result.error < 1e-9
        assert result.seconds.median > 0
        assert (result.faster.median == 1) == (result.way == "from the layer on")


def test_every_method_is_measured_and_flows_agree():
    settings = ExplainSettings(tokens=(8,), layers=2, hidden_size=24, heads=2, budget=0.01)
    results = list(measure_explain(settings))
    kinds = StackExplainer | LayerwiseRelevance
    stack = {name for name, one in EXPLAINERS.items() if isinstance(one, kinds)}
    methods = [result for result in results if result.error is None]
    assert stack < {result.way for result in methods}
    assert methods[0].ratio.median == 1
    flows = [result for result in results if result.error is not None]
    assert len(flows) == 4
    assert max(result.error for result in flows) < 1e-7
    assert min(result.seconds.median for result in results) > 0


@pytest.mark.parametrize(("tokens", "size"), [(6, 2), (12, 5), (5, 8)])
def test_linear_programs_give_our_intervals(tokens, size):
    T, a = random_row(tokens, size, 0)
    expected = solve_cold(T, a, np.arange(tokens))
    ours = intervals(T, a)
    np.testing.assert_allclose(np.stack([ours.low, ours.high]), expected, atol=1e-8)
    for options in WARM.values():
        np.testing.assert_allclose(solve_warm(T, a, options), expected, atol=1e-8)


def test_intervals_and_ranks_are_measured(monkeypatch):
    monkeypatch.setattr("os.cpu_count", lambda: 1)  # no other processes for so little
    settings = IdentifiabilitySettings(cases=((9, 4),), rows=2, budget=1e-9, heads=2, texts=3)
    results = list(measure_identifiability(settings))
    assert [(each.work, each.way) for each in results] == [
        ("intervals", "linprog, cold"),
        ("intervals", "HiGHS, warm dual"),
        ("intervals", "HiGHS, warm primal"),
        ("intervals", "one process"),
        ("ranks", "forward pass"),
        ("ranks", "ranks"),
    ]
    assert all(each.error < 1e-9 for each in results[1:4])
    assert results[3].per_weight == pytest.approx(results[3].seconds.median / 9)
    assert results[0].faster.median == results[4].faster.median == 1
    assert 1 in [each.over_warm.median for each in results[1:3]]


def test_attention_is_printed_and_written(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(AttentionSettings, "budget", 1e-9)
    out = tmp_path / "results.json"
    words = [
        "--lengths",
        "8",
        "24",
        "--mechanisms",
        "tanhmax",
        "dot-product",
        "--backward",
        "--out",
        str(out),
    ]
    attention.main(words)
    page = json.loads(out.read_text(encoding="utf-8"))
    measured = {(each["mechanism"], each["kernel"]) for each in page["results"]}
    assert measured == {
        ("tanhmax", "sdpa"),
        ("tanhmax", "blockwise"),
        ("tanhmax", "literal"),
        ("dot-product", "blockwise"),
        ("dot-product", "linear"),
    }
    assert len(page["results"]) == 5 * 2 * 2  # two lengths, two ways
    assert page["settings"]["dtype"] == "float32"
    assert all(each["error"] < 1e-5 for each in page["results"])
    printed = capsys.readouterr().out
    assert page["machine"]["processor"] in printed
    assert "24 tokens, heads of 64, float32, forward and backward" in printed


def test_masks_and_types(capsys):
    names = ["--mechanisms", "tanhmax", "--kernels", "sdpa", "reference", "--dtype", "bfloat16"]
    attention.main(["--lengths", "24", *names, "--masks", "padding", "window"])
    assert "24 tokens, heads of 64, bfloat16, window mask, forward" in capsys.readouterr().out


@pytest.mark.slow
def test_training_is_printed(monkeypatch, capsys):
    monkeypatch.setattr(training.TrainingSettings, "tokens", 16)
    monkeypatch.setattr(training.TrainingSettings, "budget", 1e-9)
    training.main(["--lengths", "8", "--mechanisms", "shaw"])
    printed = capsys.readouterr().out
    for said in ("8 tokens, a training step of the encoder", "shaw", "head by head"):
        assert said in printed


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
    kernels = ("reference", "sdpa", "blockwise", "linear")
    found = list(cases(AttentionSettings(lengths=(2048,), kernels=kernels)))
    assert {each.mechanism for each in found} == set(MECHANISMS)
    at_length = {(each.mechanism, each.kernel) for each in found if each.length == 2048}
    assert at_length >= {("tanhmax", kernel) for kernel in ("reference", "sdpa", "blockwise", "literal")}
    assert {(each.mechanism, each.kernel) for each in found if each.length != 2048} == {
        ("dot-product", "linear"),
        ("cosformer", "linear"),
    }


def test_a_matrix_too_large_is_not_held():
    asked = AttentionSettings(lengths=(16_384,), kernels=("reference", "blockwise"), mechanisms=("tanhmax",))
    assert [each.kernel for each in cases(asked)] == ["blockwise"]


@pytest.mark.parametrize("name", MECHANISMS)
def test_the_error_is_that_of_single_precision(name):
    case = Case(name, "blockwise", 40, 16, False, "none")
    assert max_error(case, make_inputs(case, AttentionSettings())) < 1e-4


def test_the_literal_formula_is_tanhmax():
    call = make_inputs(Case("tanhmax", "literal", 12, 8, False, "none"), AttentionSettings())
    torch.testing.assert_close(literal_tanhmax(call), call.mechanism(call)[0], **ONE_MODEL)
