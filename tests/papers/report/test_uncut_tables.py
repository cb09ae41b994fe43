"""No table of the papers cuts a number, however narrow the terminal."""

import fake_histories
import pytest
from test_dynamics_page import told
from test_ranking_table import estimate

from glasshead.papers.report import dynamics_document, ranking_table
from uncut import assert_uncut

TINY = 1.2345e-7


def ranking():
    values = {name: estimate(TINY, -6.2e-7, 8.4e-7) for name in ("auc", "mrr", "ndcg@5", "ndcg@10")}
    return [ranking_table({"model": values, "popularity": values}, {"popularity": values})]


TABLES = {
    "ranking": ranking,
    "dynamics": lambda: dynamics_document(told()),
    "dynamics of layers": lambda: dynamics_document(told(fake_histories.layered(), tokens=())),
}


@pytest.mark.parametrize("width", [60, 80, 120])
@pytest.mark.parametrize("name", TABLES)
def test_every_number_is_whole(name, width):
    assert_uncut(TABLES[name](), width)
