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
    monkeypatch.setattr("glasshead.bench.attention.AttentionSettings.budget", 1e-9)
    monkeypatch.setattr("glasshead.bench.training.BUDGET", 1e-9)
    monkeypatch.setattr("glasshead.bench.identifiability.BUDGET", 1e-9)


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


def test_masks_and_types(tmp_path):
    out = tmp_path / "results.json"
    words = (
        "bench",
        "attention",
        "--lengths",
        "24",
        "--mechanisms",
        "tanhmax",
        "--kernels",
        "sdpa,reference",
    )
    result = glasshead(
        *words, "--masks", "padding,causal,window", "--dtype", "bfloat16", "--rounds", "2", "--out", out
    )
    rows = json.loads(out.read_text(encoding="utf-8"))["results"]
    assert [each["mask"] for each in rows] == ["padding", "padding", "causal", "causal", "window", "window"]
    assert {each["dtype"] for each in rows} == {"bfloat16"}
    assert all(each["error"] < 0.02 for each in rows)
    assert "24 tokens, heads of 64, bfloat16, window mask, forward" in result.stdout


def test_training(tmp_path, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.setattr("glasshead.bench.training.TOKENS", 16)
    arguments = ("bench", "training", "--lengths", "8", "--mechanisms", "distance-aware,shaw")
    result = glasshead(*arguments, "--out", tmp_path / "results.json")
    page = json.loads((tmp_path / "results.json").read_text(encoding="utf-8"))
    measured = [(each["work"], each["way"]) for each in page["results"]]
    assert measured == [
        ("step", "softmax with sinusoids"),
        ("step", "distance-aware"),
        ("step", "shaw"),
        ("add", "head by head"),
        ("add", "as it is"),
        ("add, first token", "head by head"),
        ("add, first token", "as it is"),
    ]
    for each in page["results"]:
        first = each["way"] in ("softmax with sinusoids", "head by head")
        assert (each["ratio"]["median"] == 1 == each["memory_ratio"]) is first
        assert each["seconds"]["least"] > 0
    assert page["settings"]["embedding_size"] == 300
    assert "8 tokens, a training step of the encoder" in result.stdout
    assert max(map(len, result.stdout.splitlines())) <= max(80, len(str(tmp_path)) + 40)


def test_identifiability(tmp_path, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    bench = "glasshead.bench.identifiability"
    for name, value in {"ROWS": 2, "HEADS": 2, "TEXTS": 3, "BATCH": 2, "SIZES": (4,)}.items():
        monkeypatch.setattr(f"{bench}.{name}", value)
    monkeypatch.setattr("glasshead.bench.settings.SIZES", (4,))
    monkeypatch.setattr("os.cpu_count", lambda: 1)  # no other processes for so little
    arguments = ("bench", "identifiability", "--lengths", "9")
    result = glasshead(*arguments, "--out", tmp_path / "results.json")
    page = json.loads((tmp_path / "results.json").read_text(encoding="utf-8"))
    measured = [(each["work"], each["way"], each["tokens"], each["size"]) for each in page["results"]]
    assert measured == [
        ("intervals", "linprog, cold", 9, 4),
        ("intervals", "HiGHS, warm dual", 9, 4),
        ("intervals", "HiGHS, warm primal", 9, 4),
        ("intervals", "one process", 9, 4),
        ("ranks", "forward pass", 256, 64),
        ("ranks", "ranks", 256, 64),
    ]
    for each in page["results"]:
        first = each["way"] in ("linprog, cold", "forward pass")
        assert (each["faster"]["median"] == each["faster"]["least"] == 1) is first
        assert each["seconds"]["least"] > 0
        assert (each["error"] is None) is (first or each["work"] == "ranks")
    assert all(each["error"] < 1e-9 for each in page["results"][1:4])
    assert page["results"][3]["per_weight"] == pytest.approx(page["results"][3]["seconds"]["median"] / 9)
    assert 1 in [each["over_warm"]["median"] for each in page["results"][1:3]]
    assert page["results"][4]["over_warm"] is None
    assert "intervals, 9 tokens, values of 4" in result.stdout
    assert max(map(len, result.stdout.splitlines())) <= max(80, len(str(tmp_path)) + 40)


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["identifiability", "--kernels", "sdpa"], "--kernels is for the benchmark of attention"),
        (["identifiability", "--mechanisms", "shaw"], "--mechanisms is for the benchmark of attention"),
        (["identifiability", "--device", "cuda"], "computed on the processor"),
        (["identifiability", "--lengths", "1"], "between 2 and 4,096, not 1"),
        (["attentoin"], "did you mean 'attention'?"),
        (["training", "--kernels", "sdpa"], "--kernels is for the benchmark of attention"),
        (["training", "--masks", "causal"], "--masks is for the benchmark of attention"),
        (["attention", "--masks", "casual"], "did you mean 'causal'?"),
        (["attention", "--dtype", "float12"], "did you mean 'float32'?"),
        (["training", "--full"], "--full is for the benchmark of attention"),
        (["training", "--lengths", "0"], "between 1 and 8,192, not 0"),
        (["training", "--mechanisms", "tenar"], "did you mean 'tener'?"),
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
    monkeypatch.setattr(
        "glasshead.bench.attention.measure_case", lambda *_: os.kill(os.getpid(), signal.SIGINT)
    )
    result = glasshead(*SMALL, "--out", tmp_path / "new" / "results.json", code=130)
    assert one_line(result.stderr) == "interrupted"
    assert tree(tmp_path) == {}
