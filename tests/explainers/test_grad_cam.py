"""Grad-CAM: on truth that was planted, on models that have a feature map, and on those that have none."""

import numpy as np
import pytest
import torch
import transformers as hf
from datasets import ClassLabel, Dataset, Features
from datasets import Image as ImageFeature

import glasshead
from caption_models import NAMES, build
from glasshead.data import decode_pixels
from glasshead.errors import InputError
from glasshead.explainers import EXPLAINERS
from image_families import image_model, pictures, processor
from planted_detectors import CELLS, SIZE, detector, halves, image_with_squares
from readable import bert
from segmenters import CONFIGS, neighbour_model, photo, segmenter, segmenting_processor

PLACES = [(place, (place * 7 + 5) % CELLS**2) for place in range(0, CELLS**2, 2)]
IMAGES = [image_with_squares({"red": red, "blue": blue}, seed) for seed, (red, blue) in enumerate(PLACES)]


def cells_of(attribution):
    """The sum of the numbers in each cell."""
    parts = len(attribution.scores) ** 0.5 / CELLS
    side = int(parts)
    return np.reshape(attribution.scores, (CELLS, side, CELLS, side)).sum(axis=(1, 3)).ravel()


@pytest.mark.parametrize("number", [0, 1])
def test_it_points_to_the_square_of_the_class_and_random_numbers_do_not(number):
    options = {"tokenizer": processor(SIZE), "target": number}
    explained = glasshead.explain(detector(), IMAGES, method="grad-cam", **options)
    assert [cells_of(own).argmax() for own in explained] == [places[number] for places in PLACES]
    control = glasshead.explain(detector(), IMAGES, method="random", **options)
    hits = np.mean(
        [cells_of(own).argmax() == places[number] for own, places in zip(control, PLACES, strict=True)]
    )
    assert hits < 0.3


@pytest.mark.parametrize("layer", [0, 1, "activation", -1, "blur"])
def test_the_layer_is_chosen_by_number_or_name(layer):
    (own,) = glasshead.explain(
        detector(), IMAGES[0], tokenizer=processor(SIZE), target=0, method=f"grad-cam+layer={layer}"
    )
    name = {0: "colours", -1: "blur"}.get(layer, layer)
    assert name == 1 or own.settings == f"the feature map of 24 × 24 that {name} gives"
    assert cells_of(own).argmax() == PLACES[0][0]


@pytest.mark.parametrize(
    ("layer", "says"),
    [
        ("layer=9", r"no feature map 9: .* goes through 3, numbered from 0 \(colours\) to 2 \(blur\)$"),
        ("layer=classifier", "no module 'classifier' gives a feature map .* try 'blur'"),
        ("layer=1.5", "there is no feature map 1.5: give a whole number, or the name of a module"),
        ("head=3", "has no option 'head': it has 'layer'"),
    ],
)
def test_a_layer_that_is_not_there(layer, says):
    with pytest.raises(InputError, match=says):
        glasshead.explain(detector(), IMAGES[0], tokenizer=processor(SIZE), method=f"grad-cam+{layer}")


def test_a_class_that_nothing_speaks_for_is_said():
    image = image_with_squares({"blue": 3})
    explained = glasshead.explain(
        detector(), image, tokenizer=processor(SIZE), target="red", method="grad-cam"
    )
    assert set(explained[0].scores) == {0.0}
    says = "nothing in the feature map supports the target, so all numbers are zero"
    assert explained[0].caveat == says
    several = [image, image_with_squares({"red": 3})]
    explained = glasshead.explain(
        detector(), several, tokenizer=processor(SIZE), target="red", method="grad-cam"
    )
    assert explained[0].caveat == f"in 1 of 2 images {says}"


def test_texts_have_no_feature_maps():
    kind = bert()
    says = "reads the feature maps of an image classifier, but these are texts: use the method 'gradient'$"
    with pytest.raises(InputError, match=says):
        EXPLAINERS["grad-cam"](kind.model, kind.tokenizer, kind.texts[:1])


def test_a_model_that_has_none_says_so():
    """Only the mean colour of the image is read."""
    model = detector()
    model.colours = torch.nn.AdaptiveAvgPool2d(1)
    with pytest.raises(InputError, match="has no feature map that its whole prediction goes through: use"):
        glasshead.explain(model, IMAGES[0], tokenizer=processor(SIZE), method="grad-cam")


