"""``glasshead plot positions`` and ``plot heads``: what a run has learned, or one clear line."""

import json

import numpy as np
import pytest
from typed import glasshead, refusal

from fake_models import TEXT, write_model
from glasshead.trace import head_maps as maps_of
from glasshead.trace import head_weights as heads_module
from glasshead.trace import learned_positions
from glasshead.training import load_run, load_run_model, run_folders

FIRST = {"attention": "distance-aware", "pooling": "first"}


@pytest.fixture(scope="module")
def runs(tmp_path_factory):
    """One run of every family, and two repeats; not to be written to."""
    folder = tmp_path_factory.mktemp("runs")
    write_model(folder / "first", **FIRST)
    write_model(folder / "signed", attention="tanhmax", num_hidden_layers=2)
    write_model(folder / "linear", attention={"position": {"name": "distance-aware", "mapping": "linear"}})
    write_model(folder / "clip", attention={"position": {"name": "distance-aware", "mapping": "clip"}})
    write_model(folder / "pair", "pair-encoder", attention="distance-aware")
    write_model(folder / "sentences", "hierarchical", attention="distance-aware", num_hidden_layers=2)
    write_model(folder / "pooled", "pooled")
    for seed in (0, 1):
        write_model(folder / "repeats" / f"seed-{seed}", seed=seed, **FIRST)
    (folder / "repeats" / "repeats.json").write_text(json.dumps({"seeds": [0, 1], "metrics": {}}))
    return folder


def positions(folder):
    return learned_positions([load_run_model(run) for run in run_folders(folder)])


def head_maps(folder, text, pair=None, **options):
    run = load_run(folder)
    return maps_of(run.model, run.tokenizer, text, pair, **options)


def titles(maps):
    return [one.title for one in maps.maps]


