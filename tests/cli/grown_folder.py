"""A folder of what was measured, as typed: it is not overwritten, and more texts go on from it."""

import json

from typed import glasshead, refusal


def check_that_more_texts_go_on(folder, asked, written):
    """20 texts, then 30 by two workers: no shard is measured again, and the file ``written`` concludes what
    30 at once do."""
    out, whole = folder / "x", folder / "whole.json"
    glasshead(*asked, "--limit", "20", "--out", out)
    assert "exists" in refusal(out, *asked, "--limit", "30", "--out", out)
    before = {path.name: path.stat().st_mtime_ns for path in out.glob("measurements/*/*.parquet")}
    ended = glasshead(*asked, "--limit", "30", "--out", out, "--resume", "--workers", "2")
    assert f"Report: {out / 'report.html'}" in " ".join(ended.stdout.split())
    after = {path.name: path.stat().st_mtime_ns for path in out.glob("measurements/*/*.parquet")}
    assert before.items() < after.items()
    glasshead(*asked, "--limit", "30", "--out", whole)
    ours, theirs = (json.loads(path.read_text(encoding="utf-8")) for path in (out / written, whole))
    assert ours["conclusion"] == theirs["conclusion"]
    assert ours["facts"]["examples"] == 30
    assert not (folder / "x.parts").exists()
