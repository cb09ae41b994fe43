"""Explanations of images: every method on every family, on truth that was planted, drawn and written."""

import base64
import io
import json
from dataclasses import replace
from functools import cache

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image
from transformers.models.clip.image_processing_pil_clip import CLIPImageProcessorPil

import glasshead
from glasshead.data import EncodedImages, ImageReader, PatchGrid, Picture, as_picture, normalisation_of
from glasshead.errors import InputError
from glasshead.explainers import EXPLAINERS, REMOVALS, by_word, make_context, removable, with_intervals
from glasshead.huggingface import plug
from glasshead.opening import open_subject
from glasshead.trace import AttentionSelector, eval_mode
from image_families import FAMILIES, PATCH, SIZE, image_model, pictures, processor
from readable import bert
from tolerances import ONE_MODEL

METHODS = (
    "attention", "contribution", "rollout", "gradient-attention", "gradient-attention-signed", "erasure",
    "erasure-renormalise", "erasure-zero-value", "erasure-neutral-colour", "erasure-mean-colour",
    "erasure-blur", "erasure-masked", "value-norm", "gradient",
    "gradient-l2", "grad-cam", "effective-attention", "random", "captum:integrated-gradients",
)  # fmt: skip
TEXT_ONLY = (
    "erasure-delete",
    "erasure-mask-token",
    "erasure-unknown-token",
    "erasure-mean-embedding",
    "captum:lime",
)


READ_PATCHES = ("beit", "clip", "siglip", "dinov2", "dinov2-registers")
"""Families whose classifier averages the vectors of patches; those of the last two have a class token too."""


@cache
def subject(name="vit", attention=None):
    model = image_model(name)
    if attention is not None:
        model = plug(type(model)(_copied(model.config)).eval(), attention)
        model.load_state_dict(image_model(name).state_dict(), strict=False)
    return open_subject(model, processor())


def _copied(config):
    import copy

    return copy.deepcopy(config)


def explain(method, opened, images, **options):
    return EXPLAINERS[method](opened.model, opened.tokenizer, images, **options)


def context_of(opened, images, blocks=None, **options):
    reader = opened.tokenizer.with_blocks(blocks)
    with eval_mode(opened.model):
        return make_context(opened.model, reader.encode(images), reader, **options)


@pytest.mark.parametrize(
    ("method", "name"),
    [
        pytest.param(method, name, marks=() if (place + number) % 6 == 0 else pytest.mark.slow)
        for number, name in enumerate(FAMILIES)
        for place, method in enumerate(METHODS)
    ],
)
def test_every_method_has_one_number_for_each_patch_alone_and_in_batches(method, name):
    opened, images = subject(name), pictures(3)
    if method == "erasure-masked" and name in READ_PATCHES:
        with pytest.raises(InputError, match="predicts from the vectors of the patches"):
            explain(method, opened, images)
        return
    together = explain(method, opened, images)
    grid = opened.tokenizer.grid
    for picture, attribution in zip(images, together, strict=True):
        (alone,) = explain(method, opened, [picture])
        assert attribution.text == picture.name
        assert len(attribution.scores) == grid.length == len(attribution.boxes)
        assert np.isfinite(attribution.scores).all()
        np.testing.assert_allclose(alone.scores, attribution.scores, **{**ONE_MODEL, "atol": 1e-4})
        assert by_word(attribution) == attribution
    assert not any(module._forward_hooks for module in opened.model.modules())


@pytest.mark.parametrize("method", TEXT_ONLY)
def test_what_is_for_words_is_refused_with_what_to_do_instead(method):
    with pytest.raises(InputError, match=r"images.*'erasure-neutral-colour'$"):
        explain(method, subject(), pictures(1))


