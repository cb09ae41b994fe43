"""What a person can do: every command as it is typed, and what lies there afterwards."""

import errno
import json
import re
import subprocess
import sys

import numpy as np
import pandas as pd
import pyarrow.parquet as pq
import pytest
import torch
from safetensors.torch import load_file
from transformers import AutoModelForSequenceClassification, PreTrainedTokenizerFast, pipeline

from alike import assert_alike, assert_same_weights
from glasshead import __version__
from glasshead.attention import ACTIVATIONS, KERNELS, MECHANISM_PRESETS, POSITIONS
from glasshead.audits import AUDITS
from glasshead.cli.console import console
from glasshead.compiled import native_library
from glasshead.data import DATASETS, LoadOptions
from glasshead.explainers import EXPLAINERS
from glasshead.files import atomic_folder
from glasshead.files.manifest import MANIFEST
from glasshead.models import MODELS
from glasshead.opening import load_run
from glasshead.training import PENALTIES
from glasshead.training import TRAINING_PRESETS as RECIPES
from typed import TINY, glasshead, one_line, tree

COMMANDS = ("train", "audit", "explain", "compare", "list", "demo")
RUN_FILES = {
    "config.json",
    "model.safetensors",
    "tokenizer.json",
    "tokenizer_config.json",
    "vocabulary.parquet",
    "metrics.json",
    "predictions.parquet",
    "run.json",
    MANIFEST,
}
AUDIT_FILES = {
    "card.json", "findings.parquet", "examples.parquet", "tokens.parquet", "heads.parquet", "weights.parquet",
    "measurements", "report.html", MANIFEST,
}  # fmt: skip
ONE = ("--audits", "performance")
REVIEW = "a masterpiece of a film , moving and dull"


def strict(path):
    """JSON without the NaN that Python's parser lets pass."""

    def refuse(constant):
        raise AssertionError(f"{path} holds {constant}")

    return json.loads(path.read_text(encoding="utf-8"), parse_constant=refuse)


def names(folder):
    return {path.name for path in folder.iterdir()}


class TestHelp:
    def test_version(self):
        assert glasshead("--version").stdout == f"glasshead {__version__}\n"

    @pytest.mark.parametrize("command", [(), *((name,) for name in COMMANDS)], ids=" ".join)
    def test_every_command_has_an_example(self, command):
        assert re.search(r"Example:\s+glasshead", glasshead(*command, "--help").stdout)

    def test_every_command_is_listed(self):
        page = glasshead("--help").stdout
        assert all(re.search(rf"\b{name}\b", page) for name in COMMANDS)

    def test_no_command_prints_the_help(self):
        assert "Usage" in glasshead(code=2).output

    def test_help_imports_nothing_heavy(self):
        program = (
            "import sys\n"
            "from glasshead.cli import app\n"
            "for arguments in (['--help'], ['train', '--help'], ['--version']):\n"
            "    try:\n"
            "        app(arguments)\n"
            "    except SystemExit as end:\n"
            "        print('exit', end.code)\n"
            "print('modules', *sys.modules)\n"
        )
        ran = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
        *rest, modules = ran.stdout.splitlines()
        assert rest.count("exit 0") == 3
        heavy = {"torch", "transformers", "datasets", "matplotlib", "numpy", "scipy", "pyarrow", "pandas"}
        assert not heavy & set(modules.split())

    def test_shell_completion(self):
        assert "--install-completion" in glasshead("--help").stdout


class TestList:
    @pytest.mark.parametrize(
        ("kind", "registry"),
        [
            ("activations", ACTIVATIONS),
            ("audits", AUDITS),
            ("datasets", DATASETS),
            ("explainers", EXPLAINERS),
            ("kernels", KERNELS),
            ("mechanisms", [*ACTIVATIONS, *MECHANISM_PRESETS]),
            ("models", MODELS),
            ("penalties", PENALTIES),
            ("positions", POSITIONS),
            ("presets", RECIPES),
        ],
    )
    def test_lists_every_entry(self, kind, registry, monkeypatch):
        monkeypatch.setattr(console, "_width", 80)
        printed = glasshead("list", kind).stdout
        assert registry
        # Whole, in lines of their own, on a terminal of the usual width.
        assert {line.split()[1] for line in printed.splitlines() if line.startswith("│")} >= set(registry)
        assert all(len(line) <= 80 for line in printed.splitlines())

    def test_table_3_is_printed_from_the_code(self, monkeypatch):
        """Columns: monotone, log-nonlinear, normalised, origin-symmetric, signed, rows sum to one."""
        monkeypatch.setattr(console, "_width", 80)
        lines = [line.split("│")[1:-1] for line in glasshead("list", "activations").stdout.splitlines()]
        printed = {
            cells[0].strip(): [cell.strip() for cell in cells[1:7]] for cells in lines if len(cells) == 8
        }
        ticks = {"softmax": "✓ – ✓ – – ✓", "relu": "✓ ✓ – – – –", "tanhmax": "✓ ✓ ✓ ✓ ✓ –"}
        assert {name: " ".join(cell or "–" for cell in printed[name]) for name in ticks} == ticks


