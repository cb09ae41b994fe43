"""`glasshead train --penalty`, and the range in which embeddings start, as they are typed."""

import json

import pytest
from safetensors.torch import load_file

from glasshead.opening import load_run
from glasshead.training import PENALTIES
from typed import TINY, glasshead, refusal

CONTEXT = (*TINY, "--preset", "s4", "--encoder", "affine")


def test_two_penalties(tmp_path):
    out = tmp_path / "run"
    typed = ("--penalty", "context-output=0.5", "--penalty", "encoder=1")
    ran = glasshead("train", *CONTEXT, *typed, "--learning-rate", 0.1, "--out", out)
    run = load_run(out)
    assert run.record["recipe"]["penalties"] == {"context-output": 0.5, "encoder": 1.0}
    values = {name: PENALTIES[name](run.model).item() for name in PENALTIES}
    for name, value in values.items():
        assert f"penalty {name}: " in ran.stdout
        assert f"{value:.3g} in the epoch kept" in " ".join(ran.stdout.split())
    glasshead("train", *CONTEXT, "--learning-rate", 0.1, "--out", tmp_path / "without")
    without = load_run(tmp_path / "without").model
    # One weight c shrinks Σ θ² by (1 − 2ηc)² a step.
    assert values["encoder"] < 0.2 * PENALTIES["encoder"](without).item()


def test_embeddings_start_in_the_range_that_is_set(tmp_path):
    most = {}
    for bound in (0.01, 0.3):
        out = tmp_path / str(bound)
        # Steps too small to move anything.
        options = ("--set", f"initializer_range={bound}", "--learning-rate", 1e-9)
        glasshead("train", *TINY, "--preset", "s4", *options, "--out", out)
        assert json.loads((out / "config.json").read_text())["initializer_range"] == bound
        most[bound] = load_file(out / "model.safetensors")["embedding.weight"].abs().max().item()
    assert all(0.99 * bound < value <= bound * 1.0001 for bound, value in most.items())


@pytest.mark.parametrize(
    ("typed", "says"),
    [
        (("context-output",), "'context-output' is not NAME=NUMBER"),
        (("context-output=much",), "'context-output=much' is not NAME=NUMBER"),
        (("context-output=inf",), "is not NAME=NUMBER"),
        (("context-output=-1",), "must be 0 or a positive number, not -1"),
        (("context-outptu=1",), "did you mean 'context-output'?"),
        (("context-output=1", "--score", "query-key"), "no context vector V: use --score context"),
        (("context-output=1", "--d-v", "4"), "use --set value_dim=null"),
        (("encoder=1", "--encoder", "none"), "there is no encoder: use --encoder affine or lstm"),
        (("encoder=1", "--set", "penalties=3"), "--penalty must be a mapping, not 3"),
    ],
)
def test_refused(tmp_path, typed, says):
    assert says in refusal(
        tmp_path, "train", *CONTEXT, "--penalty", *typed, "--out", tmp_path / "new" / "run"
    )


@pytest.mark.parametrize("model", ["encoder", "hierarchical"])
def test_refused_for_other_models(tmp_path, model):
    arguments = ("train", *TINY, "--model", model, "--penalty", "encoder=1", "--out", tmp_path / "run")
    assert f"penalties are for the model 'pooled', not '{model}'" in refusal(tmp_path, *arguments)
