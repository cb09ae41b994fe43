"""``glasshead dynamics`` and ``plot dynamics``: of watched trainings, of others, and one line where there is
nothing to be told."""

import json
import re
import shlex
import shutil
from pathlib import Path

import fake_histories
import numpy as np
import pytest

from alike import assert_same_weights
from fake_models import write_model
from glasshead.papers.commands.dynamics_remarks import (
    best_step_remark,
    interval_remark,
    not_recorded_remark,
    plateau_remark,
    retrain_command,
)
from glasshead.papers.dynamics.caveats import FEW_SNAPSHOTS
from glasshead.papers.dynamics.findings import LARGEST_PART, gap_finding
from glasshead.papers.results import History
from glasshead.report import plots_of
from glasshead.results import TOO_MUCH_LEFT, TOO_SPARSE, Verdict
from typed import TINY, glasshead, refusal

WATCHED = ("--watch", "dynamics", "--watch-every", "3", "--scale", "10")


@pytest.fixture(scope="module")
def runs(tmp_path_factory):
    """One run of every kind; not to be written to."""
    folder = tmp_path_factory.mktemp("runs")
    glasshead("train", *TINY, *WATCHED, "--out", folder / "dp")
    glasshead("train", *TINY, *WATCHED, "--optimizer", "adagrad", "--out", folder / "adagrad")
    glasshead("train", *TINY, *WATCHED, "--encoder", "lstm", "--out", folder / "lstm")
    glasshead("train", *TINY, "--preset", "s4", "--out", folder / "plain")
    glasshead("train", *TINY, *WATCHED, "--repeats", "2", "--out", folder / "repeats")
    write_model(folder / "encoder")
    return folder


def told(*arguments):
    return " ".join(glasshead("dynamics", *arguments).stdout.split())


def moved(run, folder, source="gone.csv"):
    """A copy of the run, whose data are elsewhere now."""
    copy = shutil.copytree(run, folder / "run")
    record = json.loads((copy / "run.json").read_text())
    record["data"]["source"] = str(source)
    record["data"]["options"].pop("generator")
    (copy / "run.json").write_text(json.dumps(record))
    return copy


class TestPage:
    @pytest.fixture
    def undrawn(self):
        """Here its pictures are drawn."""

    def test_says_it_and_writes_a_page(self, runs, tmp_path):
        out = tmp_path / "new" / "dyn.html"
        said = told(runs / "dp", "--tokens", "superb, dreary", "--out", out)
        for words in (
            "DP, scaled dot-product",
            "VᵀW",
            "positive",
            "95 % interval",
            "D: own labels",
            "superb",
            "Page: ",
        ):
            assert words in said
        page = out.read_text(encoding="utf-8")
        assert "Ledger of superb, dreary" in page
        assert [path.name for path in out.parent.iterdir()] == [out.name]

    def test_the_same_command_gives_the_same_page(self, runs, tmp_path):
        pages = [tmp_path / name for name in ("a.html", "b.html")]
        for page in pages:
            glasshead("dynamics", runs / "dp", "--out", page)
        assert pages[0].read_bytes() == pages[1].read_bytes()


