"""`glasshead doctor`, as it is typed."""

import json

from typed import glasshead, refusal

from families import FAMILIES, REFUSED


def saved(folder, model):
    model.save_pretrained(folder)
    return folder


def test_the_command(tmp_path):
    folder = saved(tmp_path / "bert", FAMILIES["bert"].build())
    printed = glasshead("doctor", folder, "--attention", "tanhmax").stdout
    assert "can be plugged" in printed
    assert "2 × BertSelfAttention" in printed
    assert "→ call model.activation_checkpointing_disable()" in printed
    assert max(map(len, printed.splitlines())) <= 80 + len(str(folder))
    found = json.loads(glasshead("doctor", folder, "--attention", "tanhmax", "--format", "json").stdout)
    assert found["healthy"]
    assert found["layers"][0]["modules"] == [
        "encoder.layer.0.attention.self",
        "encoder.layer.1.attention.self",
    ]
    assert found["attention"] == "tanhmax"
    refused = saved(tmp_path / "mpnet", REFUSED["mpnet"]())
    assert "✗ not dispatched" in glasshead("doctor", refused, code=1).stdout


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
    assert "--format json" in refusal(tmp_path, "doctor", model, "--format", "html")
