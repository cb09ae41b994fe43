"""`glasshead doctor`, as it is typed."""

import json

import pytest

from families import FAMILIES, STOPPED
from glasshead.models import EncoderClassifier, PooledClassifier
from typed import glasshead, refusal


def saved(folder, model):
    model.save_pretrained(folder)
    return folder


def test_the_command(tmp_path):
    folder = saved(tmp_path / "bert", FAMILIES["bert"].build())
    printed = glasshead("doctor", folder, "--attention", "tanhmax").stdout
    assert "can be plugged" in printed
    assert "2 × BertSelfAttention" in printed
    assert printed.index("As with most models") < printed.index("gradient checkpointing: training works")
    assert "!" not in printed
    assert max(map(len, printed.splitlines())) <= 80 + len(str(folder))
    found = json.loads(glasshead("doctor", folder, "--attention", "tanhmax", "--format", "json").stdout)
    assert found["healthy"]
    assert found["layers"][0]["modules"] == [
        "encoder.layer.0.attention.self",
        "encoder.layer.1.attention.self",
    ]
    assert found["attention"] == "tanhmax"
    refused = saved(tmp_path / "mpnet", STOPPED["mpnet"]())
    assert "✗ not dispatched" in glasshead("doctor", refused, code=1).stdout
    without = saved(tmp_path / "mamba", STOPPED["mamba"]())
    printed = glasshead("doctor", without, code=1).stdout
    assert "MambaModel has no attention" in printed
    assert "computes its attention itself" not in printed


def test_a_text_that_is_too_long_for_the_model(tmp_path):
    folder = saved(tmp_path / "roberta", FAMILIES["roberta"].build())
    assert "63 tokens" in glasshead("doctor", folder).stdout
    printed = glasshead("doctor", folder, "--length", "64", code=1).stdout
    assert "can be plugged, but a call fails" in printed
    assert "→ cut texts to 63 tokens" in printed


@pytest.mark.parametrize(
    ("model", "options", "attention", "weights"),
    [
        (PooledClassifier, {"activation": "tanhmax"}, "tanhmax", ["in the output"]),
        (
            EncoderClassifier,
            {"attention": "tanhmax+distance-aware", "pooling": "attention"},
            "tanhmax+distance-aware",
            ["recorded", "recorded"],
        ),
    ],
)
def test_a_run_of_ours(model, options, attention, weights, tmp_path):
    folder = saved(tmp_path / "run", model(model.config_class(vocab_size=60, **options)))
    assert f"its attention is built in: {attention}" in glasshead("doctor", folder).stdout
    found = json.loads(glasshead("doctor", folder, "--format", "json").stdout)
    assert found["healthy"]
    assert found["attention"] == attention
    assert [layers["weights"] for layers in found["layers"]] == weights
    assert not found["diagnostics"]
    asked = glasshead("doctor", folder, "--attention", "softmax", code=1).stdout
    assert "✗ built in" in asked


def test_the_command_refuses_what_is_no_model(tmp_path):
    (tmp_path / "folder").mkdir()
    (tmp_path / "text.txt").write_text("hello")
    (tmp_path / "broken").mkdir()
    (tmp_path / "broken" / "config.json").write_text("{")
    assert "there is no folder" in refusal(tmp_path, "doctor", tmp_path / "nowhere")
    for name in ("folder", "text.txt", "broken"):
        assert "no model that transformers knows" in refusal(tmp_path, "doctor", tmp_path / name)
    model = saved(tmp_path / "bert", FAMILIES["bert"].build())
    assert "did you mean 'tanhmax'" in refusal(tmp_path, "doctor", model, "--attention", "tanmax")
    assert "no device 'abacus'" in refusal(tmp_path, "doctor", model, "--device", "abacus")
    wrong = refusal(tmp_path, "doctor", model, "--format", "html")
    assert "'text', 'json'" in wrong
    assert "html" not in glasshead("doctor", "--help").stdout


def test_a_folder_of_repeats_names_its_runs(tmp_path):
    run = saved(tmp_path / "runs" / "seed-3", STOPPED["ours"]())
    (run.parent / "repeats.json").write_text('{"seeds": [3]}', encoding="utf-8")
    assert f"name one of them, {run}" in refusal(tmp_path, "doctor", run.parent)
    assert "built in" in glasshead("doctor", run).stdout
