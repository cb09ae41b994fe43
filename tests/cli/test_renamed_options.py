"""Old spellings of options are understood, and not shown."""

import pytest

from glasshead.cli.renamed_options import respell
from typed import glasshead


@pytest.mark.parametrize(
    ("typed", "understood"),
    [
        (["--heads", "add"], ["--head-combination", "add"]),
        (["--heads=add", "--out", "run"], ["--head-combination=add", "--out", "run"]),
        (["--head-combination", "sum"], ["--head-combination", "sum"]),
        (["run", "--", "--heads"], ["run", "--", "--heads"]),
    ],
)
def test_old_words_become_new_ones(typed, understood):
    assert list(respell(typed, {"--heads": "--head-combination"})) == understood


@pytest.mark.parametrize(
    ("command", "old", "new"),
    [
        ("train", "--heads", "--head-combination"),
        ("audit", "--tests", "--audits"),
        ("explain", "--of", "--target-function"),
    ],
)
def test_only_the_new_ones_are_shown(command, old, new):
    page = glasshead(command, "--help").stdout.split()
    assert new in page
    assert old not in page
