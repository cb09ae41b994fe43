"""The pictures of lens, direct attribution and exchanges: every cell, its word, frames of what matters."""

import numpy as np
import pytest
from matplotlib.patches import Rectangle

import glasshead
from glasshead.report import PLOTS, inside_figure
from glasshead.report.figure_file import to_matplotlib
from induction import INDUCTION_HEAD, induction_model, repeated_text
from typed import glasshead as command
from typed import refusal


@pytest.fixture(scope="module")
def found():
    model, tokenizer = induction_model()
    text = repeated_text()[0]
    return glasshead.lens(model, text, tokenizer=tokenizer), glasshead.logit_attribution(
        model, text, tokenizer=tokenizer
    )


@pytest.fixture(scope="module")
def patched():
    model, tokenizer = induction_model()
    rows = []
    for seed in range(10):
        text, answer = repeated_text(seed=seed)
        words = text.split()
        other = next(word for word in words if word not in (answer, words[3]))
        changed = [*words[:4], other, *words[5:]]
        texts = {"clean": text, "corrupted": " ".join(changed)}
        rows.append({**texts, "answer": answer, "against": other})
    return glasshead.patch(model, rows, tokenizer=tokenizer)


def shades_and_words(figure):
    axes = to_matplotlib(figure).axes[0]
    words = np.full(axes.images[0].get_array().shape, "", dtype=object)
    for text in axes.texts:
        column, row = map(int, text.get_position())
        words[row, column] = text.get_text()
    frames = [patch for patch in axes.patches if isinstance(patch, Rectangle)]
    return axes, np.asarray(axes.images[0].get_array()), words, frames


def test_every_layer_and_place_of_the_lens(found):
    lens, _ = found
    axes, values, words, _ = shades_and_words(PLOTS["lens"].draw(lens))
    np.testing.assert_allclose(values, lens.probabilities[::-1, :, 0])
    assert words[0, -1] == lens.top(-1, -1)[0]
    assert [tick.get_text() for tick in axes.get_yticklabels()] == [*reversed(lens.layers)]


def test_every_head_and_mlp(found):
    _, parts = found
    axes, values, words, _ = shades_and_words(PLOTS["logit-parts"].draw(parts))
    layer, head = INDUCTION_HEAD
    row = [tick.get_text() for tick in axes.get_yticklabels()].index(f"layer {layer}")
    assert np.nanargmax(values) == row * values.shape[1] + head
    effects = parts.heads[layer].effects.sum(axis=1)
    np.testing.assert_allclose(values[row], [*effects, parts.mlps[layer]])
    assert words[row, head] == f"+{effects[head]:.2f}"


def test_sites_that_matter_have_a_frame(patched):
    _, values, words, frames = shades_and_words(PLOTS["patched-sites"].draw(patched))
    assert [(site.layer, site.column) for site in patched.shown] == [INDUCTION_HEAD]
    assert len(frames) == 1
    assert values[INDUCTION_HEAD] == pytest.approx(patched.shown[0].change)
    assert words[INDUCTION_HEAD] == f"{patched.shown[0].change:.2f}"


@pytest.mark.parametrize("kind", ["svg", "png", "pdf"])
def test_all_of_them_are_files(kind, found, patched, tmp_path):
    start = {"svg": b"<?xml", "png": b"\x89PNG", "pdf": b"%PDF"}[kind]
    for number, value in enumerate((*found, patched, inside_figure(*found))):
        value.save(tmp_path / f"{number}.{kind}")
        assert (tmp_path / f"{number}.{kind}").read_bytes().startswith(start)


def test_the_command_draws_both(tmp_path):
    for each in induction_model():
        each.save_pretrained(tmp_path / "model")
    command("lens", tmp_path / "model", repeated_text()[0], "--out", tmp_path / "inside.svg")
    assert (tmp_path / "inside.svg").read_bytes().startswith(b"<?xml")
    wrong = ("--format", "json", "--out", "inside.png")
    assert "must end in" in refusal(tmp_path, "lens", tmp_path / "model", "w01 w02", *wrong)