class TestWatched:
    def test_a_page_in_the_way(self, runs, tmp_path):
        out = tmp_path / "dyn.html"
        out.write_text("mine")
        assert "pass --overwrite" in refusal(tmp_path, "dynamics", runs / "dp", "--out", out)
        glasshead("dynamics", runs / "dp", "--out", out, "--overwrite")
        assert out.read_text(encoding="utf-8").startswith("<!doctype html>")

    def test_a_page_is_called_as_its_run(self, runs, tmp_path, monkeypatch):
        monkeypatch.chdir(tmp_path)
        assert "Page: dp-dynamics.html" in told(runs / "dp")
        (tmp_path / "nope-dynamics.html").write_text("mine")
        assert "exists already" not in refusal(tmp_path, "dynamics", tmp_path / "nope")

    def test_a_page_ends_in_html(self, runs, tmp_path):
        said = refusal(tmp_path, "dynamics", runs / "dp", "--out", tmp_path / "y.pdf")
        assert "y.pdf must end in .html" in said

    @pytest.mark.parametrize("command", [("dynamics",), ("plot", "dynamics"), ("plot", "ratios")])
    def test_a_step_before_the_first(self, runs, tmp_path, command):
        said = refusal(tmp_path, *command, runs / "dp", "--step", -1, "--out", tmp_path / "a.html")
        assert "steps count from 0: there is no step −1".replace("−", "-") in said

    def test_a_step_after_the_last(self, runs, tmp_path):
        said = refusal(tmp_path, "dynamics", runs / "dp", "--step", 99999, "--out", tmp_path / "a.html")
        assert re.search(r"the training ended at step [\d,]+: there is no step 99,999", said)

    @pytest.mark.parametrize(("end", "hint"), [(0.69, True), (0.2, False)])
    def test_a_model_that_has_hardly_learned(self, end, hint):
        bare = fake_histories.history()
        loss = bare.curves["quantity"] == "loss"
        mean = np.where(loss & (bare.curves["step"] == 40), end, np.where(loss, 0.7, bare.curves["mean"]))
        history = History(bare.facts, bare.curves | {"mean": mean}, bare.products, bare.tokens)
        assert ("the loss has hardly fallen, from" in (plateau_remark(history) or "")) == hint
        assert plateau_remark(fake_histories.layered()) is None

    @pytest.mark.parametrize(
        ("verdict", "hint"), [(TOO_SPARSE, True), (TOO_MUCH_LEFT, True), (Verdict(LARGEST_PART), False)]
    )
    def test_closer_looks_are_advised_where_terms_need_them(self, verdict, hint):
        history = fake_histories.history(steps=fake_histories.STEPS, every=100)
        more = History(
            history.facts,
            history.curves | {"step": np.r_[history.curves["step"][1:], 50]},
            history.products,
            history.tokens,
        )
        assert len(more.steps) == FEW_SNAPSHOTS
        found = [gap_finding("added to score", "D", "positive", 1.0, None, 12, verdict)]
        expected = "snapshots 100 steps apart are too far apart for some terms: train with --watch-every 10"
        assert interval_remark(more, found) == (expected if hint else None)

    def test_without_plain_descent_there_is_no_ledger(self, runs, tmp_path):
        said = told(runs / "adagrad", "--tokens", "superb", "--out", tmp_path / "a.html")
        assert "No ledger: adagrad rescales the gradients" in said
        page = (tmp_path / "a.html").read_text(encoding="utf-8")
        assert "adagrad rescales the gradients" in page
        assert "What moves scores and polarities" in page

    def test_without_a_closed_form(self, runs, tmp_path):
        said = told(runs / "lstm", "--out", tmp_path / "a.html")
        assert (
            "No terms of the flow: no closed form is known for the score context over the encoder lstm"
            in said
        )
        assert "Polarity of tokens" in (tmp_path / "a.html").read_text(encoding="utf-8")

    def test_tokens_in_their_texts_and_alone(self, runs, tmp_path):
        said = told(runs / "lstm", "--out", tmp_path / "a.html")
        assert "Tokens in their texts and alone, by the trained model" in said
        assert "polar vs neutral" in said
        assert "not shown" not in said
        assert "not those of the training" not in said
        assert 'id="contexts"' in (tmp_path / "a.html").read_text(encoding="utf-8")
        assert "their texts and alone" not in told(runs / "dp", "--out", tmp_path / "b.html")

    def test_without_the_texts_it_says_why(self, runs, tmp_path):
        run = moved(runs / "lstm", tmp_path)
        said = told(run, "--out", tmp_path / "a.html")
        assert (
            "! gone.csv is not here, so tokens are not shown in their texts and alone: name the data of the "
            "training (DATA)" in said
        )
        assert "polar vs neutral" not in said
        assert 'id="contexts"' not in (tmp_path / "a.html").read_text(encoding="utf-8")
        assert "gone.csv is not here, so tokens are not shown" in refusal(
            tmp_path, "plot", "dynamics", run, "--what", "contexts", "--out", tmp_path / "a.svg"
        )

    def test_the_texts_may_be_named(self, runs, tmp_path):
        run = moved(runs / "lstm", tmp_path)
        said = told(run, "synthetic", "--out", tmp_path / "a.html")
        assert "polar vs neutral" in said
        assert "the texts of synthetic are not those of the training, or no longer" in said
        glasshead("plot", "dynamics", run, "synthetic", "--what", "contexts", "--out", tmp_path / "a.svg")
        assert (tmp_path / "a.svg").read_bytes().startswith(b"<?xml")

    def test_texts_that_cannot_be_read_any_more(self, runs, reviews, tmp_path):
        """What was recorded is told all the same, unless these data were named."""
        run = moved(runs / "lstm", tmp_path, reviews)
        said = told(run, "--out", tmp_path / "a.html")
        why = "the model knows the classes negative, positive; the data have bad, good"
        # A long path is broken anywhere.
        expected = f"! tokens are not shown in their texts and alone: {why}"
        assert expected.replace(" ", "") in said.replace(" ", "")
        named = refusal(tmp_path, "dynamics", run, reviews, "--out", tmp_path / "b.html")
        assert "the model knows the classes negative, positive; the data have bad, good" in named

    @pytest.mark.parametrize(("every", "hint"), [(100, True), (1, False)])
    def test_too_few_looks(self, tmp_path, every, hint):
        """Two looks, at the start and at the end, or one after every step."""
        run, watched = tmp_path / "run", ("--watch", "dynamics", "--watch-every", every)
        glasshead("train", *TINY, *watched, "--out", run)
        said = told(run, "--out", tmp_path / "a.html")
        assert ("only 2 snapshots in" in said) == hint
        assert ("train with --watch-every 1 for finer curves" in said) == hint
        page = (tmp_path / "a.html").read_text(encoding="utf-8")
        assert ("for finer curves" in page) == hint

    @pytest.mark.parametrize(
        ("kept", "look"), [(20, "see --step 20"), (18, "see --step 20, the snapshot nearest to it")]
    )
    def test_the_kept_step_is_named_by_a_look(self, kept, look):
        said = best_step_remark(fake_histories.history(best_step=kept), None)
        assert said.endswith(f"the run keeps the model of step {kept}: {look}")
        assert best_step_remark(fake_histories.history(best_step=kept), 10) is None
        assert best_step_remark(fake_histories.history(best_step=40), None) is None

    def test_a_token_that_was_not_followed(self, runs, tmp_path):
        said = told(runs / "dp", "--tokens", "superb,[UNK]", "--out", tmp_path / "a.html")
        assert (
            "'[UNK]' was not followed (it occurs 0 times in train): in the trained model its score is" in said
        )

    @pytest.mark.parametrize(
        ("tokens", "message"),
        [
            ("superbe", "the model knows no token 'superbe': did you mean 'superb'?"),
            ("superb,xqzwvk", "the model knows no token 'xqzwvk', and no followed token is similar"),
            (",", "names nothing"),
            ("a,b,c,d,e,f,g,h,i", "--tokens takes at most 8 tokens, not 9"),
        ],
    )
    def test_tokens_that_cannot_be_meant(self, runs, tmp_path, tokens, message):
        assert message in refusal(
            tmp_path, "dynamics", runs / "dp", "--tokens", tokens, "--out", tmp_path / "a.html"
        )

    def test_data_that_are_not_needed(self, runs, tmp_path):
        said = refusal(tmp_path, "dynamics", runs / "dp", "synthetic", "--out", tmp_path / "a.html")
        assert "was recorded, so its data are not needed" in said
        picture = ("--what", "scores", "--out", tmp_path / "a.svg")
        said = refusal(tmp_path, "plot", "dynamics", runs / "lstm", "synthetic", *picture)
        assert "was recorded, so its data are not needed" in said

    @pytest.mark.parametrize("name", ["facts.json", "curves.parquet", "tokens.parquet"])
    def test_a_damaged_history(self, runs, tmp_path, name):
        run = shutil.copytree(runs / "dp", tmp_path / "run")
        (run / "dynamics" / name).write_text("[")
        said = refusal(tmp_path, "dynamics", run, "--out", tmp_path / "a.html")
        assert "is damaged" in said