class TestTrain:
    def test_run_folder(self, tiny):
        assert names(tiny.tanhmax) == RUN_FILES
        record = strict(tiny.tanhmax / "run.json")
        assert record["recipe"]["architecture"]["activation"] == "tanhmax"
        assert (record["recipe"]["preset"], record["recipe"]["epochs"]) == ("s0-paper", 2)
        assert record["seed"] == 0
        assert record["seconds"] > 0
        assert record["resumed"] is False
        assert record["gauge"]["sign"] in (-1, 1)
        assert {"glasshead", "torch", "transformers", "python"} <= set(record["versions"])
        data = record["data"]
        assert data["source"] == "synthetic"
        assert data["options"]["generator"] == {"instances": 300}
        assert re.fullmatch("[0-9a-f]{64}", data["fingerprint"])
        assert data["rows"] == {"train": 210, "dev": 45, "test": 45}

    def test_metrics(self, tiny):
        metrics = strict(tiny.tanhmax / "metrics.json")
        for split in ("dev", "test"):
            assert 0 < metrics[split]["accuracy"] <= 1
            assert 0 < metrics[split]["macro_f1"] <= 1
        assert [epoch["epoch"] for epoch in metrics["epochs"]] == [1, 2]
        assert metrics["dev"]["accuracy"] == max(epoch["accuracy"] for epoch in metrics["epochs"])

    def test_nothing_else_is_left(self, tiny):
        assert names(tiny.folder) == {"softmax", "tanhmax", "softmax-audit", "tanhmax-audit"}

    def test_the_vocabulary_counts_the_train_split(self, tiny):
        run = load_run(tiny.softmax)
        table = pq.read_table(tiny.softmax / "vocabulary.parquet")
        assert table["token"].to_pylist() == run.tokenizer.convert_ids_to_tokens(range(len(run.tokenizer)))
        assert run.counts.shape == (2, len(run.tokenizer))
        assert run.counts.sum() == 210 * 12

    def test_transformers_can_use_it(self, tiny):
        classify = pipeline("text-classification", model=str(tiny.tanhmax), top_k=None)
        model = AutoModelForSequenceClassification.from_pretrained(tiny.tanhmax)
        tokenizer = PreTrainedTokenizerFast.from_pretrained(tiny.tanhmax)
        texts = [REVIEW, "dull", "a wonderful and superb film"]
        with torch.no_grad():
            ours = [model(**tokenizer(text, return_tensors="pt")).logits.softmax(-1)[0] for text in texts]
        for told, expected in zip(classify(texts), ours, strict=True):
            scores = {entry["label"]: entry["score"] for entry in told}
            assert scores == pytest.approx(
                {"negative": expected[0].item(), "positive": expected[1].item()}, abs=1e-6
            )

    @pytest.mark.slow
    def test_csv_file(self, tmp_path, reviews):
        out = tmp_path / "runs" / "mine"
        printed = glasshead("train", reviews, "--epochs", 30, "--learning-rate", 0.02, "--out", out).stdout
        assert f"Next: glasshead audit {out} {reviews}" in " ".join(printed.split())
        assert names(out) == RUN_FILES
        assert strict(out / "metrics.json")["test"]["accuracy"] == 1
        assert load_run(out).labels == ["bad", "good"]

    def test_folder_with_two_splits(self, tmp_path, reviews):
        folder = tmp_path / "data"
        folder.mkdir()
        rows = pd.read_csv(reviews)
        rows[:30].to_json(folder / "train.jsonl", orient="records", lines=True)
        rows[30:].to_parquet(folder / "test.parquet")
        glasshead("train", folder, "--epochs", 1, "--out", tmp_path / "run")
        record = strict(tmp_path / "run" / "run.json")
        assert record["data"]["rows"] == {"train": 27, "dev": 3, "test": 10}

    def test_data_without_a_test_split(self, tmp_path, reviews):
        folder = tmp_path / "data"
        folder.mkdir()
        reviews.rename(folder / "train.csv")
        glasshead("train", folder, "--epochs", 1, "--out", tmp_path / "run")
        assert set(strict(tmp_path / "run" / "metrics.json")) == {"dev", "epochs"}

    @pytest.mark.parametrize("preset", ["s0-code", "s4"])  # and s0-paper, which is that of `tiny`
    def test_presets(self, tmp_path, preset):
        glasshead("train", *TINY, "--preset", preset, "--out", tmp_path / "run")
        assert strict(tmp_path / "run" / "run.json")["recipe"]["preset"] == preset

    @pytest.mark.slow
    def test_options_reach_the_model(self, tmp_path):
        options = ["--encoder", "lstm", "--score", "additive", "--scale", 2.5, "--max-length", 5]
        options += ["--vocabulary-size", 100, "--batch-size", 64]
        glasshead("train", *TINY, *options, "--option", "classes=3", "--out", tmp_path / "run")
        run = load_run(tmp_path / "run")
        config = run.model.config
        assert (config.encoder, config.score, config.temperature) == ("lstm", "additive", 2.5)
        assert config.vocab_size == 100
        assert run.tokenizer.model_max_length == 5
        assert len(run.labels) == 3
        glasshead(
            "audit", tmp_path / "run", "synthetic", "--audits", "agreement", "--out", tmp_path / "audit"
        )
        strict(tmp_path / "audit" / "card.json")

    @pytest.mark.parametrize(
        ("option", "combination", "combine"),
        [
            ("--head-combination", "concat", "concat"),
            ("--head-combination", "sum", "add"),
        ],
    )
    def test_options_reach_an_encoder(self, tmp_path, option, combination, combine):
        options = [
            "--model",
            "encoder",
            "--attention",
            "tanhmax+distance-aware",
            "--d-k",
            3,
            option,
            combination,
        ]
        options += [
            "--set",
            "num_hidden_layers=2",
            "--set",
            "num_attention_heads=2",
            "--set",
            "hidden_size=8",
            "--set",
            "dropout=0",
        ]
        options += ["--d-v", 5] if combine == "concat" else []
        printed = glasshead("train", *TINY, "--epochs", 1, *options, "--out", tmp_path / "run").stdout
        config = load_run(tmp_path / "run").model.config
        assert (config.num_hidden_layers, config.num_attention_heads) == (2, 2)
        assert (config.hidden_size, config.dropout) == (8, 0.0)
        assert (config.head_dim, config.value_dim) == (3, 5 if combine == "concat" else None)
        assert (config.attention, config.head_combination) == ("tanhmax+distance-aware", combine)
        said = (
            "attention is identifiable up to 8 tokens, the size d_v of summed heads, from the output of each"
        )
        assert (said in " ".join(printed.split())) == (combine == "add")
        notes = strict(tmp_path / "run" / "run.json")["notes"]
        assert sum(said in note for note in notes) == (combine == "add")

    def test_a_mechanism_with_options(self, tmp_path):
        spec = {"position": {"name": "distance-aware", "mapping": "linear"}}
        options = ["--model", "encoder", "--attention", json.dumps(spec), "--epochs", 1]
        glasshead("train", *TINY, *options, "--out", tmp_path / "run")
        run = load_run(tmp_path / "run")
        assert run.model.config.attention == spec == run.record["recipe"]["architecture"]["attention"]

    def test_repeats(self, tmp_path):
        out = tmp_path / "runs" / "many"
        options = ["--epochs", 1, "--repeats", 2, "--seed", 5]
        printed = glasshead("train", *TINY, *options, "--out", out).stdout
        assert names(out) == {"seed-5", "seed-6", "repeats.json", MANIFEST}
        found = strict(out / "repeats.json")["metrics"]["test"]["accuracy"]
        assert f"test  accuracy {found['mean']:.3f} ± {found['std']:.3f}" in printed
        assert f"2 runs in {out}" in printed.replace("\n", "")

    def test_ratings(self, tmp_path):
        path = tmp_path / "stars.csv"
        rows = [f"{'good ' * (i % 3)}film number {i},{i % 3 + 0.5}" for i in range(60)]
        path.write_text("\n".join(["text,label", *rows]), encoding="utf-8")
        printed = glasshead(
            "train", path, "--task", "regression", "--epochs", 1, "--out", tmp_path / "run"
        ).stdout
        assert re.search(r"test  RMSE \d\.\d{3} \(floor \d\.\d{3}\)  MAE \d\.\d{3}", printed)
        record = strict(tmp_path / "run" / "run.json")
        assert record["data"]["options"]["task"] == "regression"
        assert LoadOptions(**record["data"]["options"]) == LoadOptions(task="regression")

    def test_how_data_were_read_is_recorded(self, tmp_path, reviews):
        options = ["--rows", 12, "--labels", 2, "--classes", "good,bad", "--split-seed", 3, "--epochs", 1]
        glasshead("train", reviews, *options, "--out", tmp_path / "run")
        told = LoadOptions(**strict(tmp_path / "run" / "run.json")["data"]["options"])
        assert told == LoadOptions(max_examples=12, labels=2, classes=("good", "bad"), split_seed=3)
        assert strict(tmp_path / "run" / "run.json")["data"]["rows"]["train"] == 12

    def test_word_vectors(self, tmp_path, reviews):
        vectors = tmp_path / "vectors.txt"
        vectors.write_text("warm 1 2 3\nmess -1 -2 -3\nunseen 0 0 0\n", encoding="utf-8")
        glasshead("train", reviews, "--epochs", 1, "--vectors", vectors, "--out", tmp_path / "run")
        run = load_run(tmp_path / "run")
        assert run.model.embedding.weight.shape[1] == 3
        assert "2 of" in run.record["notes"][0]

    @pytest.mark.slow
    def test_eleven_classes_keep_their_order(self, tmp_path):
        path = tmp_path / "numbers.csv"
        rows = [f"word{label} again {i},{label}" for i in range(12) for label in range(11)]
        path.write_text("\n".join(["text,label", *rows]), encoding="utf-8")
        glasshead("train", path, "--epochs", 1, "--out", tmp_path / "run")
        assert load_run(tmp_path / "run").labels == [str(label) for label in range(11)]
        glasshead("audit", tmp_path / "run", path, "--audits", "agreement", "--out", tmp_path / "audit")
        assert strict(tmp_path / "audit" / "card.json")["facts"]["labels"] == [str(k) for k in range(11)]

    def test_the_best_epoch_is_kept(self, tmp_path):
        # So high a rate that the last epoch is not the best one.
        options = ["--learning-rate", 0.3, "--epochs", 6, "--preset", "s0-paper"]
        glasshead("train", "synthetic", "--option", "instances=300", *options, "--out", tmp_path / "run")
        metrics = strict(tmp_path / "run" / "metrics.json")
        accuracies = [epoch["accuracy"] for epoch in metrics["epochs"]]
        assert metrics["dev"]["accuracy"] == max(accuracies) > min(accuracies)


