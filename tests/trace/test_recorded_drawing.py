"""What was recorded shows itself, converts and saves, by its weights."""

import json
import re

import numpy as np
import pytest
import torch
from transformers import BertConfig, BertForSequenceClassification

import glasshead
from glasshead.errors import InputError
from glasshead.results import MAX_POSITIONS

SIZES = {"vocab_size": 50, "hidden_size": 8, "num_hidden_layers": 2, "num_attention_heads": 2}
BATCH = {
    "input_ids": torch.tensor([[2, 17, 5, 42], [2, 8, 3, 0]]),
    "attention_mask": torch.tensor([[1, 1, 1, 1], [1, 1, 1, 0]]),
}


@pytest.fixture(scope="module")
def model():
    torch.manual_seed(0)
    return glasshead.plug(BertForSequenceClassification(BertConfig(**SIZES)).eval(), "softmax")


@pytest.fixture(scope="module")
def trace(model):
    with torch.no_grad(), glasshead.record(model) as trace:
        model(**BATCH)
    return trace


def test_a_table_has_every_weight_that_may_be(trace):
    table = trace.to_pandas()
    assert len(table) == 2 * 2 * (4 * 4 + 4 * 3)
    row = table[(table.layer == 1) & (table.text == 1) & (table["head"] == 1) & (table["query"] == 2)]
    np.testing.assert_allclose(row.weight, trace[1].weights[1, 1, 2, :3], rtol=1e-6)
    assert len(trace[0].to_pandas()) == len(table) // 2


def test_json_has_null_for_what_a_query_cannot_see(trace):
    layers = json.loads(trace.to_json(), parse_constant=pytest.fail)
    assert [layer["layer"] for layer in layers] == [0, 1]
    assert layers[0]["weights"][1][0][0][3] is None
    assert layers[0]["weights"][0][0][0][3] == pytest.approx(trace[0].weights[0, 0, 0, 3].item())


def test_a_notebook_shows_layers_and_first_maps(trace):
    html = trace._repr_html_()
    assert html.count(">bert.encoder.layer.") == 2
    assert html.count("<img") == 1
    assert not re.search(r"<script|<style|<link|https?:(?!//www.w3.org)", html)
    assert len(html) < 200_000
    assert len(repr(trace)) < 200
    assert "2 texts, 2 heads, 4 × 4 weights" in repr(trace)


def test_files(trace, tmp_path):
    for ending, start in (
        ("html", b"<!doctype html>"), ("json", b"["), ("svg", b"<?xml"),
        ("png", b"\x89PNG"), ("pdf", b"%PDF"),
    ):  # fmt: skip
        trace.save(tmp_path / f"trace.{ending}")
        assert (tmp_path / f"trace.{ending}").read_bytes().startswith(start)
    page = (tmp_path / "trace.html").read_text(encoding="utf-8")
    assert page.count('<svg class="plot"') == 2 * 2 * 2
    trace[1].save(tmp_path / "layer.html")
    assert (tmp_path / "layer.html").read_text(encoding="utf-8").count('<svg class="plot"') == 2 * 2
    with pytest.raises(InputError, match="choose another `path`"):
        trace.save(tmp_path / "trace.html")


def test_padding_is_no_row_and_no_column(trace):
    maps = trace.plain_value().head_maps(0, 1)
    assert maps.rows == maps.columns == ["0", "1", "2"]
    assert all(np.isfinite(one.weights).all() for one in maps.maps)


def test_several_passes_and_chosen_rows(model, tmp_path):
    with torch.no_grad(), glasshead.record(model, layers=[1], rows=[-1]) as trace:
        model(**BATCH)
        model(**BATCH)
    table = trace.to_pandas()
    assert set(table["pass"]) == {0, 1}
    assert set(table["query"]) == {3}
    assert "pass 2" in trace._repr_html_()
    trace.save(tmp_path / "trace.png")


@pytest.mark.slow
def test_long_texts_are_cut_and_nothing_is_said_to_be_nothing(model, tmp_path):
    ids = torch.randint(3, 50, (1, 80))
    with torch.no_grad(), glasshead.record(model, layers=[0]) as trace:
        assert "nothing has been recorded yet" in trace._repr_html_()
        with pytest.raises(InputError, match="nothing has been recorded yet"):
            trace.save(tmp_path / "trace.png")
        model(ids)
    maps = trace.plain_value().head_maps(0, 0)
    assert maps.maps[0].weights.shape == (MAX_POSITIONS, MAX_POSITIONS)
    assert "first 60 of 80 queries and 80 keys" in maps.remark
    assert "first 60 of 80 queries" in trace._repr_html_()
