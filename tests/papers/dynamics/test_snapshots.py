"""Looks put together in pieces: the same tables as all at once."""

import numpy as np
import pyarrow.parquet as pq
import pytest

from glasshead.papers.dynamics import snapshots as looks_module
from glasshead.papers.dynamics.snapshots import Snapshot, merge_snapshots, write_snapshot
from glasshead.papers.results import CURVES, PRODUCTS, TABLES, read_columns, write_history

STEPS = (0, 5, 10, 15, 100, 2000, 30_000)
ABOUT = {"token": np.array(["a", "long word", "ß"]), "count": np.array([3, 1, 4])}


@pytest.fixture
def looks(tmp_path):
    """Looks in a folder, and what they were."""
    chance, written = np.random.default_rng(0), {}
    for step in STEPS:
        look = Snapshot(
            [("loss", "", float(chance.normal()), float("nan"), 9), ("Ω A", "x × y", 0.1 * step, 0.0, 2)],
            [("e", "x × y", *chance.normal(size=6).tolist(), 4)],
            {"score": chance.normal(size=3).astype(np.float32)},
            {"score D": chance.normal(size=3)},
            {"score D": chance.normal(size=3)},
        )
        write_snapshot(tmp_path, step, look)
        written[step] = look
    return tmp_path, written


@pytest.mark.parametrize(("rows", "groups"), [(1, 7), (3, 7), (7, 4), (1000, 1)])
def test_in_pieces_as_all_at_once(looks, tmp_path, monkeypatch, rows, groups):
    monkeypatch.setattr(looks_module, "ROWS_PER_PIECE", rows)
    folder, written = looks
    out = tmp_path / "out"
    out.mkdir()
    write_history(out, {}, merge_snapshots(folder, ABOUT))
    found = {name: read_columns(out / f"{name}.parquet") for name in TABLES}
    whole = {
        "step": [step for step in STEPS for _ in range(3)],
        "token": [*ABOUT["token"]] * len(STEPS),
        "count": [*ABOUT["count"]] * len(STEPS),
        "score": np.concatenate([look.tokens["score"] for look in written.values()]),
        "rate score D": np.concatenate([look.rates["score D"] for look in written.values()]),
        "added score D": np.concatenate([look.added["score D"] for look in written.values()]),
    }
    assert list(found["tokens"]) == list(whole)
    for name, column in whole.items():
        np.testing.assert_array_equal(found["tokens"][name], column)
    assert found["tokens"]["score"].dtype == np.float32
    for name, columns in (("curves", CURVES), ("products", PRODUCTS)):
        rows_of = [(step, *row) for step, look in written.items() for row in getattr(look, name)]
        for place, column in enumerate(columns):
            np.testing.assert_array_equal(found[name][column], [row[place] for row in rows_of])
    assert pq.ParquetFile(out / "tokens.parquet").num_row_groups == groups


def test_without_tokens_their_table_is_empty(looks, tmp_path):
    out = tmp_path / "out"
    out.mkdir()
    write_history(out, {}, merge_snapshots(looks[0], {}))
    assert read_columns(out / "tokens.parquet") == {}
    assert len(read_columns(out / "curves.parquet")["step"]) == 2 * len(STEPS)
