"""What is recorded in docs/results is of the recipes as they are: `make results` trains none of it again."""

import pytest

import debate
import dynamics
import encoder_scale
import identifiability
import news
import solvable

STUDIES = (debate.STUDY, dynamics.STUDY, encoder_scale.STUDY, solvable.STUDY)
TABLES = [(study, table) for study in STUDIES for table in study.tables]


@pytest.mark.parametrize(("study", "table"), TABLES, ids=[f"{s.name}-{table}" for s, table in TABLES])
def test_a_table_that_was_begun_is_complete(study, table):
    if study.read(table):
        assert study.missing(table) == []


def test_the_news_recommenders():
    assert set(news.measured()) == set(map(news.key, news.jobs()))


def test_identifiability():
    for length in identifiability.LENGTHS:
        assert identifiability.is_recorded(str(length), identifiability.SETTINGS)
