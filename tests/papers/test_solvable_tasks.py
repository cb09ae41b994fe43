"""Tasks whose true answer is known: what audits must say of a map that says nothing, and of one that does."""

from pathlib import Path

import numpy as np
import pytest
from solvable_models import histogram_solution

import glasshead
from glasshead.audits import AUDITS
from glasshead.data import LoadOptions, encode, load, train_tokenizer
from glasshead.statistics import interval_of_equals
from glasshead.training import preset_config, train

LENGTH = 8
TEXTS = 40
KINDS = ("positional", "semantic")


@pytest.fixture(scope="module")
def histogram():
    return load("histogram", LoadOptions(generator={"letters": 6, "length": LENGTH, "instances": 800}))


@pytest.fixture(scope="module")
def solutions(histogram):
    """By kind: the model, and its tokenizer."""
    tokenizer = train_tokenizer(histogram["train"]["text"])
    return {kind: (histogram_solution(tokenizer, kind, length=LENGTH), tokenizer) for kind in KINDS}


@pytest.fixture(scope="module")
def cards(histogram, solutions):
    """What all audits say of either."""
    return {
        kind: glasshead.audit(
            model,
            histogram,
            tokenizer=tokenizer,
            audits=tuple(name for name in AUDITS if not name.startswith("image-")),
            limit=TEXTS,
            split="test",
            seed=0,
            train=histogram["train"],
        )
        for kind, (model, tokenizer) in solutions.items()
    }


@pytest.fixture
def both(cards):
    """A finding of the positional solution and of the semantic one."""
    return lambda name: [cards[kind].finding(name) for kind in KINDS]


@pytest.mark.parametrize("kind", KINDS)
def test_the_solutions_never_miscount(histogram, solutions, kind):
    model, tokenizer = solutions[kind]
    read = encode(tokenizer, list(histogram["train"]["text"]))
    logits = model(input_ids=read.ids, attention_mask=read.mask.long()).logits
    assert logits.argmax(dim=1).tolist() == list(histogram["train"]["label"])


def test_every_audit_was_asked(cards):
    for card in cards.values():
        asked = {finding.audit for finding in card.findings}
        assert asked | {"tokens", "explanation", "image-map", "image-sinks"} == set(AUDITS)
        assert card.tokens is not None


def test_both_are_right(both):
    for finding in both("performance.accuracy.all"):
        assert finding.estimate == 1.0
        assert finding.verdict == "better than always guessing the commonest class"


@pytest.mark.parametrize("draw", ["permutation", "uniform"])
def test_other_weights_change_the_answer_of_one_only(both, draw):
    empty, telling = both(f"perturbation.{draw}.absolute.all")
    assert empty.interval[1] < 0.01
    assert empty.verdict.startswith("the prediction hardly changes, less than")
    assert telling.interval[0] > 0.4
    assert telling.verdict.startswith("the prediction changes much, more than")


def test_the_weights_that_find_the_letter_are_where_people_would_mark(both):
    empty, telling = both("plausibility.auprc.all")
    assert telling.estimate == telling.interval[1] == 1.0
    assert telling.interval[0] == pytest.approx(0.025 ** (1 / telling.n))
    assert empty.interval[1] < 0.9
    _, hits = both("plausibility.pointing.all")
    assert hits.estimate == 1.0


def test_copies_of_a_letter_share_their_erasure(both):
    """Left out without a new sum, a copy takes its weight with it, and another letter changes nothing."""
    empty, telling = both("agreement.attention-absolute.erasure-zero-weight.all")
    assert telling.estimate == pytest.approx(1.0)
    assert telling.verdict == "strong agreement"
    assert empty.interval[1] < 0.7


def test_other_maps_give_the_empty_answer(both):
    """Any weights with the right sum for the letter do; of the semantic ones a search finds fewer."""
    empty, telling = both("adversarial.found.free.all")
    assert (empty.estimate, empty.bound) == (1.0, "lower")
    assert telling.bound == "lower"
    assert 0.5 < telling.estimate < 0.95