def region_map(at, **options):
    """The map of a region of an image with a red square in cell 7 and a blue one in cell 22."""
    image = image_with_squares({"red": 7, "blue": 22})
    asked = {
        "tokenizer": segmenting_processor(SIZE, do_normalize=False),
        "method": "grad-cam",
        "target": "square",
        "at": at,
    }
    return glasshead.explain(halves(), image, **asked | options)[0]


def test_two_regions_have_two_maps():
    """The map of the classes, which is the last one, would be the same for both."""
    left, right = (region_map(at) for at in ("1,1", "3,12"))
    assert left.settings == right.settings == "the feature map of 24 × 24 that blur gives"
    assert (cells_of(left).argmax(), cells_of(right).argmax()) == (7, 22)
    left, right = (region_map(at, method="grad-cam+layer=classes") for at in ("1,1", "3,12"))
    assert np.corrcoef(left.scores, right.scores)[0, 1] > 0.999


@pytest.mark.parametrize("kind", CONFIGS)
def test_other_places_matter_to_a_region_in_the_map_that_is_read(kind):
    """By hand: the gradient of the logit of the first patch."""
    model = segmenter(kind)
    (own,) = glasshead.explain(
        model, photo(), tokenizer=segmenting_processor(), method="grad-cam", target="tree", at="1,1"
    )
    name = own.settings.split(" that ")[1].removesuffix(" gives")
    outputs = []
    hook = model.get_submodule(name).register_forward_hook(lambda *_: outputs.append(_[2]))
    logits = model(**segmenting_processor()(photo(), return_tensors="pt")).logits
    hook.remove()
    (slope,) = torch.autograd.grad(logits[0, 2, 0, 0], outputs[0])
    axis = 1 if slope.ndim == 4 else -1
    assert (slope[0].abs().sum(axis - (axis > 0)) > 0).float().mean() > 0.5


def test_a_model_whose_maps_are_the_same_for_every_region_says_so():
    with pytest.raises(InputError, match=r"has no feature map .* before its places are mixed: use"):
        glasshead.explain(
            neighbour_model(), photo(), tokenizer=segmenting_processor(), method="grad-cam", at="1,1"
        )


def test_special_tokens_have_no_place():
    (own,) = glasshead.explain(
        image_model("dinov2-registers"), pictures(1), tokenizer=processor(), method="grad-cam"
    )
    assert own.scores[:3] == (0.0,) * 3
    assert len(own.scores) == 12
    assert min(own.scores) == 0.0 < max(own.scores)


def rows():
    features = Features({"image": ImageFeature(), "label": ClassLabel(names=["red", "blue"])})
    images = [image_with_squares({("red", "blue")[n % 2]: (n * 5) % CELLS**2}, n) for n in range(24)]
    return Dataset.from_dict({"image": images, "label": [n % 2 for n in range(24)]}, features=features)


def test_a_ranking_puts_it_before_random_numbers():
    ranking = glasshead.rank(
        detector(), rows(), ["grad-cam", "random"], removals=["neutral-colour"], tokenizer=processor(SIZE)
    )
    assert ranking.leaders(ranking.statistic, "neutral-colour") == ["grad-cam"]


def test_an_audit_of_it_finds_it_faithful():
    card = glasshead.audit(
        detector(), rows(), method="grad-cam", audits=["faithfulness"], tokenizer=processor(SIZE)
    )
    assert {
        card.finding(f"faithfulness.{name}.all").status for name in ("comprehensiveness", "deletion")
    } == {"evidence"}
    assert any("feature map of 24 × 24 that blur gives" in remark for remark in card.facts["remarks"])


def test_captions_are_classes():
    model, words = build("clip")
    asked = {"choices": NAMES, "target": "dull plot", "method": "grad-cam"}
    pipe = hf.pipeline(
        "zero-shot-image-classification", model=model, tokenizer=words, image_processor=processor()
    )
    image = decode_pixels(pictures(1)[0])
    (own,) = glasshead.explain(pipe, image, **asked)
    (other,) = glasshead.explain(pipe, image, **asked | {"target": "good film"})
    printed = {row["label"]: row["score"] for row in pipe(image, candidate_labels=NAMES)}
    assert own.target == "dull plot"
    assert own.prediction == pytest.approx(printed["dull plot"], abs=1e-5)
    assert max(own.scores) > 0 or max(other.scores) > 0
    assert own.scores != other.scores
