"""`glasshead recommend` as it is typed: generate, train, evaluate, and what is refused."""

import json
import os
import shutil
import signal

import pytest
from mind_logs import BEHAVIORS, NEWS, write_logs

from alike import assert_same_weights
from glasshead.cli.training_bar import ProgressBar
from glasshead.files.manifest import MANIFEST
from typed import glasshead, one_line, refusal, tree

SMALL = ("--epochs", 2, "--set", "hidden_size=8", "--set", "num_attention_heads=1", "--set", "head_dim=4")


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """`logs` and `run`, made by the commands. Not to be written to."""
    folder = tmp_path_factory.mktemp("recommend")
    said = glasshead("recommend", "generate", folder / "logs", "--users", 40, "--interest", "long").stdout
    assert f"glasshead recommend train {folder}/logs/train --dev {folder}/logs/dev" in said
    train = folder / "logs" / "train"
    ran = glasshead("recommend", "train", train, "--out", folder / "run", "--seed", 2, *SMALL)
    assert f"Run in {folder / 'run'}" in ran.stdout
    assert "dev  AUC 0." in ran.stdout
    return folder


def test_what_was_generated(made):
    assert set(tree(made / "logs")) == {
        *("logs.json", MANIFEST),
        *("train", "train/behaviors.tsv", "train/news.tsv"),
        *("dev", "dev/behaviors.tsv", "dev/news.tsv"),
        *("test", "test/behaviors.tsv", "test/news.tsv"),
    }
    assert json.loads((made / "logs" / "logs.json").read_text())["interest"] == "long"


def test_the_next_command_reads_logs_that_the_training_has_not(made, tmp_path):
    train = ("recommend", "train", made / "logs" / "train", "--out")
    said = glasshead(*train, tmp_path / "run", "--dev", made / "logs" / "dev", *SMALL).stdout
    assert f"glasshead recommend evaluate {tmp_path}/run {made}/logs/test" in said.replace("\n", " ")
    alone = shutil.copytree(made / "logs" / "train", tmp_path / "alone" / "train")
    said = glasshead("recommend", "train", alone, "--out", tmp_path / "other", *SMALL).stdout
    assert f"glasshead recommend evaluate {tmp_path}/other OTHER" in said.replace("\n", " ")
    for logs, word in (("train", "was trained on"), ("dev", "chose its epoch on"), ("test", None)):
        out = tmp_path / f"{logs}.json"
        command = ("recommend", "evaluate", tmp_path / "run", made / "logs" / logs, "--out", out)
        remarks = glasshead(*command).stderr
        assert json.loads(out.read_text())["read_before"] == (None if word is None else logs)
        if word is None:
            assert remarks == ""
        else:
            (line,) = remarks.splitlines()
            assert line.startswith(f"{made}/logs/{logs} contains what {tmp_path}/run {word}")


def test_settings_that_have_an_option_may_be_set_as_well(made, tmp_path):
    given = ("attention=tanhmax", "epochs=1", "title_length=7", "vocab_size=50", "batch_size=16")
    sets = [each for setting in given for each in ("--set", setting)]
    train = ("recommend", "train", made / "logs" / "train", "--out", tmp_path / "run")
    glasshead(*train, *SMALL, "--attention", "softmax", *sets)
    recipe = json.loads((tmp_path / "run" / "run.json").read_text())["recipe"]
    names = ("attention", "epochs", "title_length", "vocab_size", "batch_size", "num_attention_heads")
    assert [recipe[name] for name in names] == ["tanhmax", 1, 7, 50, 16, 1]


def test_word_vectors_of_another_size(made, tmp_path):
    vectors = tmp_path / "vectors.txt"
    vectors.write_text("goal 1 2 3 4\nstriker 4 3 2 1\n", encoding="utf-8")
    train = ("recommend", "train", made / "logs" / "train", "--out", tmp_path / "run", "--vectors", vectors)
    message = refusal(tmp_path, *train, "--set", "hidden_size=8")
    assert f"{vectors} has vectors of 4 values, but the embeddings have 8" in message
    glasshead(*train, "--epochs", 1, "--preset", "da-transformer", "--set", "num_attention_heads=2")
    assert json.loads((tmp_path / "run" / "run.json").read_text())["recipe"]["hidden_size"] == 4


