"""A model stays on its device: everything is computed there, and what is found is the same."""

import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from classifier_data import table

PROGRAM = Path(__file__).with_name("pretend_gpu_program.py")


@pytest.mark.slow
def test_nothing_leaves_a_device_on_its_way(tmp_path):
    """A pretended device refuses whatever meets a tensor of the CPU, as a real one does."""
    data = table(tmp_path / "data.csv", 60)
    ended = subprocess.run(
        [sys.executable, PROGRAM, data, "Bert", "GPT2", "MPNet"],
        env=os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)},
        capture_output=True,
        text=True,
    )
    assert ended.returncode == 0, ended.stderr[-2000:]
    for (kind, *here), (other_kind, *there) in json.loads(ended.stdout.splitlines()[-1]).values():
        assert (kind, other_kind) == ("cpu", "pretend")
        for values, others in zip(here, there, strict=True):
            values, others = np.array(values, dtype=float), np.array(others, dtype=float)
            np.testing.assert_allclose(others, values, rtol=1e-4, atol=1e-5)