def test_maps_are_the_only_ones_where_no_letter_comes_twice(histogram, cards):
    """Equal letters have equal values, so that their weights can be exchanged: by the sum of the ranks."""
    for card in cards.values():
        assert card.finding("identifiability.identifiable.all").estimate == 0.0  # 6 letters at 8 places
    distinct = load("histogram", LoadOptions(generator={"letters": 20, "length": 4, "instances": 400}))
    tokenizer = train_tokenizer(distinct["train"]["text"])
    model = histogram_solution(tokenizer, "semantic", length=4)
    card = glasshead.audit(
        model, distinct, tokenizer=tokenizer, audits=["identifiability"], split="test", seed=0
    )
    repeated = [len({word.strip("_") for word in text.split()}) < 4 for text in card.examples["text"]]
    assert 0 < np.mean(repeated) < 1
    assert card.finding("identifiability.identifiable.all").estimate == pytest.approx(1 - np.mean(repeated))


@pytest.mark.parametrize(
    "name", ["heads.removal.all", "faithfulness.comprehensiveness.all", "perturbation.random.absolute.all"]
)
def test_some_questions_cannot_tell_the_two_apart(both, name):
    """A head that counts is needed whatever its map says: planted so, and no audit must claim more."""
    empty, telling = both(name)
    assert min(empty.interval[0], telling.interval[0]) > 0.4


def test_nothing_is_closer_to_marks_by_rounding(tmp_path):
    """Equal weights are every order at once: exactly as near to the marks as a random one."""
    data = load("dyck", LoadOptions(generator={"instances": 400, "depth": 2, "length": 7}))
    recipe = preset_config("token-classifier", None).with_changes(
        num_hidden_layers=2, left_to_right=True, attention="uniform", epochs=1
    )
    card = glasshead.audit(
        train(data, recipe, tmp_path / "run"), data, audits=["plausibility", "perturbation"], split="test"
    )
    for statistic in ("auprc", "token-f1", "iou", "pointing"):
        finding = card.finding(f"plausibility.{statistic}.all")
        over = finding.over_null["random"]
        assert over.interval == pytest.approx(interval_of_equals(0.0, over.n))
        assert finding.verdict == "not distinguishable from a random order on these texts"
    for draw in ("permutation", "uniform"):
        assert card.finding(f"perturbation.{draw}.absolute.all").verdict.startswith(
            "no change by construction"
        )


@pytest.fixture(scope="module")
def bracket_cards(tmp_path_factory):
    """Two layers that close brackets, with softmax and with uniform weights, and what the audits say."""
    data = load("dyck", LoadOptions(generator={"instances": 2000}))
    recipe = preset_config("token-classifier", None).with_changes(
        num_hidden_layers=2, left_to_right=True, intermediate_size=64, learning_rate=5e-3, epochs=8
    )
    folder: Path = tmp_path_factory.mktemp("brackets")
    runs = {
        name: train(data, recipe.with_changes(attention=name), folder / name)
        for name in ("softmax", "uniform")
    }
    audits = ("explanation", "plausibility")
    return {
        name: glasshead.audit(run, data, audits=audits, limit=60, split="test", seed=0)
        for name, run in runs.items()
    }


@pytest.mark.slow
def test_brackets_are_closed_with_and_without_a_map(bracket_cards):
    for card in bracket_cards.values():
        assert card.finding("performance.accuracy.all").estimate > 0.85
    empty, telling = bracket_cards["uniform"], bracket_cards["softmax"]
    assert empty.finding("perturbation.uniform.absolute.all").estimate == 0.0
    assert telling.finding("perturbation.uniform.absolute.all").interval[0] > 0.05
    assert empty.finding("agreement.attention-absolute.erasure-renormalise.all").n == 0
    assert telling.finding("agreement.attention-absolute.erasure-renormalise.all").interval[0] > 0.3