def test_logs_are_replaced_on_demand_only(made, tmp_path):
    logs = shutil.copytree(made / "logs", tmp_path / "logs")
    assert "exists already" in refusal(tmp_path, "recommend", "generate", logs)
    glasshead("recommend", "generate", logs, "--users", 40, "--overwrite")
    assert json.loads((logs / "logs.json").read_text())["interest"] == "short"


def test_evaluate(made, tmp_path):
    out = tmp_path / "numbers.json"
    said = glasshead("recommend", "evaluate", made / "run", made / "logs" / "dev", "--out", out).stdout
    assert all(word in said for word in ("model", "popularity", "random", "ndcg@10", "20 impressions"))
    told = json.loads(out.read_text())
    assert set(told["metrics"]) == {"model", "popularity", "random"}
    assert set(told["differences"]) == {"popularity", "random"}
    auc = told["metrics"]["model"]["auc"]
    assert auc["n"] == 20
    chance = told["metrics"]["random"]["auc"]
    assert [chance[name] for name in ("low", "mean", "high")] == [
        None,
        pytest.approx(0.5),
        None,
    ]  # of all alike
    assert 0 <= auc["low"] <= auc["mean"] <= auc["high"] <= 1
    assert told["data"]["not_rankable"] == 0
    again = refusal(tmp_path, "recommend", "evaluate", made / "run", made / "logs" / "dev", "--out", out)
    assert "exists already" in again


class TestRank:
    def test_ranks_as_mind_has_them_and_scores(self, made, tmp_path):
        out, scores = tmp_path / "prediction.txt", tmp_path / "scores.jsonl"
        command = ("recommend", "rank", made / "run", made / "logs" / "test", "--out", out)
        glasshead(*command, "--scores", scores)
        rows = [json.loads(line) for line in scores.read_text().splitlines()]
        behaviors = (made / "logs" / "test" / "behaviors.tsv").read_text().splitlines()
        assert len(rows) == len(behaviors) == 20
        for line, row, behavior in zip(out.read_text().splitlines(), rows, behaviors, strict=True):
            number, user, _, _, shown = behavior.split("\t")
            assert line == f"{number} [{','.join(map(str, row['ranks']))}]"
            assert (row["impression"], row["user"]) == (number, user)
            assert row["shown"] == [item.rpartition("-")[0] for item in shown.split()]
            best_first = sorted(row["scores"], reverse=True)
            assert [best_first[rank - 1] for rank in row["ranks"]] == row["scores"]
            assert sorted(row["ranks"]) == list(range(1, len(row["shown"]) + 1))
        assert "exists already" in refusal(tmp_path, *command)

    def test_clicks_need_not_be_told_and_change_nothing(self, made, tmp_path):
        bare = tuple(row.replace("-1", "").replace("-0", "") for row in BEHAVIORS)
        files = [tmp_path / "told.txt", tmp_path / "bare.txt"]
        for out, rows in zip(files, (BEHAVIORS, bare), strict=True):
            logs = write_logs(tmp_path / out.stem, behaviors=rows)
            result = glasshead("recommend", "rank", made / "run", logs, "--out", out)
            assert "1 of 3 impressions have no history" in result.stderr
        told, untold = (path.read_text() for path in files)
        assert told == untold
        assert told.splitlines()[1] == "2 [1,2,3]"  # without a history all news tie

    def test_two_files(self, made, tmp_path):
        command = ("recommend", "rank", made / "run", made / "logs" / "test", "--out")
        assert "must end in .txt" in refusal(tmp_path, *command, tmp_path / "a.csv")
        both = refusal(tmp_path, *command, tmp_path / "a.txt", "--scores", tmp_path / "a.txt")
        assert "the same file" in both


