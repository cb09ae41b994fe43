"""Audits of image classifiers: units are blocks of patches, truth is planted, misfits are refused."""

import copy
import io
import re
from functools import cache

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from rich.console import Console

import glasshead
from glasshead.data import LoadOptions, load
from glasshead.errors import InputError
from glasshead.huggingface import plug
from glasshead.report import audit_page, audits_document, terminal_view
from glasshead.statistics import pointing_hits
from glasshead.training import preset_config, train
from image_families import image_model, pictures, processor, rows
from readable import bert, data

BLOCKS = 16


def audit(model=None, split=None, **options):
    options = {"dtype": "float32", "draws": 3} | options
    return glasshead.audit(model or image_model(), split or rows(), tokenizer=processor(), **options)


@pytest.fixture(scope="module")
def card():
    return audit()


def test_every_audit_that_has_a_meaning_says_something_of_twenty_images(card):
    assert card.facts["examples"] == 20
    audits = {finding.audit for finding in card.findings}
    assert {"agreement", "faithfulness", "identifiability", "perturbation", "performance"} <= audits
    note = next(note for note in card.facts["remarks"] if "as many passes" in note)
    assert "20 of 24 images" in note
    for finding in card.findings:
        assert finding.estimate is None or np.isfinite(finding.estimate)
    assert card.facts["removal"] == "neutral-colour"
    assert set(card.examples["text"]) <= {f"{number}.png" for number in range(24)}
    assert all(highlight.attribution.images for highlight in card.highlights)


def test_each_curve_of_deletion_ends_where_the_other_begins(card):
    """All blocks painted over, and none: one image of one colour, and the image as it is."""
    deletion, insertion = (
        np.array(card.examples[f"faithfulness.{name}.curve"], dtype=float)
        for name in ("deletion", "insertion")
    )
    np.testing.assert_allclose(deletion[:, 0], insertion[:, -1], atol=1e-5)
    np.testing.assert_allclose(deletion[:, -1], insertion[:, 0], atol=1e-5)


def test_blocks_are_the_units_of_orders_and_changes():
    image = audit(audits=["agreement", "faithfulness"], blocks=2, limit=6)
    fine = audit(audits=["agreement", "faithfulness"], blocks=0, limit=6)
    assert image.facts["examples"] == fine.facts["examples"] == 6
    noted = [note for note in image.facts["remarks"] if "4 blocks of an image as units" in note]
    assert len(noted) == 1
    assert not any("blocks" in note for note in fine.facts["remarks"])
    name = "faithfulness.deletion.all"
    assert image.finding(name).estimate != fine.finding(name).estimate


def test_a_column_and_its_values_keep_their_names():
    """They are called as inputs and units of other models are."""
    split = rows(90)
    options = {"audits": ["performance"], "limit": 90}
    examples = audit(split=split, **options).examples
    right = np.equal(examples["label"], examples["predicted"])
    split = split.add_column("words", np.where(right, "a text", "two tokens").tolist())
    card = audit(split=split, by=["words"], **options)
    assert {finding.group for finding in card.findings if finding.by} == {
        "words: a text",
        "words: two tokens",
    }
    (test,) = card.slice_tests
    assert test.verdict == "differs between slices by words"
    buffer = io.StringIO()
    Console(file=buffer, width=150).print(terminal_view(audits_document([card])))
    for shown in (audit_page([card]), buffer.getvalue()):
        assert re.search("by words", shown, re.IGNORECASE)
        assert not re.search("by patches", shown, re.IGNORECASE)


def test_random_numbers_are_no_better_than_random_numbers():
    found = audit(method="random", audits=["faithfulness"], limit=24).finding(
        "faithfulness.comprehensiveness.all"
    )
    low, high = found.over_null["random"].interval
    assert low <= 0 <= high


@cache
def fine_model(attention="softmax"):
    """14 × 14 patches, so that four blocks in a row are of four and of three."""
    kind = type(image_model())
    config = copy.deepcopy(image_model().config)
    config.image_size, config.patch_size = 28, 2
    torch.manual_seed(0)
    model = kind(config)
    with torch.no_grad():
        for parameter in model.parameters():
            if parameter.ndim > 1:
                parameter.normal_(0.0, 0.3)
    return plug(model.eval(), attention)


def of_fine_model(attention="softmax", **options):
    options = {"dtype": "float32", "draws": 3, "limit": 60} | options
    return glasshead.audit(fine_model(attention), rows(60), tokenizer=processor(28), **options)


