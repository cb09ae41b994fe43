"""Batches write down what single rows give, go on where they stopped, and refuse the parts of others."""

import sys

import numpy as np
import pyarrow.parquet as pq
import pytest
import torch
from tokenizers import Tokenizer
from tokenizers.models import WordLevel
from transformers import PreTrainedTokenizerFast

from glasshead.errors import InputError
from glasshead.identifiability import IntervalOptions, RowSelector, attention_rows, merge_parts, solve_batches
from glasshead.identifiability.interval_batches import fingerprints
from small_encoders import batch, encoded, small

LENGTHS = (14, 4, 12, 2, 9)


HERE = RowSelector(layers=(0,))
EVERYTHING = IntervalOptions()


WORDS = PreTrainedTokenizerFast(
    tokenizer_object=Tokenizer(WordLevel({f"w{one}": one for one in range(200)}, unk_token="w0"))
)


def made(folder, question=EVERYTHING, lengths=LENGTHS, where=HERE, nudge=0.0, seed=1, **options):
    model = small(max_length=16, hidden_size=6, num_attention_heads=3)
    with torch.no_grad():
        model.classifier.weight.add_(nudge)
    texts = encoded(batch(lengths=lengths, seed=seed))
    store = solve_batches(model, WORDS, texts, where, question, folder, **options)
    return model, texts, store


def test_lines_are_those_of_the_rows(tmp_path):
    model, texts, store = made(tmp_path / "s")
    merge_parts(tmp_path / "s", tmp_path)
    heads = pq.read_table(tmp_path / "heads.parquet").to_pylist()
    weights = pq.read_table(tmp_path / "weights.parquet").to_pylist()
    rows = [row for part in attention_rows(model, texts, HERE) for row in part]
    assert len(heads) == len(rows) == 3 * len(LENGTHS)
    assert len(weights) == 3 * sum(LENGTHS)
    for row in rows:
        found = row.intervals()
        (line,) = [
            each
            for each in heads
            if (each["text"], each["layer"], each["head"]) == (row.text, row.layer, row.head)
        ]
        assert line["nullity"] == found.nullity
        assert line["identifiable"] == (found.nullity <= 0)
        assert line["width"] == pytest.approx((found.high - found.low).mean(), abs=1e-9)
        mine = [
            each
            for each in weights
            if (each["text"], each["layer"], each["head"]) == (row.text, row.layer, row.head)
        ]
        np.testing.assert_allclose([each["low"] for each in mine], found.low, atol=1e-9)
        np.testing.assert_allclose([each["high"] for each in mine], found.high, atol=1e-9)
    # Values of two numbers (6 / 3 heads): three keys are as many as one map can be sure of.
    assert {line["tokens"] for line in heads if line["identifiable"]} == {2}
    assert store.heads()["text"].tolist() == [line["text"] for line in heads]


@pytest.mark.slow
def test_two_processes_find_the_same(tmp_path):
    one, two = (made(tmp_path / str(n), IntervalOptions(processes=n))[2].heads() for n in (1, 2))
    np.testing.assert_allclose(one["width"], two["width"], atol=1e-9)


def test_what_was_interrupted_goes_on(tmp_path, monkeypatch):
    module = sys.modules[solve_batches.__module__]
    monkeypatch.setattr(module, "PART", 2)
    whole = made(tmp_path / "whole")[2].heads()
    asked = []
    real = module.build_records

    def stop_at_the_second(rows, null, start, *more):
        asked.append(start)
        if len(asked) == 2:
            raise KeyboardInterrupt
        return real(rows, null, start, *more)

    monkeypatch.setattr(module, "build_records", stop_at_the_second)
    with pytest.raises(KeyboardInterrupt):
        made(tmp_path / "parts")
    assert sorted(path.name for path in (tmp_path / "parts").glob("*.parquet")) == [
        "heads-00000.parquet",
        "weights-00000.parquet",
    ]
    resumed = made(tmp_path / "parts")[2].heads()
    assert asked == [0, 2, 2, 4]
    for name, column in whole.items():
        if column.dtype.kind == "f":
            np.testing.assert_allclose(column, resumed[name], atol=1e-9)
        else:
            np.testing.assert_array_equal(column, resumed[name])


@pytest.mark.parametrize(
    "other",
    [{"question": IntervalOptions(top=2)}, {"lengths": LENGTHS[::-1]}, {"seed": 2}, {"nudge": 1e-3}],
    ids=["question", "lengths", "words", "weights"],
)
def test_parts_of_other_settings_are_not_taken_up(tmp_path, other):
    made(tmp_path / "s")
    with pytest.raises(InputError, match="the measurements of another request"):
        made(tmp_path / "s", **other)


def test_every_text_and_layer_has_a_null_of_its_own(tmp_path, monkeypatch):
    monkeypatch.setattr(sys.modules[solve_batches.__module__], "PART", 2)
    heads = made(tmp_path / "s", lengths=(9,) * 12)[2].heads()
    drawn = [
        (t, h)
        for t, h, w in zip(heads["text"], heads["head"], heads["random_width"], strict=True)
        if w is not None and w == w
    ]
    assert [text for text, _ in drawn] == list(range(12))
    firsts = [head for text, head in drawn if text % 2 == 0]
    assert len(set(firsts)) > 1  # not the same draw for the first text of every part


def test_a_tolerance_decides_what_is_identifiable(tmp_path):
    strict, loose, some = (
        made(tmp_path / str(n), question, lengths=(2, 2))[2].heads()["identifiable"].tolist()
        for n, question in enumerate(
            (IntervalOptions(), IntervalOptions(tolerance=0.2), IntervalOptions(top=1, tolerance=0.2))
        )
    )
    assert strict == [True] * 6
    assert loose == [False] * 6
    assert some == [None] * 6


def test_rows_of_one_map_share_its_values():
    rows = [
        row
        for part in attention_rows(
            small(), encoded(batch(lengths=(9,))), RowSelector(layers=(0,), rows="all")
        )
        for row in part
    ]
    assert len(rows) == 3 * 9
    assert len({id(row.T) for row in rows}) == 3


def test_top_asks_about_the_largest_weights_alone(tmp_path):
    made(tmp_path / "s", IntervalOptions(top=2))
    merge_parts(tmp_path / "s", tmp_path)
    weights = pq.read_table(tmp_path / "weights.parquet").to_pandas()
    every = made(tmp_path / "t")[2]
    merge_parts(every.folder, tmp_path)
    all_weights = pq.read_table(tmp_path / "weights.parquet").to_pandas()
    keys = ["text", "layer", "head"]
    largest = all_weights.sort_values("weight", ascending=False, kind="stable").groupby(keys).head(2)
    assert set(map(tuple, weights[[*keys, "key"]].values)) == set(map(tuple, largest[[*keys, "key"]].values))


def test_wrong_questions():
    for wrong in ({"top": 0}, {"tolerance": -0.1}, {"tolerance": float("nan")}):
        with pytest.raises(InputError):
            IntervalOptions(**wrong)


def test_a_model_with_a_number_of_no_dimension_has_a_fingerprint():
    model, texts = small(max_length=16), encoded(batch(lengths=(4,)))
    model.register_parameter("temperature", torch.nn.Parameter(torch.tensor(2.0)))
    before = fingerprints(model, texts)
    with torch.no_grad():
        model.temperature.mul_(2)
    assert fingerprints(model, texts)["weights"] != before["weights"]
