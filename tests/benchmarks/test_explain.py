"""All ways of the benchmark of explanations are measured, and flows are the same flows."""

import pytest

from glasshead.bench import ExplainSettings, measure_explain
from glasshead.errors import InputError
from glasshead.explainers import EXPLAINERS, LayerwiseRelevance, StackExplainer


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


def test_a_text_of_the_benchmark_has_tokens():
    with pytest.raises(InputError, match="tokens"):
        ExplainSettings(tokens=(2,))