class TestAudit:
    def test_page_card_and_gate(self, made, tmp_path):
        command = ("recommend", "audit", made / "run", made / "logs" / "test", "--draws", 3, "--out")
        said = glasshead(*command, tmp_path / "a").stdout
        assert "Is attention large where erasing a clicked news" in said
        assert "total variation" in said
        card = json.loads(glasshead(*command, tmp_path / "b", "--format", "json").stdout)
        assert {"clicks", "words", "ranking"} == {one["audit"] for one in card["findings"]}
        assert all(one["n"] == 20 for one in card["findings"] if one["audit"] == "ranking")
        page = (tmp_path / "a" / "report.html").read_text()
        assert "The clicked news" in page
        failed = glasshead(*command, tmp_path / "c", "--fail-under", "ranking.auc=0.999", code=1)
        assert "ranking.auc: " in failed.stderr
        assert "no finding is called" in refusal(tmp_path, *command, tmp_path / "d", "--fail-under", "x=1")

    def test_without_clicks(self, made, tmp_path):
        row = "\t".join((*BEHAVIORS[0].split("\t")[:4], "N3 N4"))
        logs = write_logs(tmp_path / "logs", behaviors=(row,))
        command = ("recommend", "audit", made / "run", logs, "--out", tmp_path / "a", "--format", "json")
        names = {one["statistic"] for one in json.loads(glasshead(*command).stdout)["findings"]}
        assert "shift" in names
        assert not {"auc", "loss"} & names

    def test_nothing_to_audit(self, made, tmp_path):
        logs = write_logs(tmp_path / "logs", behaviors=(BEHAVIORS[1],))
        command = ("recommend", "audit", made / "run", logs, "--out", tmp_path / "a")
        assert "there is nothing to audit" in refusal(tmp_path, *command)


class TestExplain:
    def test_every_clicked_title_and_every_word(self, made, tmp_path):
        command = ("recommend", "explain", made / "run", made / "logs" / "test")
        said = glasshead(*command, "--titles", 2).stdout
        assert "news level, 20 clicked news items, oldest first; click score" in said
        assert "rank 1 of 9" in said
        assert said.count("word level of") == 3  # the candidate, and two clicked titles
        assert "a contribution is what the state adds" in said
        told = json.loads(glasshead(*command, "--format", "json").stdout)
        assert [len(each["tokens"]) for each in told] == [20, *[5] * 6]
        assert sum(told[0]["scores"]) == pytest.approx(1)
        page = tmp_path / "why.html"
        glasshead(*command, "--impression", "3", "--method", "erasure", "--out", page)
        assert page.read_text().count("<article") == 7

    @pytest.mark.parametrize(
        ("options", "words"),
        [
            (("--impression", "99"), "behaviors.tsv has no impression '99'"),
            (("--impression", "2"), "has no history"),
            (("--candidate", "N1"), "impression '1' does not show 'N1'"),
            (("--method", "lime"), "--method must be attention or erasure, not 'lime'"),
        ],
    )
    def test_refusals(self, made, tmp_path, options, words):
        logs = write_logs(tmp_path / "logs")
        assert words in refusal(tmp_path, "recommend", "explain", made / "run", logs, *options)


@pytest.mark.parametrize("attention", ["softmax", "shaw", "transformer-xl", "tener", "tanhmax"])
def test_every_mechanism_trains(made, tmp_path, attention):
    arguments = (*SMALL, "--epochs", 1, "--attention", attention)
    glasshead("recommend", "train", made / "logs" / "train", "--out", tmp_path / "run", *arguments)
    config = json.loads((tmp_path / "run" / "config.json").read_text())
    assert config["attention"] == attention
    assert config["positions"] == "auto"