@pytest.mark.slow
def test_the_size_of_a_block_is_no_agreement():
    """Sums over 16, 12 and 9 patches, and over a class token, are of other sizes, whatever is summed."""
    card = of_fine_model(method="random", audits=["agreement"])
    finding = card.finding("agreement.random-absolute.gradient.all")
    low, high = finding.over_null["random"].interval
    assert low <= 0 <= high
    assert finding.null["random"] > 0.05  # that of numbers drawn for whole blocks is 0


@pytest.mark.slow
def test_equal_weights_of_all_patches_are_equal_weights_in_blocks():
    card = of_fine_model("uniform", audits=["perturbation"], limit=24)
    for draw in ("permutation", "uniform"):
        verdict = card.finding(f"perturbation.{draw}.absolute.all").verdict
        assert verdict.startswith("no change by construction")


def test_the_same_audit_again_gives_the_same_numbers():
    first, again = (audit(audits=["agreement", "faithfulness"], limit=6, seed=3) for _ in range(2))
    assert [each.estimate for each in first.findings] == [each.estimate for each in again.findings]


def test_operators_asks_of_images_what_can_be_done_to_images():
    card = audit(audits=["operators"], limit=6)
    names = {finding.name for finding in card.findings}
    assert any("neutral-colour" in name for name in names)
    assert not any("delete" in name for name in names)


def test_what_does_not_fit_is_refused_in_one_line(tmp_path):
    kind = bert()
    texts = data(kind, [0, 1] * 3)
    pixels = io.BytesIO(pictures(1)[0].content).getvalue()
    (tmp_path / "flat").mkdir()
    (tmp_path / "flat" / "0.png").write_bytes(pixels)
    for act, words in (
        (
            lambda: glasshead.audit(kind.model, rows(), tokenizer=kind.tokenizer),
            "reads texts, and the data contain images",
        ),
        (lambda: audit(split=texts), "reads images, and the data contain texts"),
        (
            lambda: audit(split=rows(names=("cat", "cow", "horse"))),
            "the model knows the classes cat, dog, ship",
        ),
        (lambda: audit(split=str(tmp_path / "flat")), r"0\.png has no class"),
        (lambda: audit(blocks=1), "must be at least 2"),
        (lambda: audit(max_length=5), "is for texts"),
        (lambda: glasshead.audit(kind.model, texts, tokenizer=kind.tokenizer, blocks=4), "is for images"),
    ):
        with pytest.raises(InputError, match=words) as refused:
            act()
        assert "\n" not in str(refused.value)


@given(
    arrays(float, (4, 6), elements=st.sampled_from([0.0, 1.0, 2.0])),
    arrays(bool, (4, 6)),
    arrays(bool, (4, 6)),
)
def test_the_largest_is_marked_or_it_is_not(scores, marked, mask):
    hits = pointing_hits(scores, marked & mask, mask)
    for own, marks, real, hit in zip(scores, marked & mask, mask, hits, strict=True):
        if not real.any():
            assert np.isnan(hit)
            continue
        largest = [place for place in np.flatnonzero(real) if own[place] == own[real].max()]
        assert hit == pytest.approx(np.mean([marks[place] for place in largest]))
        assert pointing_hits(own[None], real[None], real[None])[0] == 1


@pytest.mark.slow
def test_planted_squares_are_found_by_erasure_and_by_chance_alone_by_random_numbers(tmp_path):
    """A coloured square decides, and its place is known: 1 of 16 blocks."""
    loaded = load("squares", LoadOptions(max_examples=900))
    settings = {
        "patch_size": 6,
        "hidden_size": 32,
        "num_hidden_layers": 2,
        "epochs": 6,
        "attention": "tanhmax",
    }
    run = train(loaded, preset_config(None, "vit").with_settings(settings), tmp_path / "run")
    found = {}
    for method in ("erasure-neutral-colour", "random"):
        card = glasshead.audit(run, loaded["test"], audits=["plausibility"], method=method, limit=60)
        found[method] = card.finding("plausibility.pointing.all")
    assert found["erasure-neutral-colour"].interval[0] > 0.6
    assert found["erasure-neutral-colour"].over_null["random"].interval[0] > 0.5
    low, high = found["random"].over_null["random"].interval
    assert low <= 0 <= high
    assert abs(found["random"].null["random"] - 1 / BLOCKS) < 0.05
