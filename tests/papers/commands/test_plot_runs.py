"""``glasshead plot positions`` and ``plot heads``: what a run has learned, or one clear line."""

import json

import pytest

from fake_models import TEXT, write_model
from glasshead.opening import load_run_model, run_folders
from glasshead.trace import read_learned_positions
from typed import glasshead, refusal

FIRST = {"attention": "distance-aware", "pooling": "first"}


@pytest.fixture(scope="module")
def runs(tmp_path_factory):
    """One run of every family; not to be written to."""
    folder = tmp_path_factory.mktemp("runs")
    write_model(folder / "first", **FIRST)
    write_model(folder / "signed", attention="tanhmax", num_hidden_layers=2)
    write_model(folder / "pair", "pair-encoder", attention="distance-aware")
    write_model(folder / "sentences", "hierarchical", attention="distance-aware", num_hidden_layers=2)
    write_model(folder / "pooled", "pooled")
    return folder


def positions(folder):
    return read_learned_positions([load_run_model(run) for run in run_folders(folder)])


class TestPositions:
    def test_names_itself_in_the_current_folder(self, runs, tmp_path, monkeypatch):
        monkeypatch.chdir(tmp_path)
        said = glasshead("plot", "positions", runs / "sentences").stdout
        assert said == "Written to sentences-positions.svg\n"
        assert (tmp_path / "sentences-positions.svg").read_bytes().startswith(b"<?xml")
        assert "pass --overwrite" in refusal(tmp_path, "plot", "positions", runs / "sentences")

    def test_nothing_learned(self, runs, tmp_path):
        said = refusal(tmp_path, "plot", "positions", runs / "signed", "--out", tmp_path / "a.png")
        assert "has no distance-aware attention" in said

    def test_a_news_recommender(self, tmp_path):
        from glasshead.papers.models import NewsRecommender, NewsRecommenderConfig

        config = NewsRecommenderConfig(
            vocab_size=9, hidden_size=8, num_attention_heads=2, attention="distance-aware"
        )
        NewsRecommender(config).save_pretrained(tmp_path / "run")
        record = {"what": "news recommender", "recipe": {}, "data": {}, "seed": 0}
        (tmp_path / "run" / "run.json").write_text(json.dumps(record))
        names = [layer[0].layer for layer in positions(tmp_path / "run")]
        assert names == ["word level, layers.0", "news level, layers.0"]
        glasshead("plot", "positions", tmp_path / "run", "--out", tmp_path / "levels.svg")
        assert (tmp_path / "levels.svg").read_bytes().startswith(b"<?xml")

    def test_refusals(self, runs, tmp_path):
        out = ("--out", tmp_path / "a.png")
        assert "is not a run" in refusal(tmp_path, "plot", "positions", tmp_path / "nothing", *out)
        assert "must end in" in refusal(tmp_path, "plot", "positions", runs / "first", "--out", "a.jpg")
        (tmp_path / "bad").mkdir()
        for body in ("[", "{}", '{"seeds": [0, "x"]}'):
            (tmp_path / "bad" / "repeats.json").write_text(body)
            assert "is damaged" in refusal(tmp_path, "plot", "positions", tmp_path / "bad", *out)


class TestHeads:
    def test_writes_a_picture(self, runs, tmp_path):
        out = tmp_path / "heads.png"
        assert str(out) in glasshead("plot", "heads", runs / "first", TEXT, "--out", out).stdout.replace(
            "\n", ""
        )
        assert out.read_bytes().startswith(b"\x89PNG")

    @pytest.mark.parametrize(
        ("run", "arguments", "message"),
        [
            ("pooled", [TEXT], "one learned query and no heads"),
            ("first", [" "], "the text is empty"),
            ("first", ["the end " * 31], "63 tokens cannot be read"),
            ("sentences", ["end . " * 61, "--layer", "4"], "61 sentences cannot be read"),
            ("sentences", ["the end " * 31], "62 tokens cannot be read in a picture: give a sentence of at"),
            ("first", [TEXT, "--pair", "the end"], "reads one text: leave --pair out"),
            ("pair", [TEXT], "give the second one with --pair"),
            ("first", [TEXT, "--layer", "1"], "there is no layer 1: choose from 0 (encoder.layers.0"),
            ("first", [TEXT, "--heads", "1,6"], "has no head 6: its heads are 0 to 5"),
            ("first", [TEXT, "--heads", "0.5"], "takes whole numbers from 0"),
            ("first", [TEXT, "--heads", "a"], "--heads takes 1 to 16 numbers"),
            ("first", [TEXT, "--out", "a.gif"], "must end in"),
            ("nothing", [TEXT], "is not a run"),
        ],
    )
    def test_refusals(self, runs, tmp_path, monkeypatch, run, arguments, message):
        monkeypatch.chdir(tmp_path)
        assert message in refusal(tmp_path, "plot", "heads", runs / run, *arguments)