class TestAudit:
    def test_audit_folder(self, tiny):
        assert names(tiny.tanhmax_audit) == AUDIT_FILES
        card = strict(tiny.tanhmax_audit / "card.json")
        assert card["facts"]["examples"] == 45
        assert card["facts"]["split"] == "test"
        assert card["facts"]["seed"] == 0
        of_others, by_name = (
            {"plausibility", "image-map", "image-sinks"},
            {name for name in AUDITS if not AUDITS[name].by_default},
        )
        assert {finding["audit"] for finding in card["findings"]} == set(AUDITS) - of_others - by_name
        assert len(pq.read_table(tiny.tanhmax_audit / "examples.parquet")) == 45
        findings = pd.read_parquet(tiny.tanhmax_audit / "findings.parquet")
        assert len(findings) == len(card["findings"])
        np.testing.assert_array_equal(
            findings["estimate"].astype(float),
            np.array([finding["estimate"] for finding in card["findings"]], dtype=float),
        )
        assert findings["name"].is_unique
        assert len(pq.read_table(tiny.tanhmax_audit / "tokens.parquet")) > 100
        page = (tiny.tanhmax_audit / "report.html").read_text(encoding="utf-8")
        assert page.startswith("<!doctype html>")

    def test_the_accuracy_is_that_of_the_run(self, tiny):
        card = strict(tiny.softmax_audit / "card.json")
        metrics = strict(tiny.softmax / "metrics.json")
        assert card["facts"]["accuracy"] == pytest.approx(metrics["test"]["accuracy"])
        assert card["facts"]["macro_f1"] == pytest.approx(metrics["test"]["macro_f1"])

    def test_chosen_tests_limit_and_split(self, tiny, tmp_path):
        options = ["--audits", "agreement", "--limit", 7, "--split", "train", "--seed", 3]
        glasshead("audit", tiny.softmax, "synthetic", *options, "--out", tmp_path / "a")
        card = strict(tmp_path / "a" / "card.json")
        assert {finding["audit"] for finding in card["findings"]} == {"agreement"}
        assert card["facts"]["examples"] == 7
        assert card["facts"]["split"] == "train"
        assert card["facts"]["audit_seed"] == 3

    def test_every_row(self, tiny, tmp_path):
        options = ["--audits", "performance", "--split", "all"]
        glasshead("audit", tiny.softmax, "synthetic", *options, "--out", tmp_path / "a")
        assert strict(tmp_path / "a" / "card.json")["facts"]["examples"] == 300

    def test_reads_the_data_as_the_run_did(self, tmp_path):
        path = tmp_path / "kinds.csv"
        rows = [f"{kind} things {i},{kind}" for i in range(20) for kind in ("zoo", "bar", "cat")]
        path.write_text("\n".join(["review,kind", *rows]), encoding="utf-8")
        columns = ["--text-column", "review", "--label-column", "kind"]
        options = [*columns, "--classes", "zoo,bar", "--split-seed", 5]
        glasshead("train", path, "--epochs", 1, *options, "--out", tmp_path / "run")
        glasshead("audit", tmp_path / "run", path, *ONE, "--out", tmp_path / "audit")
        card = strict(tmp_path / "audit" / "card.json")
        assert card["facts"]["labels"] == ["zoo", "bar"]
        recorded = strict(tmp_path / "run" / "run.json")["data"]["options"]
        assert card["facts"]["data_options"] == recorded
        assert recorded["classes"] == ["zoo", "bar"]

    def test_other_columns_may_be_given(self, tmp_path, reviews):
        glasshead("train", reviews, "--epochs", 1, "--out", tmp_path / "run")
        other = tmp_path / "other.csv"
        other.write_text(reviews.read_text().replace("text,label", "review,kind"), encoding="utf-8")
        columns = ["--text-column", "review", "--label-column", "kind"]
        glasshead("audit", tmp_path / "run", other, *columns, *ONE, "--out", tmp_path / "audit")
        assert strict(tmp_path / "audit" / "card.json")["facts"]["examples"] == 40

    def test_a_run_on_a_small_synthetic_set_can_be_audited_on_a_file(self, tiny, tmp_path):
        path = tmp_path / "films.csv"
        rows = [
            f"a {word} film {i},{label}"
            for i in range(10)
            for word, label in (("wonderful", "positive"), ("dreadful", "negative"))
        ]
        path.write_text("\n".join(["text,label", *rows]), encoding="utf-8")
        glasshead("audit", tiny.softmax, path, *ONE, "--split", "all", "--out", tmp_path / "audit")
        assert strict(tmp_path / "audit" / "card.json")["facts"]["examples"] == 20


