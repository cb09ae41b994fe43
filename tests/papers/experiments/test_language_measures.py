"""Cells of masked language models: what is measured, and the floors beside it."""

import math
from itertools import pairwise

import numpy as np
import pytest
import torch
from datasets import Dataset, DatasetDict

from glasshead.errors import InputError
from glasshead.language import LanguageModelConfig
from glasshead.papers.experiments.cell import Cell
from glasshead.papers.experiments.job import MEASURES, Job
from glasshead.papers.experiments.measures.language_model import bigram_scores
from glasshead.papers.experiments.papers.s0_language import LANGUAGE_TITLES, TABLE4
from glasshead.papers.experiments.source import DataSource
from glasshead.training import preset_config

TINY = LanguageModelConfig(
    model="bert", objective="masked", vocab_size=300, num_hidden_layers=1, num_attention_heads=2,
    hidden_size=16, block_size=16, epochs=2, attention="tanhmax",
)  # fmt: skip


def made_up(count, seed):
    rng = np.random.default_rng(seed)
    return Dataset.from_dict({"text": [" ".join(rng.choice(list("abcdef"), 12)) for _ in range(count)]})


@pytest.fixture
def job(tmp_path):
    data = DatasetDict({"train": made_up(60, 0), "dev": made_up(20, 1), "test": made_up(20, 2)})
    cell = Cell(
        "made-up/tanhmax", "TanhMax", DataSource("made-up", "made up"), TINY, measure="language-model"
    )
    return Job(cell, 0, data, tmp_path / "run")


def test_a_cell_of_a_language_model(job):
    numbers = MEASURES["language-model"](job).numbers
    assert numbers["epochs"] == 2
    assert numbers["steps"] > 2
    assert numbers["perplexity"] == pytest.approx(math.exp(numbers["loss"]))
    assert 0 <= numbers["accuracy"] <= 1
    assert 0 <= numbers["dev_accuracy"] <= 1
    ((_, before, after),) = numbers["entropy"]
    assert 0 < before <= 1
    assert 0 < after <= 1
    again = MEASURES["language-model"](job).numbers  # from the run that stands
    assert again["loss"] == pytest.approx(numbers["loss"])
    # Untrained, it knows less than how often each token occurs.
    floor = MEASURES["unigram-tokens"](job).numbers
    assert floor["loss"] < numbers["loss"] < math.log(300) + 0.5
    assert MEASURES["bigram-tokens"](job).numbers["loss"] < floor["loss"] + 0.1


def test_bigrams_are_what_counting_finds():
    rng = np.random.default_rng(0)
    train = torch.from_numpy(rng.integers(0, 5, 400))
    ids = torch.from_numpy(rng.integers(0, 5, (3, 8)))
    labels = torch.where(torch.from_numpy(rng.random((3, 8)) < 0.4), ids, -100)
    labels[:, 0] = ids[:, 0]
    found = bigram_scores(train, {"input_ids": ids, "labels": labels}, 5, strength=10.0)
    tokens = train.tolist()
    for block in range(3):
        loss, correct, count = 0.0, 0, 0
        for place, wanted in enumerate(labels[block].tolist()):
            if wanted < 0:
                continue
            left = int(ids[block, place - 1]) if place else None
            chances = []
            for token in range(5):
                share = (tokens.count(token) + 1) / (len(tokens) + 5)
                pairs = sum((a, b) == (left, token) for a, b in pairwise(tokens))
                whole = sum(a == left for a in tokens[:-1])
                chances.append((pairs + 10 * share) / (whole + 10))
            assert sum(chances) == pytest.approx(1.0)
            loss -= math.log(chances[wanted])
            correct += int(np.argmax(chances)) == wanted
            count += 1
        assert found.losses[block] == pytest.approx(loss)
        assert found.tokens[block] == count
        assert found.correct[block] == correct


def test_measures_and_recipes_go_together(job):
    with pytest.raises(InputError, match="does not train a classifier"):
        MEASURES["classifier"](job)
    classifier = job.cell.with_fields(recipe=preset_config(None, None))
    with pytest.raises(InputError, match="not for language models"):
        MEASURES["language-model"](Job(classifier, 0, job.data, job.folder))


def test_every_activation_is_trained_alike():
    for data in TABLE4.sources:
        cells = [cell for cell in TABLE4.cells if cell.data == data and cell.measure == "language-model"]
        assert [cell.title for cell in cells] == list(LANGUAGE_TITLES.values())
        recipes = [{**cell.recipe.as_dict(), "attention": None} for cell in cells]
        assert all(recipe == recipes[0] for recipe in recipes)
        assert len({cell.key for cell in cells}) == len(LANGUAGE_TITLES)
        assert all(cell.grid == cells[0].grid for cell in cells)
