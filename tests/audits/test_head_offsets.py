"""Heads that look a fixed number of tokens away, and heads that only seem to."""

from types import SimpleNamespace

import numpy as np
import pytest
import torch

import glasshead
import planted_heads
from glasshead.audits.head_report.row_statistics import Rows, offset_shares
from planted_heads import ITSELF, LENGTH, NEXT, PREVIOUS, SAME, UNIFORM

WORDS = [f"word{number}" for number in range(30)] + ["good", "bad"]
BACK, AHEAD, FIRST, TWO_PLACES = PREVIOUS, NEXT, ITSELF, SAME


def planted_offsets():
    """Heads that look eleven tokens back, three ahead, at the first token, and at two fixed places; the
    others look at all tokens alike."""
    model, tokenizer = planted_heads.empty_bert(WORDS), planted_heads.tokenizer_of(WORDS)
    start = model.config.vocab_size
    none = torch.zeros(model.config.hidden_size // 8, model.config.hidden_size // 8)
    place = [planted_heads.one_hot(model, start + number) for number in range(LENGTH)]
    planted_heads.set_head(model, BACK, planted_heads.place_map(model, -11))
    planted_heads.set_head(model, AHEAD, planted_heads.place_map(model, 3))
    planted_heads.set_head(model, FIRST, none, place[0])
    planted_heads.set_head(model, TWO_PLACES, none, place[2] + place[5])
    return model, tokenizer


@pytest.fixture(scope="module")
def report():
    model, tokenizer = planted_offsets()
    drawn = np.random.default_rng(0).choice(WORDS[:-2], (30, LENGTH - 2))
    texts = [" ".join(row) for row in drawn]
    return glasshead.heads(model, planted_heads.as_data(texts), tokenizer=tokenizer, dtype="float32")


@pytest.mark.slow
def test_fixed_offsets_are_named(report):
    patterns = {head.head: head.pattern for head in report.heads}
    expected = {
        BACK: "token 11 back", AHEAD: "token 3 ahead", FIRST: "[CLS]", TWO_PLACES: "", UNIFORM: "uniform"
    }  # fmt: skip
    assert {number: patterns[number] for number in expected} == expected
    (sentence,) = [one for one in report.conclusion if "token 11 back" in one]
    assert "head 0-0 to the token 11 back" in sentence.lower()


def test_offsets_stand_beside_what_other_rows_give(report):
    back = report.head(0, BACK).offset
    assert back.against == "token 11 back"
    assert back.estimate == pytest.approx(1.0, abs=1e-4)
    assert back.verdict == "more than half of its attention"
    assert back.null["uniform"] == pytest.approx(1 / LENGTH)
    # Of fifteen other rows eleven look at all tokens alike, and four at another one.
    assert back.null["other rows"] == pytest.approx(11 / LENGTH / 15, abs=1e-3)
    assert back.level > report.head(0, BACK).finding("previous").level
    for number in (FIRST, TWO_PLACES, UNIFORM):
        assert "other rows" in report.head(0, number).offset.verdict
        assert report.head(0, number).offset.over_null["other rows"].interval[1] < 0.02


def test_the_table_has_one_column_for_all_offsets(report, tmp_path):
    report.save(tmp_path / "heads.html")
    page = (tmp_path / "heads.html").read_text(encoding="utf-8")
    assert page.count(">at one fixed offset<") == 1
    assert "token 11 back" in page
    named = report.to_pandas().query("statistic == 'offset'").set_index("head")["against"]
    assert named[BACK] == "token 11 back"


@pytest.mark.parametrize("causal", [True, False])
def test_the_shares_are_what_two_loops_find(causal):
    generator = torch.Generator().manual_seed(0)
    n = 9
    allowed = torch.ones(n, n).tril().bool() if causal else torch.ones(n, n).bool()
    allowed[4, 1] = False
    shares = torch.rand(2, n, n, generator=generator) * allowed
    shares /= shares.sum(dim=-1, keepdim=True)
    real = torch.ones(2, n).bool()
    real[0, 3] = False
    shares[~real] = 0.0
    view = SimpleNamespace(allowed=allowed.expand(2, n, n))
    sums = {
        (one.statistic, one.against): one for one in offset_shares(Rows(view, shares, shares * 0, real, None))
    }
    assert ("offset", "2") in sums or causal
    for (_, offset), one in [item for item in sums.items() if item[0][0] == "offset"]:
        for head in range(2):
            own, elsewhere, rows = 0.0, 0.0, 0
            for query in range(n):
                key = query + int(offset)
                seen = 0 <= key < n and allowed[query, key] and real[head, query]
                others = [
                    row for row in range(n) if row != query and seen and allowed[row, key] and real[head, row]
                ]
                if others:
                    own += float(shares[head, query, key])
                    elsewhere += float(shares[head, others, key].mean())
                    rows += 1
            assert int(one.rows[head]) == rows
            assert float(one.total[head]) == pytest.approx(own, abs=1e-5)
            assert float(sums["offset-elsewhere", offset].total[head]) == pytest.approx(elsewhere, abs=1e-5)