class TestFailUnder:
    NAME = "performance.accuracy"

    def run(self, tiny, tmp_path, *bars, code=0):
        options = [word for bar in bars for word in ("--fail-under", bar)]
        out = tmp_path / "audit"
        tests = ["--audits", "agreement,performance"]
        result = glasshead("audit", tiny.softmax, "synthetic", *tests, *options, "--out", out, code=code)
        assert names(out) == AUDIT_FILES - {"heads.parquet", "weights.parquet"}  # not asked for
        return result, strict(out / "card.json")["findings"]

    def finding(self, tiny):
        findings = strict(tiny.softmax_audit / "card.json")["findings"]
        return next(f for f in findings if (f["audit"], f["statistic"]) == tuple(self.NAME.split(".")))

    def test_passes(self, tiny, tmp_path):
        low = self.finding(tiny)["interval"][0]
        result, _ = self.run(tiny, tmp_path, f"{self.NAME}={low - 0.001}")
        assert result.stderr == ""

    def test_fails_on_the_interval_though_the_estimate_passes(self, tiny, tmp_path):
        finding = self.finding(tiny)
        low = finding["interval"][0]
        bar = (low + finding["estimate"]) / 2
        result, _ = self.run(tiny, tmp_path, f"{self.NAME}={bar}", code=1)
        line = one_line(result.stderr)
        assert self.NAME in line
        assert f"{low:.3f}" in line

    def test_names_every_bar_that_failed(self, tiny, tmp_path):
        bars = [f"{self.NAME}=2", "agreement.attention.gradient=2", "performance.macro-f1=0"]
        result, findings = self.run(tiny, tmp_path, *bars[:2], code=1)
        assert len(findings) > 2
        lines = result.stderr.splitlines()
        assert len(lines) == 2
        assert all(bar.split("=")[0] in line for bar, line in zip(bars, lines, strict=False))

    def test_a_group_can_be_named(self, tiny, tmp_path):
        self.run(tiny, tmp_path, "agreement.attention.gradient.class positive=-2")

    @pytest.mark.parametrize(
        ("bar", "help"),
        [
            ("performance.acuracy=0.5", "did you mean 'performance.accuracy'?"),
            ("perfomance.accuracy=0.5", "did you mean 'performance'?"),
            ("tokens.sign.weight=0.5", "no finding is called"),  # not among --audits
        ],
    )
    def test_unknown_name_leaves_no_audit(self, tiny, tmp_path, bar, help):
        options = ["--audits", "agreement,performance", "--fail-under", bar, "--out", tmp_path / "audit"]
        result = glasshead("audit", tiny.softmax, "synthetic", *options, code=2)
        said = one_line(result.stderr)
        assert help in said
        # Which findings there are is known when all are made: with the right name nothing is made again.
        kept = names(tmp_path)
        assert kept == ({"audit.parts"} if "the finished parts are kept" in said else set())

    def test_the_report_path_is_printed_on_failure_too(self, tiny, tmp_path):
        result, _ = self.run(tiny, tmp_path, f"{self.NAME}=2", code=1)
        assert "report.html" in "".join(result.stdout.split())


