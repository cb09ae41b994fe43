"""What holds for a classifier of images of any family of Transformers: the page says what it can do."""

import pytest
from transformers.models.auto.modeling_auto import (
    MODEL_FOR_IMAGE_CLASSIFICATION_MAPPING_NAMES,
    MODEL_FOR_SEMANTIC_SEGMENTATION_MAPPING_NAMES,
)

import glasshead
from family_table import YES, page, read
from image_families import pictures, processor
from image_table import HEAD, NOT_TINY, PACKAGES, PAGE, SIZE, TAIL, build, families, row_of
from model_state import model_state

UNTRIED = {f"{kind} (each pixel)" for kind in NOT_TINY}
TABLE = read(PAGE.read_text(encoding="utf-8"))


def of_families(*quick):
    """Every family that is there; all but some are slow."""
    rows = pytest.mark.parametrize(
        ("row", "family"),
        [
            pytest.param(row, family, id=row, marks=() if row in quick else pytest.mark.slow)
            for row, family in families().items()
            if family[0] not in PACKAGES and row not in UNTRIED
        ],
    )
    return lambda test: pytest.mark.grid(10)(rows(test))


def test_the_page_has_every_family_and_hardly_one_is_closed():
    assert {kind for kind, _ in families().values()} == {
        *MODEL_FOR_IMAGE_CLASSIFICATION_MAPPING_NAMES, *MODEL_FOR_SEMANTIC_SEGMENTATION_MAPPING_NAMES
    }  # fmt: skip
    assert list(TABLE) == list(families())
    assert page(TABLE, HEAD, TAIL) == PAGE.read_text(encoding="utf-8"), "run `make families`"
    closed = {row for row, cells in TABLE.items() if YES not in cells.values()}
    assert closed == {*PACKAGES, *UNTRIED, "imagegpt", "shieldgemma2", "siglip2"}
    read_attention = {row for row, cells in TABLE.items() if cells["attention"] == YES}
    assert {"vit", "beit", "clip", "siglip", "dinov2", "data2vec-vision", "ijepa"} < read_attention
    assert {"beit (each pixel)", "dpt (each pixel)"} < read_attention
    assert not read_attention & {
        "swin",
        "resnet",
        "convnext",
        "segformer",
        "mobilevit",
        "upernet (each pixel)",
    }


@of_families("vit", "swin", "resnet", "imagegpt", "siglip2")
def test_the_page_says_what_the_family_can_do(row, family):
    assert row_of(*family) == TABLE[row]


@pytest.mark.parametrize(
    ("row", "method"),
    [
        ("data2vec-vision", "attention"),
        ("pp_lcnet", "gradient"),
        pytest.param("mobilevit", "gradient", marks=pytest.mark.slow),
        pytest.param("pvt_v2", "erasure-neutral-colour", marks=pytest.mark.slow),
        pytest.param("efficientnet", "captum:integrated-gradients", marks=pytest.mark.slow),
    ],
)
def test_an_image_in_a_batch_is_explained_as_alone_and_the_model_stays_as_it_was(row, method):
    model, images = build(*families()[row]), pictures(2, SIZE)
    before = model_state(model)
    together = glasshead.explain(model, images, tokenizer=processor(SIZE), method=method)
    (alone,) = glasshead.explain(model, images[1], tokenizer=processor(SIZE), method=method)
    assert alone.scores == pytest.approx(together[1].scores, abs=1e-3 * max(map(abs, alone.scores)))
    assert model_state(model) == before