@pytest.mark.parametrize(
    "method", ["erasure-neutral-colour", "erasure-mean-colour", "erasure-blur", "erasure-masked"]
)
def test_what_is_for_patches_is_refused_before_texts(method):
    kind = bert()
    with pytest.raises(InputError, match=r"cannot remove a part of texts: use the method 'erasure-delete'"):
        EXPLAINERS[method](kind.model, kind.tokenizer, kind.texts[:1])


def planted(bright, dark):
    """Grey, but for a bright and a dark patch, so that the mean colour is that grey."""
    pixels = np.full((SIZE, SIZE, 3), 128, dtype=np.uint8)
    for place, shade in ((bright, 228), (dark, 28)):
        row, column = divmod(place, SIZE // PATCH)
        pixels[row * PATCH : (row + 1) * PATCH, column * PATCH : (column + 1) * PATCH] = shade
    return Picture(f"patch {bright}", as_picture(Image.fromarray(pixels)).content)


def test_painting_over_what_has_the_mean_colour_changes_nothing():
    for places in ((0, 5), (8, 4)):
        (attribution,) = explain("erasure-mean-colour", subject(), [planted(*places)], target="cat")
        scores = np.abs(attribution.scores[1:])
        assert set(np.flatnonzero(scores > 1e-5)) == set(places)


def test_integrated_gradients_begin_at_what_no_image_has_a_part_in():
    """The mean colour of an image may tell its class, and the way from there to the image says nothing."""
    encoded = context_of(subject(), [planted(0, 5), *pictures(2)]).encoded
    pixels = encoded.baseline(subject().tokenizer).inputs()["pixel_values"]
    assert not pixels.any()
    (attribution,) = explain("captum:integrated-gradients", subject(), [planted(0, 5)], target="cat")
    scores = np.abs(attribution.scores[1:])
    assert set(np.argsort(-scores)[:2]) == {0, 5}  # all others are half a shade from it


def test_integrated_gradients_along_vectors_of_patches_are_those_along_pixels():
    """The vectors are linear in the pixels, so that both ways are one."""
    import captum.attr

    opened, (picture,) = subject(), pictures(1)
    context = context_of(opened, [picture], target="cat")
    encoded = context.encoded
    pixels = encoded.inputs()["pixel_values"]
    baseline = encoded.baseline(opened.tokenizer).inputs()["pixel_values"]
    along = captum.attr.IntegratedGradients(lambda x: opened.model(x).logits.softmax(dim=1)[:, 0]).attribute(
        pixels, baseline, n_steps=50
    )
    own = EXPLAINERS["captum:integrated-gradients"].importance(context)[0, 1:]
    by_patch = [
        float(along[0, :, top:bottom, left:right].sum())
        for left, top, right, bottom in map(opened.tokenizer.grid.box, range(9))
    ]
    np.testing.assert_allclose(own.numpy(), by_patch, atol=1e-5)


def test_hiding_a_patch_is_the_models_own_mask():
    opened, images = subject(), pictures(2)
    context = context_of(opened, images)
    removed = torch.zeros(2, 10, dtype=torch.bool)
    removed[0, 3] = removed[1, [2, 7]] = True
    hidden = REMOVALS["masked"].logits(context, torch.arange(2), removed)
    model = image_model()
    pixels = context.encoded.inputs()["pixel_values"]
    with torch.no_grad():
        expected = model(pixel_values=pixels, attention_mask=(~removed).long()).logits
    torch.testing.assert_close(hidden, expected, rtol=1e-4, atol=1e-4)


def test_nothing_is_left_of_a_patch_that_is_hidden():
    """Whatever its pixels are, the prediction is the same, in every family that lets a patch be hidden."""
    for name in sorted(set(FAMILIES) - set(READ_PATCHES)):
        opened = subject(name)
        context = context_of(opened, pictures(1))
        removed = torch.zeros(1, opened.tokenizer.grid.length, dtype=torch.bool)
        removed[0, 5] = True
        painted = replace(context, encoded=context.encoded.fill_patches(removed, "mean-colour"))
        logits = [REMOVALS["masked"].logits(each, torch.tensor([0]), removed) for each in (context, painted)]
        torch.testing.assert_close(*logits, rtol=1e-5, atol=1e-5)


def test_a_painted_patch_has_the_mean_colour_and_all_others_keep_theirs():
    context = context_of(subject(), pictures(1))
    removed = torch.zeros(1, 10, dtype=torch.bool)
    removed[0, 5] = True
    for fill in ("neutral-colour", "mean-colour", "blur"):
        before = context.encoded.inputs()["pixel_values"][0]
        after = context.encoded.fill_patches(removed, fill).inputs()["pixel_values"][0]
        left, top, right, bottom = context.encoded.grid.box(4)
        inside = torch.zeros(SIZE, SIZE, dtype=torch.bool)
        inside[top:bottom, left:right] = True
        assert torch.equal(before[:, ~inside], after[:, ~inside])
        assert not torch.equal(before[:, inside], after[:, inside])
        if fill == "neutral-colour":
            assert after[:, inside].abs().max() < 1e-5
        if fill == "mean-colour":
            mean = before.mean(dim=(1, 2))
            torch.testing.assert_close(
                after[:, inside], mean[:, None].expand(-1, PATCH**2), atol=1e-4, rtol=0
            )


@given(st.integers(2, 12), st.integers(1, 12), st.integers(1, 12))
def test_blocks_part_all_patches_and_are_whole(blocks, rows, columns):
    grid = replace(subject().tokenizer.grid, rows=rows, columns=columns, blocks=blocks)
    block = grid.block_of_patch.reshape(rows, columns)
    assert len(np.unique(block)) == min(blocks, rows) * min(blocks, columns)
    for number in np.unique(block):
        own_rows, own_columns = np.nonzero(block == number)
        assert len(own_rows) == (np.ptp(own_rows) + 1) * (np.ptp(own_columns) + 1)  # a rectangle
    owner = grid.owner.numpy()
    assert (owner[owner] == owner).all()
    assert (owner[: grid.special] == np.arange(grid.special)).all()


def test_a_block_is_taken_out_as_a_whole_and_its_patches_share_the_change():
    opened, images = subject(), pictures(2)
    context = context_of(opened, images, blocks=2)
    units = removable(context)
    assert units.sum(dim=1).tolist() == [4, 4]
    for name in ("mean-colour", "zero-weight"):
        explainer = EXPLAINERS["erasure" if name == "zero-weight" else f"erasure-{name}"]
        importance = explainer.importance(context)
        owner = context.encoded.owner
        first = context.encoded.leads
        sums = torch.from_numpy(context.encoded.sum_units(importance.numpy()))
        for text in range(2):
            for token in (first & units)[text].nonzero().flatten().tolist():
                removed = (owner[text] == token)[None]
                logits = REMOVALS[name].logits(context, torch.tensor([text]), removed)
                own = context.value(context.logits)[text] - context.target_fn(
                    logits, context.target[text : text + 1]
                )
                assert abs(float(sums[text, token] - own)) < 1e-5


def test_halves_are_the_canonical_weights_of_either_sign_and_differ_by_the_mean():
    opened = subject("vit", "tanhmax")
    signs = [[1, -1], [-1, 1]]
    opened.model.config.gauge = signs
    (attribution,) = explain("attention", opened, pictures(1))
    opened.model.config.gauge = [[-each for each in layer] for layer in signs]
    (turned,) = explain("attention", opened, pictures(1))
    del opened.model.config.gauge
    positive, negative = map(np.array, attribution.halves)
    assert (positive >= 0).all()
    assert (negative >= 0).all()
    np.testing.assert_allclose(positive - negative, attribution.scores, atol=1e-6)
    np.testing.assert_allclose(turned.positive, attribution.negative, atol=1e-6)
    assert (np.minimum(positive, negative) > 1e-6).any()  # the mean over heads hides them
    per_head = [
        np.array(
            explain("attention", opened, pictures(1), attention_selector=AttentionSelector(head=head))[
                0
            ].scores
        )
        for head in range(2)
    ]
    signed = [sign * own for sign, own in zip(signs[1], per_head, strict=True)]
    np.testing.assert_allclose(positive, np.mean([own.clip(min=0) for own in signed], axis=0), atol=1e-6)
    (single,) = explain("attention", opened, pictures(1), attention_selector=AttentionSelector(head=0))
    assert single.halves is None
    np.testing.assert_allclose(
        np.array(single.positive) - np.array(single.negative), single.scores, atol=1e-6
    )


def test_weights_of_patches_have_intervals():
    opened, images = subject(), pictures(1)
    attributions = explain("attention", opened, images)
    (known,) = with_intervals(attributions, opened.model, opened.tokenizer, images)
    for score, (low, high) in zip(known.scores, known.intervals, strict=True):
        assert low <= score <= high
    assert any(high - low > 1e-3 for low, high in known.intervals)  # ten weights, eight dimensions of a head


def test_explain_takes_files_folders_and_images_of_pillow(tmp_path):
    (picture,) = pictures(1)
    path = tmp_path / "cat.png"
    path.write_bytes(picture.content)
    opened = Image.open(io.BytesIO(picture.content))
    answers = [
        glasshead.explain(image_model(), source, tokenizer=processor(), method="gradient")
        for source in (str(path), path, [path], tmp_path, opened, [opened])
    ]
    assert {len(each) for each in answers} == {1}
    for each in answers[1:]:
        np.testing.assert_allclose(each[0].scores, answers[0][0].scores, atol=1e-6)
    assert answers[0][0].text == f"{tmp_path.name}/cat.png"


@pytest.mark.wrong_types  # images for a model of texts
def test_what_is_no_image_is_refused_in_one_line(tmp_path):
    (tmp_path / "empty").mkdir()
    (tmp_path / "odd.png").write_bytes(b"no image")
    for source, words in (
        ("a warm, funny film", "is not a file: this model reads images"),
        (tmp_path / "empty", "has no image"),
        (tmp_path / "odd.png", r"odd\.png is not an image that can be read"),
        (3, "int is not an image"),
    ):
        with pytest.raises(InputError, match=words) as refused:
            glasshead.explain(image_model(), source, tokenizer=processor())
        assert "\n" not in str(refused.value)
    with pytest.raises(InputError, match="one image at a time"):
        glasshead.explain(image_model(), pictures(1), pairs=["b"], tokenizer=processor())
    kind = bert()
    with pytest.raises(InputError, match=r"a text must be a string|is an image, and this model reads texts"):
        glasshead.explain(kind.model, pictures(1), tokenizer=kind.tokenizer)


def test_drawings_have_a_rectangle_for_each_patch_and_words_for_those_who_do_not_see_them(tmp_path):
    explained = glasshead.explain(image_model(), pictures(2), tokenizer=processor())
    explained.save(tmp_path / "x.html")
    page = (tmp_path / "x.html").read_text()
    assert page.count("<rect") == 2 * 2 * 9  # weights and contributions of two images
    assert "Strongest patches: &#39;row" in page
    assert "2 images, patch by patch" in page
    explained.save(tmp_path / "x.svg")
    assert (tmp_path / "x.svg").read_text().count("<image") == 2 * 3
    rows = json.loads(explained.to_json())
    assert rows[0]["boxes"][0] is None
    assert rows[0]["boxes"][1] == [0, 0, 4, 4]
    table = explained.to_pandas()
    assert table.loc[9, ["left", "top", "right", "bottom"]].tolist() == [8, 8, 12, 12]
    assert "row 3, column 3" in explained._repr_html_()


def test_a_hostile_name_stays_a_name(tmp_path):
    (picture,) = pictures(1)
    named = replace(picture, name='"><script>alert(1)</script>\x1b[31m')
    explained = glasshead.explain(image_model(), [named], tokenizer=processor())
    explained.save(tmp_path / "x.html")
    page = (tmp_path / "x.html").read_text()
    assert "<script>alert" not in page
    assert "\x1b" not in page


def test_marks_in_pixels_of_the_image_as_it_was_are_patches_of_the_scaled_one():
    (large,) = pictures(1, size=2 * SIZE)
    encoded = subject().tokenizer.encode([large])
    assert isinstance(encoded, EncodedImages)
    marked = encoded.find_marked(
        ["x"], [[(0, 0, 2 * PATCH, 2 * PATCH), (5 * PATCH, 5 * PATCH, 6 * PATCH, 6 * PATCH)]]
    )
    assert marked[0].nonzero()[0].tolist() == [1, 9]


@pytest.mark.parametrize("size", [(64, 64), (128, 64), (64, 97), (128, 192)])
def test_marks_are_where_they_are_in_what_a_processor_does_not_cut_off(size):
    grid = PatchGrid(6, 6, 48, 48, 1)
    cutting = CLIPImageProcessorPil(
        size={"shortest_edge": 64}, crop_size={"height": 48, "width": 48}, resample=0
    )
    reader = ImageReader(cutting, grid, normalisation_of(cutting))
    step = min(size) // 64  # pixels of the image for one that is kept
    for left, top in ((0, 0), (size[0] // 2, size[1] // 2), (12, 12)):
        pixels = np.full((size[1], size[0], 3), 128, dtype=np.uint8)
        pixels[top : top + 8 * step, left : left + 8 * step] = (255, 0, 0)
        encoded = reader.encode([as_picture(Image.fromarray(pixels))])
        red = encoded.pixels[0, 0].int() - encoded.pixels[0, 1].int() > 100
        boxes = [grid.box(patch) for patch in range(36)]
        shown = [number for number, (a, b, c, d) in enumerate(boxes, start=1) if red[b:d, a:c].any()]
        marks = [(left, top, left + 8 * step, top + 8 * step)]
        assert encoded.find_marked(["x"], [marks])[0].nonzero()[0].tolist() == shown


@pytest.mark.parametrize("size", [(128, 64), (60, 200), (1200, 800), (8, 8)])
def test_patches_are_drawn_where_they_are_in_the_image_as_it_was(size):
    """A red square in each drawn box makes its patch red to the model."""
    width, height = size
    cutting = CLIPImageProcessorPil(
        size={"shortest_edge": 48}, crop_size={"height": 48, "width": 48}, resample=0
    )
    reader = ImageReader(cutting, PatchGrid(6, 6, 48, 48, 1), normalisation_of(cutting))
    grey = Image.new("RGB", size, (128, 128, 128))
    drawn = reader.encode([as_picture(grey)]).drawing(0, "x")
    shown = Image.open(io.BytesIO(base64.b64decode(drawn["images"][0].partition(",")[2])))
    scale = shown.width / width
    assert shown.height == round(height * scale)
    assert max(shown.size) <= 480 or size == (8, 8)
    boxes = [tuple(side / scale for side in box) for box in drawn["boxes"][1:]]
    assert all(right > left and bottom > top for left, top, right, bottom in boxes)
    for place in (0, 14, 35):
        left, top, right, bottom = boxes[place]
        red = Image.new("RGB", shown.size, (128, 128, 128))
        red.paste((255, 0, 0), tuple(round(side * scale) for side in (left, top, right, bottom)))
        pixels = reader.encode([as_picture(red)]).pixels[0].float()
        redness = (pixels[0] - pixels[1]).unflatten(0, (6, 8)).unflatten(2, (6, 8)).mean(dim=(1, 3))
        assert int(redness.argmax()) == place
        assert float(redness.flatten().sort().values[-2]) < 0.5 * float(redness.max())