class TestNotWatched:
    def test_says_what_it_can_and_how_to_record_the_rest(self, runs, tmp_path):
        said = told(runs / "plain", "--tokens", "superb", "--out", tmp_path / "a.html")
        assert "one snapshot, after training" in said
        assert "only the trained model is shown" in said
        assert "to record it, train it again: glasshead train synthetic --preset s4" in said
        page = (tmp_path / "a.html").read_text(encoding="utf-8")
        for title in ("What moves the trained model", "Dot products of tokens of the trained model"):
            assert title in page

    def test_the_command_that_is_given_trains_the_same_and_watches_it(self, reviews, tmp_path):
        run = tmp_path / "my run"
        chosen = "--preset", "s4", "--epochs", "1", "--scale", "2", "--seed", "4", "--rows", "60"
        glasshead("train", reviews, *chosen, "--out", run)
        record = json.loads((run / "run.json").read_text())
        command = retrain_command(record, None, tmp_path / "my run-watched")
        assert command in not_recorded_remark(run, None, record)
        program, *arguments = shlex.split(command)
        assert program == "glasshead"
        glasshead(*arguments)
        watched = json.loads((tmp_path / "my run-watched" / "run.json").read_text())
        assert (tmp_path / "my run-watched" / "dynamics").exists()
        for name in ("recipe", "seed", "data"):
            assert watched[name] == record[name]
        assert_same_weights(run, tmp_path / "my run-watched")

    def test_a_long_command_is_not_given(self, runs):
        record = json.loads((runs / "plain" / "run.json").read_text())
        out = Path("w")
        made = " ".join(f"--option {name}={n}" for name, n in record["data"]["options"]["generator"].items())
        command = (
            f"glasshead train synthetic --preset s4 --set epochs=2 {made} --seed 0 --watch dynamics --out w"
        )
        assert made
        assert retrain_command(record, None, out) == command
        assert retrain_command(record, "my data", out) is None
        record["data"]["options"]["generator"] = {}
        command = "glasshead train synthetic --preset s4 --set epochs=2 --seed 0 --watch dynamics --out w"
        assert retrain_command(record, None, out) == command
        assert retrain_command(record, "my data", out) == command.replace("synthetic", "'my data'")
        names = "batch_size", "max_length", "epochs", "vocab_size", "learning_rate"
        for changed in (
            {"recipe": record["recipe"] | {"preset": "of another version"}},
            {"recipe": record["recipe"] | dict(zip(names, (7, 7, 7, 7, 0.5), strict=True))},
            {"data": record["data"] | {"source": None}},
            {"data": record["data"] | {"options": record["data"]["options"] | {"classes": ["a", "b"]}}},
        ):  # fmt: skip
            assert retrain_command(record | changed, None, out) is None

    def test_data_that_are_gone(self, runs, tmp_path):
        said = told(moved(runs / "plain", tmp_path), "--out", tmp_path / "a.html")
        assert (
            "gone.csv is not here, so there are no weights and no terms: name the data of the training (DATA)"
            in said
        )
        assert "VᵀW" in said
        assert " weight " not in said

    def test_data_that_are_named(self, runs, tmp_path):
        run = moved(runs / "plain", tmp_path)
        said = told(run, "synthetic", "--out", tmp_path / "a.html")
        assert " weight " in said
        assert (
            "the texts of synthetic are not those of the training, or no longer" in said
        )  # another number of them

    def test_data_of_other_classes(self, runs, reviews, tmp_path):
        said = refusal(tmp_path, "dynamics", runs / "plain", reviews, "--out", tmp_path / "a.html")
        assert "the model knows the classes negative, positive; the data have bad, good" in said

    def test_an_lstm(self, runs, tmp_path):
        """The same tables as of a watched one, from the run without its history."""
        run = shutil.copytree(runs / "lstm", tmp_path / "run")
        shutil.rmtree(run / "dynamics")
        said = told(run, "--out", tmp_path / "a.html")
        assert "only the trained model is shown" in said
        known = told(runs / "lstm", "--out", tmp_path / "b.html")
        tables = [text[text.index("attention above") :].partition(" Verdicts")[0] for text in (said, known)]
        assert tables[0] == tables[1]

    def test_a_model_that_shows_on_texts_only(self, runs, tmp_path):
        said = refusal(tmp_path, "dynamics", runs / "encoder", "--out", tmp_path / "a.html")
        assert "a model whose scores depend on its texts" in said
        assert "name the data of the training (DATA)" in said

    def test_without_a_closed_form_missing_data_are_named_with_the_remedy(self, runs, tmp_path):
        run = moved(runs / "lstm", tmp_path)
        shutil.rmtree(run / "dynamics")
        said = refusal(tmp_path, "dynamics", run, "--out", tmp_path / "a.html")
        assert "gone.csv is not here, so a model whose scores depend on its texts cannot be shown" in said
        assert "no closed form is known for the score context over the encoder lstm" in said
        assert "name the data of the training (DATA)" in said
        assert "one snapshot, after training" in told(run, "synthetic", "--out", tmp_path / "a.html")


