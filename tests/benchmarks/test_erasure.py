"""All ways of a benchmark give the same numbers, in the tables of a small model."""

import pytest

from glasshead.bench import AuditSettings, measure_audit
from glasshead.errors import InputError


def test_every_way_gives_the_same_numbers_and_is_measured():
    settings = AuditSettings(layers=(2,), texts=2, draws=2, hidden_size=24, heads=2, budget=0.01)
    results = list(measure_audit(settings))
    assert len({result.work for result in results}) == 3
    assert {result.way for result in results} == {"from the layer on", "the whole model", "Captum"}
    for result in results:
        assert result.error < 1e-9
        assert result.seconds.median > 0
        assert (result.faster.median == 1) == (result.way == "from the layer on")


def test_a_model_has_layers():
    with pytest.raises(InputError, match="layers"):
        AuditSettings(layers=(0,))
