"""Two runs or records are alike: equal but for the last digits of floats, which a CPU is free to choose."""

import pytest
import torch
from safetensors.torch import load_file

from tolerances import ALL_LAYERS


def assert_same_weights(one, other):
    """Two folders hold the same model."""
    ours, theirs = (load_file(run / "model.safetensors") for run in (one, other))
    assert ours.keys() == theirs.keys()
    for name, weight in ours.items():
        torch.testing.assert_close(weight, theirs[name], **ALL_LAYERS)


def assert_alike(one, other, where="here"):
    """Two values of JSON, whatever is nested in them."""
    if isinstance(one, dict) and isinstance(other, dict):
        assert one.keys() == other.keys(), where
        for key, value in one.items():
            assert_alike(value, other[key], f"{where}.{key}")
    elif isinstance(one, list | tuple) and isinstance(other, list | tuple):
        assert len(one) == len(other), where
        for place, (ours, theirs) in enumerate(zip(one, other, strict=True)):
            assert_alike(ours, theirs, f"{where}[{place}]")
    elif isinstance(one, float) and isinstance(other, float):
        assert one == pytest.approx(other, rel=1e-4, abs=1e-5, nan_ok=True), where
    else:
        assert one == other, where
