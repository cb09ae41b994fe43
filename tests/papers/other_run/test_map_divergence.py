"""How far maps and predictions are apart: by hand, against nulls and rulers, and what cannot be compared."""

import numpy as np
import pytest
import torch

from glasshead.data import encode
from glasshead.errors import InputError
from glasshead.papers.other_run import map_divergence
from glasshead.papers.results import MAPS, PREDICTIONS
from glasshead.statistics import jensen_shannon, total_variation
from small import TEXTS, as_run, planted_texts, random_model, tokenizer

REVIEWS, LABELS = planted_texts(40)


def run(seed=0, **options):
    return as_run(random_model(seed, **options), REVIEWS, LABELS)


def outputs(run, text):
    """Weights and probabilities of one text, without padding."""
    encoded = encode(tokenizer(), [text])
    with torch.inference_mode():
        output = run.model(**encoded.inputs(), output_attentions=True)
    return output.weights[0].numpy(), output.logits[0].softmax(dim=-1).numpy()


def test_text_by_text_and_by_hand():
    one, other = run(0), run(1, encoder="lstm")
    found = map_divergence(one, other, REVIEWS)
    pairs = [(outputs(one, text), outputs(other, text)) for text in REVIEWS]
    maps = [float(jensen_shannon(a, b)) for (a, _), (b, _) in pairs]
    predictions = [float(total_variation(y, z)) for (_, y), (_, z) in pairs]
    assert found.by_text[MAPS] == pytest.approx(maps, abs=1e-6)
    assert found.by_text[PREDICTIONS] == pytest.approx(predictions, abs=1e-6)
    assert found.maps.estimate == pytest.approx(np.mean(maps), abs=1e-6)
    low, high = found.predictions.interval
    assert low < np.mean(predictions) < high
    assert found.maps.n == found.predictions.n == len(REVIEWS)
    uniform = np.mean([jensen_shannon(b, np.full(len(b), 1 / len(b))) for _, (b, _) in pairs])
    assert found.maps.null["uniform"] == pytest.approx(uniform, abs=1e-6)
    always = np.mean([z for _, (_, z) in pairs], axis=0)
    constant = np.mean([total_variation(z, always) for _, (_, z) in pairs])
    assert found.predictions.null["constant"] == pytest.approx(constant, abs=1e-6)


def test_of_a_model_from_itself_there_is_none():
    found = map_divergence(run(), run(), REVIEWS)
    assert found.maps.estimate == pytest.approx(0, abs=1e-12)
    assert found.predictions.estimate == pytest.approx(0, abs=1e-12)
    assert found.maps.verdict == "closer than uniform weights"
    assert found.predictions.verdict == "closer than always answering the same"


def test_uniform_attention_is_where_the_null_says():
    found = map_divergence(run(activation="uniform"), run(), REVIEWS)
    assert found.maps.estimate == pytest.approx(found.maps.null["uniform"], abs=1e-6)
    assert found.maps.null["random"] > found.maps.null["uniform"]


def test_other_seeds_are_the_ruler():
    """A model as far away as other seeds are is not shown to be special; its own copy is closer."""
    base, seeds = run(0), [run(seed) for seed in (1, 2, 3)]
    ruler = np.mean([map_divergence(one, base, REVIEWS).by_text[MAPS] for one in seeds], axis=0)
    copy = map_divergence(run(0), base, REVIEWS, seeds=seeds)
    assert copy.maps.null["seed"] == pytest.approx(ruler.mean())
    assert copy.facts["seeds"] == 3
    assert copy.maps.verdict == "closer than that of another seed"
    assert copy.predictions.verdict == "closer than that of another seed"
    with torch.no_grad():
        far = run(0)
        far.model.embedding.weight.mul_(-8)  # one-hot maps, on what had least weight
    assert map_divergence(far, base, REVIEWS, seeds=[run(0)]).maps.verdict.startswith("farther away")


def test_texts_without_two_tokens_have_no_map_that_could_be_another():
    found = map_divergence(run(1), run(0), TEXTS)
    assert found.maps.undefined == {"fewer than two tokens": 2}
    assert found.maps.n == len(TEXTS) - 2
    assert found.predictions.n == len(TEXTS)
    assert found.maps.verdict == "undecided: too few examples"
    assert np.isnan(
        found.by_text[MAPS][TEXTS.index("film")]
    )  # one token has all the weight, whatever is read


def test_the_same_seed_gives_the_same_numbers():
    first, second = (map_divergence(run(1), run(0), REVIEWS, seed=5) for _ in range(2))
    assert first.row() == second.row()
    assert first.row() != map_divergence(run(1), run(0), REVIEWS, seed=6).row()


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"activation": "tanhmax"}, "not a distribution over tokens"),
        ({"activation": "relu"}, "not a distribution over tokens"),
        ({"classes": 3}, "predict different classes"),
    ],
)
def test_what_cannot_be_compared(options, says):
    for pair in ((run(**options), run()), (run(), run(**options))):
        with pytest.raises(InputError, match=says):
            map_divergence(*pair, REVIEWS)


def test_nothing_to_compare():
    with pytest.raises(InputError, match="no texts"):
        map_divergence(run(), run(), [])
