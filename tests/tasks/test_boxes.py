"""Detectors, asked which class one of their boxes has."""

import numpy as np
import pytest
import torch
from transformers.image_transforms import center_to_corners_format
from transformers.models.detr.image_processing_pil_detr import DetrImageProcessorPil

import glasshead
from detectors import (
    CONFIGS,
    NAMES,
    SIZE,
    Found,
    QuarterConfig,
    QuarterForObjectDetection,
    detector,
    quarter_model,
)
from glasshead.errors import InputError
from model_state import model_state
from segmenters import photo, segmenting_processor

CUTS = 8
"""Rows, and columns, of patches: images are cut."""
KINDS = [kind for kind in CONFIGS if kind != "conditional"]


def asked(model, images, **options):
    explained = glasshead.explain(model, images, tokenizer=segmenting_processor(), **options)
    return explained if isinstance(images, list) else explained[0]


def found(model, image):
    """What the model itself finds: probabilities [boxes, K + 1], and boxes."""
    with torch.no_grad():
        output = model(pixel_values=segmenting_processor()([image], return_tensors="pt")["pixel_values"])
    return output.logits[0].softmax(-1), output.pred_boxes[0]


def deciding(quarter):
    """The patches that the planted model looks at: a corner of the quarter."""
    row, column = quarter // 2 * CUTS // 2, quarter % 2 * CUTS // 2
    return [(row + down) * CUTS + column + right for down in (0, 1) for right in (0, 1)]


@pytest.mark.parametrize("method", ["gradient", "erasure-neutral-colour", "captum:integrated-gradients"])
def test_the_patch_that_decides_is_found(method):
    for quarter, at in enumerate(("2,2", "1,7", "7,1")):
        own = asked(quarter_model(), photo(), at=at, target="cat", method=method)
        assert np.flatnonzero(np.abs(own.scores) > 1e-6).tolist() == deciding(quarter)


def test_random_scores_do_not_find_it():
    rows = asked(
        quarter_model(), [photo(seed) for seed in range(60)], at="1,1", target="cat", method="random"
    )
    assert np.mean([np.argmax(own.scores) == 0 for own in rows]) < 0.25


def test_the_box_that_a_class_is_surest_of_is_asked_about():
    image = photo(3)
    probabilities, _ = found(quarter_model(), image)
    for number, name in enumerate(("cat", "dog")):
        own = asked(quarter_model(), image, target=name, method="gradient")
        assert own.prediction == pytest.approx(float(probabilities[:, number].max()), abs=1e-5)
        assert own.target == name
    usual = asked(quarter_model(), image, method="gradient")
    assert usual.prediction == pytest.approx(float(probabilities[:, :2].max()), abs=1e-5)
    assert "a box, rows" in usual.asked


@pytest.mark.parametrize("kind", KINDS)
def test_numbers_are_the_models_own(kind):
    model, image = detector(kind), photo(1)
    before = model_state(model)
    probabilities, _ = found(model, image)
    own = asked(model, image, target="dog", method="erasure-neutral-colour")
    box = int(probabilities[:, 1].argmax())
    assert own.prediction == pytest.approx(float(probabilities[box, 1]), abs=1e-4)
    pixels = segmenting_processor()([image], return_tensors="pt")["pixel_values"]
    step = SIZE // CUTS
    pixels[:, :, :step, :step] = 0
    with torch.no_grad():
        without = model(pixel_values=pixels).logits[0, box].softmax(-1)[1]
    assert own.scores[0] == pytest.approx(float(probabilities[box, 1] - without), abs=1e-4)
    for method in ("gradient-l2", "grad-cam"):
        assert np.isfinite(asked(model, image, target="dog", method=method).scores).all()
    assert model_state(model) == before


@pytest.mark.parametrize("kind", KINDS)
def test_attention_is_refused(kind):
    with pytest.raises(InputError, match="patch"):
        asked(detector(kind), photo(), target="dog", method="attention")


def test_detectors_that_score_each_class_by_itself_are_refused():
    with pytest.raises(InputError, match="2 numbers for 2 classes"):
        asked(detector("conditional"), photo(), target="dog", method="gradient")


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"at": "9,1"}, "images have 8 rows and 8 columns of patches"),
        ({"at": "7,7"}, "finds nothing in"),
        ({"target": "dgo"}, "did you mean 'dog'"),
        ({"target": 7}, "is 7: choose from"),
    ],
)
def test_what_is_not_there_is_refused(options, words):
    with pytest.raises(InputError, match=words):
        asked(quarter_model(), photo(), method="gradient", **options)


