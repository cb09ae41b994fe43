"""Readers of the papers say what may not be read."""

import pytest

from denied_files import DENIED, damaged_folder, denied  # noqa: F401
from glasshead.errors import InputError
from glasshead.papers.recommend import load_recommender
from glasshead.papers.results import read_history


@pytest.mark.parametrize("name", DENIED)
def test_a_recommender(tmp_path, denied, name):  # noqa: F811
    folder = damaged_folder(tmp_path)
    denied.add(name)
    with pytest.raises(InputError, match=rf"^cannot read .*{name}: permission denied$"):
        load_recommender(folder)


@pytest.mark.parametrize("name", DENIED)
def test_a_history(tmp_path, denied, name):  # noqa: F811
    damaged_folder(tmp_path)
    denied.add(name)
    with pytest.raises(InputError, match=rf"^cannot read .*{name}: permission denied$"):
        read_history(tmp_path)