@pytest.fixture
def stars(tmp_path):
    """A file of ratings."""
    path = tmp_path / "stars.csv"
    rows = (f"a film {'good ' * (i % 5)}number {i} . it was long .,{i % 5}\n" for i in range(60))
    path.write_text("text,label\n" + "".join(rows))
    return path


class TestRatings:
    """Of models of layers: entropy, distance from rank one and agreement need no classes."""

    SMALL = (
        "--task", "regression", "--epochs", "2", "--set", "hidden_size=8", "--set", "num_attention_heads=2",
        "--set", "head_dim=4", "--set", "value_dim=4", "--set", "intermediate_size=8",
    )  # fmt: skip

    @pytest.mark.parametrize("model", ["encoder", "hierarchical"])
    def test_watched_and_not(self, stars, tmp_path, model):
        rated = ("train", stars, "--model", model, *self.SMALL)
        glasshead(*rated, "--watch", "dynamics", "--watch-every", "1", "--out", tmp_path / "watched")
        said = told(tmp_path / "watched", "--out", tmp_path / "a.html")
        for words in ("layer 0 entropy", "agreement", "3 snapshots in 2 steps"):
            assert words in said
        assert "Agreement" in (tmp_path / "a.html").read_text(encoding="utf-8")
        glasshead(*rated, "--out", tmp_path / "plain")
        said = told(tmp_path / "plain", "--out", tmp_path / "b.html")
        for words in ("layer 0 entropy", "agreement", "one snapshot, after training"):
            assert words in said

    def test_data_with_classes(self, stars, reviews, tmp_path):
        run = tmp_path / "run"
        glasshead("train", stars, "--model", "encoder", *self.SMALL, "--out", run)
        shutil.copy(reviews, stars)
        said = refusal(tmp_path, "dynamics", run, "--out", tmp_path / "a.html")
        assert "rating" in said


