"""Token classifiers side by side: what their scores rest on is what they were made to rest on."""

import json

import numpy as np
import pytest
from datasets import DatasetDict

from glasshead.data import LoadOptions, load
from glasshead.errors import InputError
from glasshead.papers.minima import compare_minima
from glasshead.papers.report import minimum_lines
from glasshead.report import PLOTS
from glasshead.training import preset_config, train

OPTIONS = LoadOptions(generator={"instances": 200, "letters": 4, "length": 4})
SOURCE = {"source": "histogram", "options": {"generator": dict(OPTIONS.generator)}}
SMALL = {"epochs": 2, "intermediate_size": 8, "embedding_size": 4, "position_size": 4, "tied": True}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    out = tmp_path_factory.mktemp("runs")
    data = load("histogram", OPTIONS)
    for part in ("positional", "semantic", "both"):
        config = preset_config("token-classifier", None).with_settings(SMALL | {"scores": part})
        train(data, config, out / part, source=SOURCE)
    train(data, preset_config("token-classifier", None).with_settings(SMALL | {"num_hidden_layers": 2}),
          out / "two-layers", source=SOURCE)  # fmt: skip
    return out


@pytest.fixture(scope="module")
def compared(folder):
    runs = [folder / part for part in ("positional", "semantic", "both")]
    return compare_minima(runs, "a b a c", limit=20)


def test_scores_rest_on_what_they_read(compared):
    positional, semantic, both = compared.solutions
    assert positional.shares == pytest.approx({"semantic": 0, "positional": 1, "mixed": 0})
    assert semantic.shares == pytest.approx({"semantic": 1, "positional": 0, "mixed": 0})
    assert sum(both.shares.values()) == pytest.approx(1)
    assert min(abs(share) for share in both.shares.values()) > 1e-3


def test_maps_have_a_row_for_each_token_and_parts_add_up_to_them(compared):
    assert compared.queries == compared.keys == ["a", "b", "a", "c"]
    for one in compared.solutions:
        assert one.weights.shape == (4, 4)
        np.testing.assert_allclose(one.weights.sum(axis=1), 1.0, rtol=1e-9)
        scores = sum(one.parts.values())
        expected = np.exp(scores) / np.exp(scores).sum(axis=1, keepdims=True)
        np.testing.assert_allclose(one.weights, expected, rtol=1e-6)
    np.testing.assert_allclose(compared.solutions[1].weights[0], compared.solutions[1].weights[2])
    assert not np.allclose(compared.solutions[0].weights[0], compared.solutions[0].weights[2])


def test_the_loss_is_that_of_training_within_what_scores_read_and_freed(compared):
    # At so early a stage nothing is a minimum, and a direction leads down.
    for one in compared.solutions:
        for found in one.curvatures.values():
            assert found.smallest < 0 < found.largest
            assert found.gradient > 0
    for one in compared.solutions[:2]:
        constrained, freed = one.curvatures["constrained"], one.curvatures["freed"]
        assert freed.loss == pytest.approx(constrained.loss)
        assert freed.gradient > constrained.gradient  # it has the same slopes and more
        assert freed.smallest <= constrained.smallest + 1e-3 * constrained.largest
    both = compared.solutions[2].curvatures
    assert both["freed"] == both["constrained"]


def test_the_texts_of_train_are_read(folder):
    data, runs = load("histogram", OPTIONS), [folder / "positional", folder / "semantic"]
    usual = compare_minima(runs, data=data, limit=20)
    other = compare_minima(runs, data=DatasetDict(data | {"test": data["dev"]}), limit=20)
    assert [one.loss for one in usual.solutions] != [one.loss for one in other.solutions]
    for one, same in zip(usual.solutions, other.solutions, strict=True):
        assert one.curvatures == same.curvatures
    assert (usual.texts, usual.train_texts, usual.landscape_texts) == (30, 140, 20)
    # The lines are those of the first texts of train, the gradient of all.
    few = DatasetDict(data | {"train": data["train"].select(range(20))})
    first = compare_minima(runs, data=few, limit=20)
    for line, same in zip(usual.lines, first.lines, strict=True):
        np.testing.assert_allclose(line.losses, same.losses)
    for one, part in zip(usual.solutions, first.solutions, strict=True):
        assert one.curvatures["freed"].smallest == part.curvatures["freed"].smallest
        assert one.curvatures["freed"].gradient != pytest.approx(part.curvatures["freed"].gradient)


def test_every_pair_has_a_line_with_and_without_matched_units(compared):
    assert [(line.ends, line.matched) for line in compared.lines] == [
        (ends, matched) for ends in ((0, 1), (0, 2), (1, 2)) for matched in (False, True)
    ]
    for line in compared.lines:
        assert line.barrier >= 0
        same = next(each for each in compared.lines if each.ends == line.ends)
        assert line.losses[[0, -1]] == pytest.approx(same.losses[[0, -1]])


def test_it_is_drawn_said_and_written(compared, tmp_path):
    figure = PLOTS["minima"].draw(compared)
    assert len(figure.panels) == 3 * 3 + 1
    figure.save(tmp_path / "minima.svg")
    assert "accuracy" in (tmp_path / "minima.svg").read_text(encoding="utf-8")
    lines = list(minimum_lines(compared))
    assert len(lines) == 3 * 3 + 6
    assert "semantic 1.00" in lines[3]
    content = json.loads(compared.to_json())
    assert content["lines"][0]["ends"] == ["positional", "semantic"]
    loss = content["solutions"][0]["training_loss"]
    assert loss.keys() == {"constrained", "freed"}
    assert loss["freed"].keys() == {"smallest", "largest", "gradient", "loss"}


def test_deeper_scores_have_no_parts(folder):
    one = compare_minima([folder / "two-layers"], limit=10)
    assert np.isnan(list(one.solutions[0].shares.values())).all()
    assert len(PLOTS["minima"].draw(one).panels) == 1
    assert json.loads(one.to_json())["lines"] == []


@pytest.mark.parametrize(
    ("text", "limit", "says"),
    [
        ("a", 20, "2 to 40 tokens"),
        ("a b z", 20, "does not read each word"),
        ("a b a", 1, "must be at least 2"),
        ("a a a a " * 5, 20, "does not read each word"),
    ],
)
def test_refused(folder, text, limit, says):
    with pytest.raises(InputError, match=says):
        compare_minima([folder / "positional"], text, limit=limit)


def test_other_models_and_data_are_refused(folder, tmp_path):
    data = load("histogram", OPTIONS)
    train(data, preset_config("s4", None).with_changes(epochs=1), tmp_path / "pooled", source=SOURCE)
    with pytest.raises(InputError, match="is not a token classifier"):
        compare_minima([tmp_path / "pooled"])
    other = SOURCE | {"options": {"generator": {"instances": 300}}}
    config = preset_config("token-classifier", None).with_settings(SMALL | {"epochs": 1})
    train(data, config, tmp_path / "other", source=other)
    with pytest.raises(InputError, match="different data"):
        compare_minima([folder / "positional", tmp_path / "other"])