class TestSeeds:
    @pytest.mark.slow
    def test_same_seed_same_weights_and_findings(self, tiny, tmp_path):
        glasshead("train", *TINY, "--attention", "tanhmax", "--out", tmp_path / "run")
        glasshead("audit", tmp_path / "run", "synthetic", "--out", tmp_path / "audit")
        assert_same_weights(tmp_path / "run", tiny.tanhmax)
        again, once = (strict(folder / "card.json") for folder in (tmp_path / "audit", tiny.tanhmax_audit))
        assert_alike(again["findings"], once["findings"])
        assert_alike(again["highlights"], once["highlights"])
        tables = "examples.parquet", "tokens.parquet", "findings.parquet"
        for table in tables:
            ours, theirs = (pq.read_table(out / table) for out in (tmp_path / "audit", tiny.tanhmax_audit))
            assert ours.schema == theirs.schema
            assert_alike(ours.to_pylist(), theirs.to_pylist())

    def test_another_seed_another_model(self, tiny, tmp_path):
        glasshead("train", *TINY, "--attention", "tanhmax", "--seed", 1, "--out", tmp_path / "run")
        ours, theirs = (load_file(run / "model.safetensors") for run in (tmp_path / "run", tiny.tanhmax))
        assert not torch.equal(ours["embedding.weight"], theirs["embedding.weight"])

    def test_another_audit_seed_another_draw(self, tiny, tmp_path):
        tests = ["--audits", "perturbation"]
        glasshead("audit", tiny.softmax, "synthetic", *tests, "--seed", 1, "--out", tmp_path / "a")
        ours = strict(tmp_path / "a" / "card.json")["findings"]
        theirs = [
            finding
            for finding in strict(tiny.softmax_audit / "card.json")["findings"]
            if finding["audit"] == "perturbation"
        ]
        assert [finding["statistic"] for finding in ours] == [finding["statistic"] for finding in theirs]
        assert ours != theirs