class TestRefusals:
    def test_what_is_no_run(self, runs, tmp_path):
        out = ("--out", tmp_path / "a.html")
        assert "is not a run (does not exist)" in refusal(tmp_path, "dynamics", tmp_path / "nothing", *out)
        assert "holds 2 runs: name one of them" in refusal(tmp_path, "dynamics", runs / "repeats", *out)

    def test_a_recommender(self, tmp_path):
        (tmp_path / "news").mkdir()
        record = {"what": "news recommender", "recipe": {}, "data": {}, "seed": 0}
        (tmp_path / "news" / "run.json").write_text(json.dumps(record))
        said = refusal(tmp_path, "dynamics", tmp_path / "news", "--out", tmp_path / "a.html")
        assert "is a news recommender, not a classifier" in said

    def test_ratings_by_one_learned_query(self, stars, tmp_path):
        rated = ("train", stars, "--task", "regression", "--epochs", "1")
        said = " ".join(
            glasshead(*rated, "--watch", "dynamics", "--out", tmp_path / "run", code=2).stderr.split()
        )
        assert [path.name for path in tmp_path.iterdir()] == ["stars.csv"]
        assert "words have no polarity where ratings are predicted" in said
        assert "the layers of the models 'encoder' and 'hierarchical' can be recorded" in said
        glasshead(*rated, "--out", tmp_path / "run")
        said = refusal(tmp_path, "dynamics", tmp_path / "run", "--out", tmp_path / "a.html")
        assert "predicts ratings: words have no polarity" in said

    def test_a_page_within_what_is_read(self, runs, tmp_path):
        said = refusal(tmp_path, "dynamics", runs / "dp", "--out", runs, "--overwrite")
        assert "choose another --out" in said