def test_a_folder_opens_and_data_are_refused(tmp_path):
    model = detector("yolos")
    model.save_pretrained(tmp_path / "yolos")
    segmenting_processor().save_pretrained(tmp_path / "yolos")
    photo(1).save(tmp_path / "photo.png")
    (own,) = glasshead.explain(
        tmp_path / "yolos", tmp_path / "photo.png", target="dog", method="erasure-neutral-colour"
    )
    assert own.prediction == pytest.approx(float(found(model, photo(1))[0][:, 1].max()), abs=1e-4)
    own.save(tmp_path / "page.html")
    assert "a box, rows" in (tmp_path / "page.html").read_text()
    rows = [{"image": photo(seed), "label": "dog"} for seed in range(3)]
    with pytest.raises(InputError, match="data of boxes are not supported"):
        glasshead.audit(model, rows, tokenizer=segmenting_processor(), method="gradient-l2")


class Odd(QuarterForObjectDetection):
    """The planted model under a name that says nothing, with its numbers changed by ``change``."""

    change = staticmethod(lambda logits, boxes: (logits, boxes))

    def forward(self, pixel_values):
        found = super().forward(pixel_values)
        return Found(*self.change(found.logits, found.pred_boxes))


def odd(change=Odd.change):
    model = Odd(QuarterConfig(id2label=NAMES)).eval()
    model.change = change
    return model


def corners(logits, boxes):
    return logits, center_to_corners_format(boxes)


def pixels(logits, boxes):
    return logits, boxes * SIZE


def background_first(logits, boxes):
    return logits.roll(1, dims=-1), boxes


def surest_first(logits, boxes):
    order = logits.softmax(-1)[..., 1].argsort(dim=1, descending=True)
    return logits.gather(1, order[..., None].expand_as(logits)), boxes.gather(
        1, order[..., None].expand_as(boxes)
    )


class OwnProcessor(DetrImageProcessorPil):
    """A processor that reads the numbers of a detector in a way of its own."""

    reads = staticmethod(
        lambda logits, boxes: (logits.softmax(-1)[..., :-1], center_to_corners_format(boxes))
    )

    def post_process_object_detection(self, outputs, threshold=0.5, target_sizes=None):
        scores, boxes = self.reads(outputs.logits, outputs.pred_boxes)
        (scores, labels), boxes = scores.max(-1), boxes * SIZE
        return [
            {"scores": s[s > threshold], "labels": n[s > threshold], "boxes": b[s > threshold]}
            for s, n, b in zip(scores, labels, boxes, strict=True)
        ]


def own_processor(reads=OwnProcessor.reads):
    processor = OwnProcessor(size={"height": SIZE, "width": SIZE})
    processor.reads = reads
    return processor


READS = {
    "corners": lambda logits, boxes: (logits.softmax(-1)[..., :-1], boxes),
    "background first": lambda logits, boxes: (
        logits.softmax(-1)[..., 1:], center_to_corners_format(boxes)
    ),
    "sigmoids": lambda logits, boxes: (logits.sigmoid(), center_to_corners_format(boxes)),
}  # fmt: skip


def opened(model, processor=None):
    return glasshead.open(model, processor or own_processor())


@pytest.mark.parametrize("processor", [DetrImageProcessorPil, OwnProcessor])
def test_what_a_model_returns_makes_it_a_detector_and_not_its_name(processor):
    own, named = (
        glasshead.explain(
            one, [photo()], tokenizer=processor(size={"height": SIZE, "width": SIZE}), at="2,2",
            target="cat", method="gradient",
        )
        for one in (odd(), quarter_model())
    )  # fmt: skip
    assert own[0].scores == pytest.approx(named[0].scores)
    assert np.flatnonzero(np.abs(own[0].scores) > 1e-6).tolist() == deciding(0)
    assert not opened(odd()).notes


@pytest.mark.parametrize(
    ("change", "reads"),
    [(corners, "corners"), (background_first, "background first"), (Odd.change, "sigmoids")],
)
def test_numbers_that_the_processor_reads_otherwise_are_refused(change, reads):
    with pytest.raises(InputError, match=r"OwnProcessor reads other classes or boxes from Odd"):
        opened(odd(change), own_processor(READS[reads]))


def test_boxes_in_pixels_are_refused_without_a_processor_that_reads_them():
    with pytest.raises(InputError, match="not shares of the image"):
        opened(odd(pixels), segmenting_processor())


def test_a_model_that_sorts_its_boxes_says_so():
    own = glasshead.explain(
        odd(surest_first), [photo()], tokenizer=own_processor(), target="dog", method="gradient"
    )
    assert any("may compare different objects" in note for note in own.notes)


@pytest.mark.parametrize("kind", KINDS)
def test_boxes_of_detectors_keep_their_places(kind):
    assert not opened(detector(kind)).notes


def test_a_processor_that_does_not_say_what_boxes_mean_is_named():
    (note,) = opened(odd(), segmenting_processor()).notes
    assert "does not say what the boxes mean" in note