class TestExplain:
    @pytest.mark.parametrize("method", ["attention", "gradient", "erasure", "gradient-l2", "random"])
    def test_json(self, tiny, method):
        printed = glasshead("explain", tiny.tanhmax, REVIEW, "--method", method, "--format", "json").stdout
        (told,) = json.loads(printed)
        assert told["text"] == REVIEW
        assert told["method"] == method
        assert [REVIEW[start:end] for start, end in told["offsets"]] == REVIEW.split()
        assert len(told["scores"]) == len(REVIEW.split())
        assert len(set(told["scores"])) > 1

    def test_text(self, tiny):
        printed = glasshead("explain", tiny.tanhmax, REVIEW, "the plot is dull").stdout
        assert all(word in printed for word in [*REVIEW.split(), "plot"])
        assert (
            len(re.findall(r"predicted (?:posi|nega)tive, p\(positive\) = 0\.\d{3}, attention\n", printed))
            == 2
        )

    def test_html(self, tiny, tmp_path):
        out = tmp_path / "pages" / "review.html"
        text = f"{REVIEW} <script>alert(1)</script>"
        glasshead("explain", tiny.tanhmax, text, "--format", "html", "--out", out)
        page = out.read_text(encoding="utf-8")
        assert "masterpiece" in page
        assert "<script>alert(1)" not in page
        assert names(out.parent) == {"review.html"}

    def test_target_and_quantity(self, tiny):
        def told(*options):
            return json.loads(
                glasshead("explain", tiny.softmax, REVIEW, "--format", "json", *options).stdout
            )[0]

        assert told()["target"] == "positive"
        assert told("--target", "negative")["target"] == "negative"
        assert told()["prediction"] + told("--target", "negative")["prediction"] == pytest.approx(1)
        logit, odds = (
            told("--method", "gradient", *function)["scores"]
            for function in (("--target-function", "logit"), ("--target-function", "log-odds"))
        )
        assert odds == pytest.approx(logit)  # the other logit is 0

    def test_brackets_are_no_markup(self, tiny):
        assert "[bold]" in glasshead("explain", tiny.softmax, f"{REVIEW} [bold]dull[/nonsense]").stdout


