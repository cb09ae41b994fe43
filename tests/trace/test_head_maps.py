"""The weights of some heads on one text: which heads and rows, with which signs, and the remarks on them."""

import numpy as np
import pytest

from fake_models import TEXT, write_model
from glasshead.opening import load_run
from glasshead.trace import head_maps as maps_of
from glasshead.trace import head_weights as heads_module


@pytest.fixture(scope="module")
def runs(tmp_path_factory):
    """Runs of four families; not to be written to."""
    folder = tmp_path_factory.mktemp("runs")
    write_model(folder / "first", attention="distance-aware", pooling="first")
    write_model(folder / "signed", attention="tanhmax", num_hidden_layers=2)
    write_model(folder / "pair", "pair-encoder", attention="distance-aware")
    write_model(folder / "sentences", "hierarchical", attention="distance-aware", num_hidden_layers=2)
    return folder


def head_maps(folder, text, pair=None, **options):
    run = load_run(folder)
    return maps_of(run.model, run.tokenizer, text, pair, **options)


def titles(maps):
    return [one.title for one in maps.maps]


def test_the_lowest_and_the_highest_w(runs):
    found = head_maps(runs / "first", TEXT)
    assert [title.split(":")[0] for title in titles(found)] == ["head 1", "head 2", "head 5", "head 0"]
    assert titles(found)[0] == "head 1:  w = −1,  v = 1"
    assert (found.layer, found.signed) == ("encoder.layers.0", False)
    assert found.rows == found.columns == ["[CLS]", *TEXT.split()]
    for one in found.maps:  # every row, although the model itself reads only the first
        assert one.weights.shape == (len(found.rows), len(found.rows))
        np.testing.assert_allclose(one.weights.sum(axis=1), 1.0, rtol=1e-5)


def test_signed_weights_without_positions(runs):
    found = head_maps(runs / "signed", TEXT, layer=1)
    assert titles(found) == ["head 0", "head 1", "head 2", "head 3"]
    assert (found.layer, found.signed) == ("encoder.layers.1, raw signs", True)
    assert min(one.weights.min() for one in found.maps) < 0


def test_signed_weights_are_canonical_where_a_gauge_was_fixed(runs):
    run = load_run(runs / "signed")
    raw = maps_of(run.model, run.tokenizer, TEXT, layer=1, heads=[1, 0]).maps
    heads = run.model.config.num_attention_heads
    run.model.config.gauge = [[1] * heads, [1, -1, *[1] * (heads - 2)]]
    found = maps_of(run.model, run.tokenizer, TEXT, layer=1, heads=[1, 0])
    assert found.layer == "encoder.layers.1, canonical signs"
    np.testing.assert_array_equal(found.maps[0].weights, -raw[0].weights)
    np.testing.assert_array_equal(found.maps[1].weights, raw[1].weights)


def test_a_pair_is_two_blocks(runs):
    found = head_maps(runs / "pair", "a warm film", pair="the end", heads=[3])
    assert [title.split(":")[0] for title in titles(found)] == ["head 3"]
    assert found.rows == ["[CLS]", "a", "warm", "film", "[CLS]", "the", "end"]
    seen = ~np.isnan(found.maps[0].weights)
    assert seen[:4, :4].all()
    assert seen[4:, 4:].all()
    assert seen.sum() == 16 + 9
    assert found.remark.startswith("Each text is a separate block")


def test_heads_without_a_pattern_are_named(runs, monkeypatch):
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
        "Each sentence is a separate block: no head looks across. Nearly uniform: "
    )
    assert "Nearly uniform: heads 0, 4. In every row the entropy is above 98\u00a0% of" in found.remark
    assert head_maps(runs / "first", TEXT, heads=[3]).remark.startswith("Nearly uniform: head 3.")
    assert head_maps(runs / "first", TEXT, heads=[2]).remark == ""


def test_words_and_sentences_of_a_document(runs):
    words = head_maps(runs / "sentences", TEXT)
    assert words.layer == "word level, layers.0"
    assert words.rows == TEXT.split()
    assert (~np.isnan(words.maps[0].weights)).sum() == 4**2 + 5**2 + 11**2
    sentences = head_maps(runs / "sentences", TEXT, layer=3)
    assert sentences.layer == "sentence level, layers.0"
    assert [row[0] for row in sentences.rows] == ["1", "2", "3"]
    assert sentences.maps[0].weights.shape == (3, 3)


def test_a_long_document_shows_its_longest_sentence(runs):
    long = " ".join(["the plot is thin ."] * 9 + ["the end was good and the music was good ."] * 2)
    found = head_maps(runs / "sentences", long)
    assert found.rows == ["the", "end", "was", "good", "and", "the", "music", "was", "good", "."]
    assert found.remark.startswith("The drawing shows sentence 10 of 11, the longest.")


def test_a_pooling_is_one_row(runs):
    found = head_maps(runs / "sentences", TEXT, layer=2)
    assert found.rows == ["pooling"]
    assert found.maps[0].weights.shape == (1, len(found.columns))
    assert found.maps[0].weights.sum() == pytest.approx(3.0)  # one summary for each sentence
