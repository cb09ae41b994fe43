"""Parts of a photo that is read with a text are painted over: the model looks at another photo."""

import numpy as np
import pytest
from PIL import Image

import glasshead
from glasshead.data import reader_of
from glasshead.errors import InputError
from glasshead.explainers.removals.photo import count_empty, share_pixels
from glasshead.opening import OpenOptions, open_subject
from image_text_families import FAMILIES, build, photo
from model_state import model_state

pytestmark = pytest.mark.usefixtures("quiet")
QUESTION, ANSWER = "what is the cat doing ?", " sleeping"
NAMES = [
    pytest.param(name, marks=[] if name in ("llava", "qwen2_vl") else pytest.mark.slow)
    for name in FAMILIES
    if name != "idefics2"  # whose image tokens have no places
]


def explained(name, method, image):
    model, processor = build(name)
    asked = {"image": image, "text": QUESTION}
    return glasshead.explain(model, asked, tokenizer=processor, answer=ANSWER, method=method)[0]


def by_hand(image, box, fill):
    """The photo with something else in a box."""
    pixels = np.array(image).astype(float)
    left, top, right, bottom = box
    pixels[top:bottom, left:right] = fill
    return Image.fromarray(np.rint(pixels).astype(np.uint8))


@pytest.mark.slow
@pytest.mark.parametrize("name", NAMES)
def test_a_score_is_what_the_answer_loses_with_a_photo_that_was_painted_over_by_hand(name):
    model, processor = build(name)
    before, image = model_state(model), photo()
    subject = open_subject(model, processor, OpenOptions(images=True))
    text = reader_of(subject.tokenizer).inputs([{"image": image, "text": QUESTION}])[0]
    neutral = reader_of(subject.tokenizer).normalise.neutral.flatten().numpy()
    mean = processor.image_processor.image_mean
    assert neutral == pytest.approx(np.array(mean) / processor.image_processor.rescale_factor, rel=1e-6)
    for method, fill in (
        ("erasure-neutral-colour", neutral),
        ("erasure-mean-colour", np.array(image).mean(axis=(0, 1))),
    ):
        own = explained(name, method, image)
        parts = [place for place, box in enumerate(own.boxes) if box is not None]
        assert len(parts) == len(text.images.boxes)
        for number in (0, len(parts) // 2, len(parts) - 1):
            painted = by_hand(image, text.images.boxes[number], fill)
            rest = explained(name, "random", painted).prediction
            fall = np.log(own.prediction) - np.log(rest)
            assert own.scores[parts[number]] == pytest.approx(fall, abs=1e-4)
    assert model_state(model) == before


def test_words_become_the_average_word_and_that_is_said():
    own = explained("llava", "erasure-blur", photo())
    words = explained("llava", "erasure-mean-embedding", photo())
    for score, other, box in zip(own.scores, words.scores, own.boxes, strict=True):
        assert box is not None or score == pytest.approx(other, abs=1e-7)
    assert own.scores != words.scores
    assert own.caveat == "words have no pixels, so a removed word becomes the average word"


def test_without_places_no_pixels_belong_to_a_token():
    with pytest.raises(InputError, match=r"no pixels belong to a token: use .* 'erasure-mean-embedding'$"):
        explained("idefics2", "erasure-blur", photo())


def test_a_blur_is_the_mean_around_each_pixel():
    import torch
    from torch.nn.functional import avg_pool2d

    from glasshead.data import FILLS
    from glasshead.data.encoded_images import Normalisation

    pixels = torch.rand(2, 3, 21, 30)
    square = avg_pool2d(pixels, 7, stride=1, padding=3, count_include_pad=False)
    torch.testing.assert_close(FILLS["blur"](pixels, Normalisation(1.0, (0.0,), (1.0,))), square)


def test_a_photo_in_tiles_and_an_overview_is_scored_token_by_token_and_not_ranked():
    """To remove a token of a tile would change the overview that is kept."""
    model, processor = build("llava_next")
    own = explained("llava_next", "erasure-neutral-colour", photo())
    assert "image tokens share pixels, so removing one also changes others" in own.caveat
    rows = [{"image": photo(), "question": QUESTION, "answer": ANSWER.strip()}] * 2
    with pytest.raises(InputError, match="share pixels"):
        glasshead.rank(model, rows, ["random", "gradient"], removals=["neutral-colour"], tokenizer=processor)


def test_shared_and_empty_boxes():
    apart = np.array([[0, 0, 2, 2], [2, 0, 4, 2], [0, 2, 4, 4]])
    assert not share_pixels(apart)
    assert count_empty(apart) == 0
    assert share_pixels(np.concatenate([apart, [[1, 1, 3, 3]]]))
    assert count_empty(np.concatenate([apart, [[4, 0, 4, 2]]])) == 1