class TestCompare:
    def test_page_and_table(self, tiny, tmp_path):
        out = tmp_path / "compare.html"
        printed = glasshead("compare", tiny.softmax_audit, tiny.tanhmax_audit, "--out", out).stdout
        page = out.read_text(encoding="utf-8")
        for activation in ("softmax", "tanhmax"):
            assert activation in printed
            assert activation in page
        assert names(tmp_path) == {"compare.html"}

    def test_overwrite(self, tiny, tmp_path):
        out = tmp_path / "compare.html"
        out.write_text("old", encoding="utf-8")
        glasshead("compare", tiny.softmax_audit, tiny.tanhmax_audit, "--out", out, "--overwrite")
        assert "softmax" in out.read_text(encoding="utf-8")


class TestOverwrite:
    def test_train(self, tmp_path):
        out = tmp_path / "run"
        with atomic_folder(out) as old:
            (old / "old").write_text("old", encoding="utf-8")
        glasshead("train", *TINY, "--out", out, "--overwrite")
        assert names(out) == RUN_FILES
        assert names(tmp_path) == {"run"}

    def test_a_folder_of_somebody_else_is_never_replaced(self, tiny, tmp_path):
        out = tmp_path / "letters"
        out.mkdir()
        (out / "dear.txt").write_text("old", encoding="utf-8")
        before = tree(tmp_path)
        for command in (("train", *TINY), ("audit", tiny.softmax, "synthetic")):
            result = glasshead(*command, "--out", out, "--overwrite", code=2)
            assert "Glasshead did not create" in result.stderr
        assert tree(tmp_path) == before

    def test_an_interrupted_training_is_not_lost_to_another_command(self, tiny, tmp_path):
        kept = tmp_path / "run.partial" / "checkpoints" / "checkpoint-3"
        kept.mkdir(parents=True)
        glasshead("audit", tiny.softmax, "synthetic", *ONE, "--out", tmp_path / "run")
        assert kept.exists()

    @pytest.mark.slow
    def test_audit(self, tiny, tmp_path):
        out = tmp_path / "audit"
        out.mkdir()
        glasshead("audit", tiny.softmax, "synthetic", "--out", out, "--overwrite")
        assert names(out) == AUDIT_FILES
        assert names(tmp_path) == {"audit"}

    def test_the_old_one_survives_a_failure(self, tiny, tmp_path, monkeypatch):
        out = tmp_path / "run"
        with atomic_folder(out) as old:
            (old / "old").write_text("old", encoding="utf-8")
        before = tree(tmp_path)

        def fail(*arguments):
            raise OSError(errno.ENOSPC, "No space left on device", "here")

        monkeypatch.setattr(sys.modules["glasshead.training.train"], "write_vocabulary", fail)
        result = glasshead("train", *TINY, "--epochs", 1, "--out", out, "--overwrite", code=1)
        said = (
            f"No space left on device: {out}; the finished epochs are kept: repeat the command with --resume"
        )
        assert one_line(result.stderr) == said
        monkeypatch.setattr("glasshead.cli.audit.write_audit", fail)
        other = tmp_path / "audit"
        result = glasshead("audit", tiny.softmax, "synthetic", *ONE, "--out", other, "--overwrite", code=1)
        kept = "the finished parts are kept: repeat the command with --resume"
        assert one_line(result.stderr) == f"No space left on device: {other}; {kept}"
        assert (out / "old").read_text(encoding="utf-8") == "old"
        assert set(before) <= set(tree(tmp_path))
        assert names(tmp_path) <= {"run", "run.partial", "audit.parts"}


