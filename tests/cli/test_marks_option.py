"""The column of human marks, by its name."""

import json

from glasshead.results import AuditCard
from typed import glasshead, refusal


def test_marks_column(tiny, tmp_path):
    path, out = tmp_path / "reviews.jsonl", tmp_path / "audit"
    rows = [
        {"text": text, "label": label, "why": [[2, 6]]}
        for text, label in (("a warm film", "positive"), ("a dull mess", "negative")) * 15
    ]
    path.write_text("\n".join(map(json.dumps, rows)), encoding="utf-8")
    audit = "audit", tiny.softmax, path, "--split", "all", "--audits", "plausibility", "--out", out
    named = glasshead(*audit, "--marks-column", "why")
    assert "Does it point to the words that people mark?" in named.stdout
    card = AuditCard.load(out)
    assert card.finding("plausibility.auprc.all").n == 30
    assert card.facts["top_tokens"] == 1
    again = (*audit[:-1], tmp_path / "other")
    assert "name the column of marks (--marks-column)" in refusal(tmp_path, *again)
    wrong = refusal(tmp_path, *again, "--marks-column", "label")
    assert "reviews.jsonl row 1: 'positive' is not a list of spans" in wrong