class TestPlot:
    @pytest.mark.parametrize("what", [name for name in plots_of(History) if name != "layers"])
    def test_every_picture(self, runs, tmp_path, what):
        out = tmp_path / f"{what}.svg"
        chosen = ("--token", "superb") if what in ("ledger", "tokens", "scatter") else ()
        run = runs / ("lstm" if what == "contexts" else "dp")
        glasshead("plot", "dynamics", run, "--what", what, *chosen, "--out", out)
        assert out.read_bytes().startswith(b"<?xml")

    def test_names_itself(self, runs, tmp_path, monkeypatch):
        monkeypatch.chdir(tmp_path)
        assert (
            glasshead("plot", "dynamics", runs / "plain", "--what", "terms").stdout
            == "Written to plain-terms.svg\n"
        )

    @pytest.mark.parametrize(
        ("run", "options", "message"),
        [
            ("dp", ["--what", "ledgre"], "unknown plot 'ledgre': did you mean 'ledger'?"),
            ("dp", ["--what", "tokens"], "name one with --token"),
            (
                "dp",
                ["--what", "scores", "--token", "superb"],
                "--token is for contexts, tokens, ledger, scatter",
            ),
            ("dp", ["--what", "scores", "--step", "3"], "--step is for boxes and scatter"),
            ("dp", ["--what", "boxes", "--step", "99999"], "there is no step 99,999"),
            ("dp", ["--what", "layers"], "only models with several layers record them"),
            ("dp", ["--what", "ledger", "--token", "superbe"], "did you mean 'superb'?"),
            ("dp", ["--what", "ledger", "--token", "[UNK]"], "'[UNK]' was not followed"),
            ("dp", ["--what", "contexts"], "only if the encoder reads the words around"),
            ("plain", ["--what", "contexts"], "only if the encoder reads the words around"),
            ("plain", ["--what", "scores"], "train with --watch dynamics"),
            ("plain", ["--what", "ledger"], "was not recorded"),
            ("adagrad", ["--what", "ledger"], "adagrad rescales"),
            ("lstm", ["--what", "terms"], "no closed form is known"),
        ],
    )
    def test_refusals(self, runs, tmp_path, run, options, message):
        assert message in refusal(
            tmp_path, "plot", "dynamics", runs / run, *options, "--out", tmp_path / "a.png"
        )
        assert "must end in" in refusal(
            tmp_path, "plot", "dynamics", runs / "dp", "--out", tmp_path / "a.jpg"
        )