class TestBlankTexts:
    @pytest.fixture
    def folder(self, tmp_path, reviews):
        folder = tmp_path / "data"
        folder.mkdir()
        lines = reviews.read_text(encoding="utf-8").splitlines()
        (folder / "train.csv").write_text("\n".join([*lines, ",good", "   ,bad"]), encoding="utf-8")
        return folder

    def audit(self, folder, tmp_path, test, activation="tanhmax"):
        (folder / "test.csv").write_text("\n".join(["text,label", *test]) + "\n", encoding="utf-8")
        out = tmp_path / "audit"
        options = ["--epochs", 1, "--attention", activation]
        glasshead("train", folder, *options, "--out", tmp_path / "run", "--overwrite")
        glasshead("audit", tmp_path / "run", folder, "--out", out)
        strict(tmp_path / "run" / "metrics.json")
        assert "nan" not in re.findall(r"\bnan\b", (out / "report.html").read_text(encoding="utf-8").lower())
        return strict(out / "card.json"), strict(tmp_path / "run" / "run.json")

    @pytest.mark.slow
    @pytest.mark.parametrize("activation", ["softmax", "tanhmax"])
    def test_kept_and_counted(self, folder, tmp_path, activation):
        test = [",good", " \t ,bad", "a warm film,good", "a dreary film,bad", "zyx wvu,good", "warm,bad"]
        card, record = self.audit(folder, tmp_path, test, activation)
        assert record["data"]["empty_texts"]["test"] == 2
        assert record["data"]["empty_texts"]["train"] + record["data"]["empty_texts"]["dev"] == 2
        assert card["facts"]["examples"] == 6
        assert card["facts"]["empty_texts"] == 2
        assert card["facts"]["unknown_texts"] == 1
        rows = pq.read_table(tmp_path / "audit" / "examples.parquet").to_pylist()
        assert [row["tokens"] for row in rows] == [0, 0, 3, 3, 2, 1]
        assert all(0 < row["probability"] < 1 for row in rows)
        tau = next(f for f in card["findings"] if f["audit"] == "agreement" and f["group"] == "all")
        assert tau["n"] + sum(tau["undefined"].values()) == 6

    def test_one_example(self, folder, tmp_path):
        card, _ = self.audit(folder, tmp_path, ["a warm film,good"])
        assert card["facts"]["examples"] == 1

    def test_nothing_but_blank_texts(self, folder, tmp_path):
        card, _ = self.audit(folder, tmp_path, [",good", "   ,bad", ",bad"])
        assert card["facts"]["empty_texts"] == 3

    def test_one_blank_text(self, folder, tmp_path):
        card, _ = self.audit(folder, tmp_path, [",good"])
        assert card["facts"]["empty_texts"] == 1


class TestRealText:
    @pytest.mark.slow
    def test_sst2(self, real_data, tmp_path):
        data, run, audit = real_data / "sst2", tmp_path / "run", tmp_path / "audit"
        options = ["--attention", "tanhmax", "--epochs", 1, "--learning-rate", 0.01, "--seed", 0]
        glasshead("train", data, *options, "--out", run)
        assert strict(run / "metrics.json")["test"]["accuracy"] > 0.65
        glasshead("audit", run, data, "--split", "test", "--limit", 100, "--out", audit)
        assert strict(audit / "card.json")["facts"]["examples"] == 100
        text = "a dreary , incoherent , self-indulgent mess of a movie"
        printed = glasshead("explain", run, text, "--method", "attention", "--format", "json").stdout
        (told,) = json.loads(printed)
        assert told["tokens"] == text.split()


def test_a_demo_takes_the_place_of_no_other_folder(tmp_path):
    out = tmp_path / "demo"
    out.mkdir()
    (out / "report.html").write_text("an audit", encoding="utf-8")
    assert "is not a demo" in glasshead("demo", "--out", out, code=2).stderr
    assert names(out) == {"report.html"}


def test_what_is_compiled_is_said_and_what_is_missing_is_one_line(monkeypatch, tmp_path):
    monkeypatch.setenv("CXX", "no-such-compiler")
    monkeypatch.setenv("GLASSHEAD_CACHE", str(tmp_path))
    assert "native is not compiled: glasshead kernels build" in glasshead("list", "kernels").stdout
    refused = glasshead("kernels", "build", code=2)
    assert "there is no C++ compiler 'no-such-compiler'" in one_line(refused.stderr)
    assert list(tmp_path.iterdir()) == []
    native_library("AVX2").parent.mkdir(parents=True)
    native_library("AVX2").touch()
    assert "native is compiled for AVX2" in glasshead("list", "kernels").stdout
