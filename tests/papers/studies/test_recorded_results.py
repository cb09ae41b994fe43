"""What is recorded is of the recipes as they are: `make reproduction` trains none of it again."""

import importlib

import pytest

from reproduction.identifiability import measure as identifiability
from reproduction.news import measure as news
from reproduction.study import read_numbers

STUDIES = ("aggregation", "debate", "dynamics", "encoder_scale", "heads", "rank", "solvable")
TRAININGS = [importlib.import_module(f"reproduction.{name}.measure").TRAININGS for name in STUDIES]
TABLES = [(trainings, table) for trainings in TRAININGS for table in trainings.tables]


@pytest.mark.parametrize(("trainings", "table"), TABLES, ids=[f"{t.name}-{table}" for t, table in TABLES])
def test_a_table_that_was_begun_is_complete(trainings, table):
    if read_numbers(trainings.name, table):
        assert trainings.missing(table) == []


def test_the_news_recommenders():
    assert set(news.measured()) == set(map(news.key, news.jobs()))


def test_identifiability():
    values = read_numbers("identifiability", "lengths")
    for length in identifiability.LENGTHS:
        assert identifiability.has_settings(str(length), values[str(length)])