class TestPositions:
    def test_names_itself_in_the_current_folder(self, runs, tmp_path, monkeypatch):
        monkeypatch.chdir(tmp_path)
        said = glasshead("plot", "positions", runs / "sentences").stdout
        assert said == "Written to sentences-positions.svg\n"
        assert (tmp_path / "sentences-positions.svg").read_bytes().startswith(b"<?xml")
        assert "pass --overwrite" in refusal(tmp_path, "plot", "positions", runs / "sentences")

    def test_every_layer_of_both_levels(self, runs):
        names = [f"{level} level, layers.{layer}" for level in ("word", "sentence") for layer in (0, 1)]
        assert [layer[0].layer for layer in positions(runs / "sentences")] == names

    def test_values_and_where_they_began(self, runs):
        ((w, v),) = positions(runs / "repeats")
        expected = np.roll(np.linspace(-1, 1, 6), 1)
        np.testing.assert_allclose(w.values, [expected, 2 * expected], rtol=1e-6)
        np.testing.assert_allclose(v.values[0], expected**2, rtol=1e-6)
        np.testing.assert_allclose(w.initial, np.linspace(-0.05, 0.05, 6), rtol=1e-6)
        assert v.initial.tolist() == [0.0] * 6
        assert (w.layer, w.parameter, v.parameter) == ("encoder.layers.0", "w", "v")

    @pytest.mark.parametrize(("run", "known"), [("linear", ["w", "k", "b"]), ("clip", ["w"])])
    def test_other_mappings_show_what_they_learn(self, runs, run, known):
        assert [[one.parameter for one in layer] for layer in positions(runs / run)] == [known]

    def test_nothing_learned(self, runs, tmp_path):
        said = refusal(tmp_path, "plot", "positions", runs / "signed", "--out", tmp_path / "a.png")
        assert "has no distance-aware attention" in said

    def test_a_news_recommender(self, tmp_path):
        from glasshead.models import NewsRecommender, NewsRecommenderConfig

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
        assert "is to end in" in refusal(tmp_path, "plot", "positions", runs / "first", "--out", "a.jpg")
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

    def test_the_lowest_and_the_highest_w(self, runs):
        found = head_maps(runs / "first", TEXT)
        assert [title.split(":")[0] for title in titles(found)] == ["head 1", "head 2", "head 5", "head 0"]
        assert titles(found)[0] == "head 1:  w = −1,  v = 1"
        assert (found.layer, found.signed) == ("encoder.layers.0", False)
        assert found.rows == found.columns == ["[CLS]", *TEXT.split()]
        for one in found.maps:  # every row, although the model itself reads only the first
            assert one.weights.shape == (len(found.rows), len(found.rows))
            np.testing.assert_allclose(one.weights.sum(axis=1), 1.0, rtol=1e-5)

    def test_signed_weights_without_positions(self, runs):
        found = head_maps(runs / "signed", TEXT, layer=1)
        assert titles(found) == ["head 0", "head 1", "head 2", "head 3"]
        assert (found.layer, found.signed) == ("encoder.layers.1, raw signs", True)
        assert min(one.weights.min() for one in found.maps) < 0

    def test_signed_weights_are_canonical_where_a_gauge_was_fixed(self, runs):
        run = load_run(runs / "signed")
        raw = maps_of(run.model, run.tokenizer, TEXT, layer=1, heads=[1, 0]).maps
        heads = run.model.config.num_attention_heads
        run.model.config.gauge = [[1] * heads, [1, -1, *[1] * (heads - 2)]]
        found = maps_of(run.model, run.tokenizer, TEXT, layer=1, heads=[1, 0])
        assert found.layer == "encoder.layers.1, canonical signs"
        np.testing.assert_array_equal(found.maps[0].weights, -raw[0].weights)
        np.testing.assert_array_equal(found.maps[1].weights, raw[1].weights)

    def test_a_pair_is_two_blocks(self, runs):
        found = head_maps(runs / "pair", "a warm film", pair="the end", heads=[3])
        assert [title.split(":")[0] for title in titles(found)] == ["head 3"]
        assert found.rows == ["[CLS]", "a", "warm", "film", "[CLS]", "the", "end"]
        seen = ~np.isnan(found.maps[0].weights)
        assert seen[:4, :4].all()
        assert seen[4:, 4:].all()
        assert seen.sum() == 16 + 9
        assert found.remark.startswith("Each text stands in a block of its own")

    def test_heads_without_a_pattern_are_named(self, runs, monkeypatch):
        record_layers = heads_module.record_layers

        def uniform_but_one(*inputs):
            records, segments = record_layers(*inputs)
            weights, allowed = records[0].weights, records[0].allowed
            weights[:] = allowed / allowed.sum(dim=-1, keepdim=True)
            weights[:, 2] = weights[:, 2].cumsum(dim=-1)
            return records, segments

        monkeypatch.setattr(heads_module, "record_layers", uniform_but_one)
        found = head_maps(runs / "sentences", TEXT, heads=[0, 2, 4])
        assert [one.uniform for one in found.maps] == [True, False, True]
        assert found.remark.startswith(
            "Each sentence stands in a block of its own: no head looks across. Nearly uniform: "
        )
        assert "Nearly uniform: heads 0, 4. In every row the entropy is above 97\u00a0% of" in found.remark
        assert head_maps(runs / "first", TEXT, heads=[3]).remark.startswith("Nearly uniform: head 3.")
        assert head_maps(runs / "first", TEXT, heads=[2]).remark == ""

    def test_words_and_sentences_of_a_document(self, runs):
        words = head_maps(runs / "sentences", TEXT)
        assert words.layer == "word level, layers.0"
        assert words.rows == TEXT.split()
        assert (~np.isnan(words.maps[0].weights)).sum() == 4**2 + 5**2 + 11**2
        sentences = head_maps(runs / "sentences", TEXT, layer=3)
        assert sentences.layer == "sentence level, layers.0"
        assert [row[0] for row in sentences.rows] == ["1", "2", "3"]
        assert sentences.maps[0].weights.shape == (3, 3)

    def test_a_long_document_shows_its_longest_sentence(self, runs):
        long = " ".join(["the plot is thin ."] * 9 + ["the end was good and the music was good ."] * 2)
        found = head_maps(runs / "sentences", long)
        assert found.rows == ["the", "end", "was", "good", "and", "the", "music", "was", "good", "."]
        assert found.remark.startswith("Drawn is sentence 10 of 11, the longest.")

    def test_a_pooling_is_one_row(self, runs):
        found = head_maps(runs / "sentences", TEXT, layer=2)
        assert found.rows == ["pooling"]
        assert found.maps[0].weights.shape == (1, len(found.columns))
        assert found.maps[0].weights.sum() == pytest.approx(3.0)  # one summary for each sentence

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
            ("first", [TEXT, "--heads", "0.5"], "counts from 0 in whole numbers"),
            ("first", [TEXT, "--heads", "a"], "--heads takes 1 to 16 numbers"),
            ("first", [TEXT, "--out", "a.gif"], "is to end in"),
            ("nothing", [TEXT], "is not a run"),
        ],
    )
    def test_refusals(self, runs, tmp_path, monkeypatch, run, arguments, message):
        monkeypatch.chdir(tmp_path)
        assert message in refusal(tmp_path, "plot", "heads", runs / run, *arguments)