class TestRows:
    def test_bad_ones_are_refused_by_line(self, made, tmp_path):
        logs = write_logs(tmp_path / "logs", behaviors=(BEHAVIORS[0], "2\tU2", *BEHAVIORS[1:]))
        for command in (
            ("train", logs, "--out", tmp_path / "run"),
            ("train", made / "logs" / "train", "--dev", logs, "--out", tmp_path / "run"),
            ("evaluate", made / "run", logs),
        ):
            message = refusal(tmp_path, "recommend", *command)
            assert "behaviors.tsv line 2: 2 fields where impressions have 5" in message
            assert "--skip-bad-rows" in message

    def test_skipped_ones_are_counted(self, made, tmp_path):
        logs = write_logs(tmp_path / "logs", news=("N9", *NEWS, "N8"))
        result = glasshead("recommend", "evaluate", made / "run", logs, "--skip-bad-rows")
        assert "left out: " in result.stderr
        assert "news.tsv line 1: 1 field where news has 8, and 1 more row\n" in result.stderr
        ran = glasshead("recommend", "train", logs, "--out", tmp_path / "run", "--skip-bad-rows", *SMALL)
        assert "and 1 more row\n" in ran.stderr
        record = json.loads((tmp_path / "run" / "run.json").read_text())
        assert record["data"]["train"]["skipped_rows"] == 2

    def test_what_cannot_be_ranked_is_told(self, made, tmp_path):
        logs = write_logs(tmp_path / "logs", behaviors=(*BEHAVIORS, BEHAVIORS[0].replace("-1", "-0")))
        result = glasshead("recommend", "evaluate", made / "run", logs)
        assert "1 of 4 impressions cannot be ranked: none or all of their news was clicked\n" in result.stderr
        assert "3 impressions" in result.stdout

    def test_without_clicks(self, made, tmp_path):
        logs = write_logs(tmp_path / "logs", behaviors=(BEHAVIORS[0].replace("-1", "").replace("-0", ""),))
        for command in (("train", logs, "--out", tmp_path / "run"), ("evaluate", made / "run", logs)):
            assert "does not say what was clicked" in refusal(tmp_path, "recommend", *command)


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (("--attention", "distance-awar"), "did you mean 'distance-aware'?"),
        (("--preset", "smal"), "did you mean 'small'?"),
        (("--set", "num_attention_head=2"), "did you mean 'num_attention_heads'?"),
        (("--set", "heads"), "is not NAME=VALUE"),
        (("--set", "num_attention_heads=two"), "--set num_attention_heads must be a whole number, not 'two'"),
        (("--set", "dropout=0.1", "--set", "epochs=1.5"), "--epochs must be a whole number, not 1.5"),
        (("--set", "hidden_size=[8]"), "--set hidden_size must be a whole number or null, not [8]"),
        (("--set", "attention=null"), "--attention must be a word or a mapping, not None"),
        (("--epochs", 0), "--epochs must be at least 1"),
        (("--dev-fraction", 2), "--dev-fraction must"),
        (("--dev", "nowhere"), "no such folder: nowhere"),
        (("--resume",), "nothing to resume"),
    ],
)
def test_settings_that_are_refused(made, tmp_path, arguments, says):
    train = ("recommend", "train", made / "logs" / "train", "--out", tmp_path / "new" / "run")
    assert says in refusal(tmp_path, *train, *arguments)


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (("--interest", "medium"), "short, long or mixed"),
        (("--burst", "first"), "anywhere or last"),
        (("--users", 1), "at least 4"),
        (("--news", 3), "--news must be at least"),
    ],
)
def test_logs_that_cannot_be_generated(tmp_path, arguments, says):
    assert says in refusal(tmp_path, "recommend", "generate", tmp_path / "logs", *arguments)


def test_a_run_of_another_kind(made, tmp_path):
    dev = made / "logs" / "dev"
    assert "does not exist" in refusal(
        tmp_path, "recommend", "evaluate", tmp_path / "no", made / "logs" / "dev"
    )
    (tmp_path / "run.json").write_text('{"recipe": 1}', encoding="utf-8")
    message = refusal(tmp_path, "recommend", "evaluate", tmp_path, dev)
    assert "not a run of 'glasshead recommend train" in message


def test_a_run_does_not_replace_its_logs(made, tmp_path):
    logs = shutil.copytree(made / "logs", tmp_path / "logs")
    arguments = ("recommend", "train", logs / "train", "--out", logs, "--overwrite")
    assert "which is an input" in refusal(tmp_path, *arguments)


@pytest.mark.slow
def test_interrupted_and_on(made, tmp_path, monkeypatch):
    def on_step_end(self, args, state, control, **kwargs):
        if state.global_step == 5:
            os.kill(os.getpid(), signal.SIGINT)

    train = ("recommend", "train", made / "logs" / "train", "--out", tmp_path / "run", "--seed", 2, *SMALL)
    with monkeypatch.context() as patch:
        patch.setattr(ProgressBar, "on_step_end", on_step_end)
        result = glasshead(*train, code=130)
    assert "--resume" in one_line(result.stderr)
    assert {path.name for path in tmp_path.iterdir()} == {"run.partial"}
    glasshead(*train, "--resume")
    assert_same_weights(tmp_path / "run", made / "run")
