"""`glasshead bench attention` at sizes that take no time."""

import json
import os
import signal

import pytest
from typed import glasshead, one_line, refusal, tree

SMALL = ("bench", "attention", "--lengths", "8,24", "--mechanisms", "tanhmax,dot-product")


@pytest.fixture(autouse=True)
def hurried(monkeypatch):
    """Three rounds are enough here, whatever they take."""
    monkeypatch.setattr("glasshead.bench.attention.Settings.budget", 1e-9)


def test_a_table_and_a_file(tmp_path, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    result = glasshead(*SMALL, "--backward", "--out", tmp_path / "results.json")
    page = json.loads((tmp_path / "results.json").read_text(encoding="utf-8"))
    measured = {(each["mechanism"], each["kernel"]) for each in page["results"]}
    assert measured == {
        ("tanhmax", "sdpa"),
        ("tanhmax", "blockwise"),
        ("tanhmax", "literal"),
        ("dot-product", "blockwise"),
        ("dot-product", "linear"),
    }
    assert len(page["results"]) == 5 * 2 * 2  # two lengths, two ways
    assert page["machine"]["processor"]
    assert page["settings"]["dtype"] == "float32"
    for each in page["results"]:
        assert 0 < each["seconds"]["least"] <= each["seconds"]["median"] <= each["seconds"]["largest"]
        assert each["memory_ratio"] > 0.4
        assert each["error"] < 1e-5
        assert each["rate"] > 0
    assert page["machine"]["processor"] in result.stdout.replace("\n", "")
    assert max(map(len, result.stdout.splitlines())) <= max(80, len(str(tmp_path)) + 40)
    for said in ("24 tokens, heads of 64, forward and backward", "blockwise", "literal", "error"):
        assert said in result.stdout
    again = glasshead(*SMALL, "--out", tmp_path / "results.json", code=2)
    assert "--overwrite" in one_line(again.stderr)


def test_named_kernels_only():
    result = glasshead(*SMALL, "--kernels", "reference")
    assert "reference" in result.stdout
    assert "blockwise" not in result.stdout


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["attentoin"], "did you mean 'attention'?"),
        (["attention", "--lengths", "0"], "between 1 and 1,048,576, not 0"),
        (["attention", "--lengths", "many"], "whole numbers like 1024,4096, not many"),
        (["attention", "--lengths", ","], "names nothing"),
        (["attention", "--mechanisms", "tanmax"], "did you mean 'tanhmax'?"),
        (["attention", "--kernels", "linaer"], "did you mean 'linear'?"),
        (["attention", "--device", "gpu"], "unknown device 'gpu'"),
        (["attention", "--out", "/dev/null/results.json"], "not a folder"),
        (["attention", "--mechanisms", "cosformer", "--kernels", "sdpa"], "leave out --kernels"),
    ],
)
def test_bad_input(tmp_path, arguments, said):
    assert said in refusal(tmp_path, "bench", *arguments)


def test_interrupted(tmp_path, monkeypatch):
    monkeypatch.setattr("glasshead.bench.attention.result", lambda *_: os.kill(os.getpid(), signal.SIGINT))
    result = glasshead(*SMALL, "--out", tmp_path / "new" / "results.json", code=130)
    assert one_line(result.stderr) == "interrupted"
    assert tree(tmp_path) == {}
