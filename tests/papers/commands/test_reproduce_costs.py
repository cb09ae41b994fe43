"""The listed command runs what is listed, and a list of prices that is none is refused."""

import shlex

import pytest

from typed import glasshead, refusal


def test_the_command_does_what_it_says(tmp_path):
    """What is listed is what the command begins."""
    out = tmp_path / "tables"
    text = glasshead("reproduce", "s2", "--only", "figure6", "--hours", 0, "--held-out", 1, "--out", out)
    page = (out / "s2" / "to-run.md").read_text()
    (line,) = [line for line in page.splitlines() if "--only figure6/ag_news_lower" in line]
    command = shlex.split(line.split("`")[1])
    assert command == ["glasshead", "reproduce", "s2", "--only", "figure6/ag_news_lower", "--held-out", "1"]
    missing = refusal(tmp_path, *command[1:], "--data", tmp_path, "--out", out)
    assert "ag_news_lower" in missing
    assert "trec" not in missing
    assert text.exit_code == 0


@pytest.mark.parametrize("text", ["[]", '{"a": {"seconds_per_epoch": 0}}', '{"a": {"hours": 1}}', "{"])
def test_prices_that_cannot_be_read_are_refused(tmp_path, text):
    (tmp_path / "prices.json").write_text(text)
    line = refusal(tmp_path, "reproduce", "s2", "--hours", 0, "--rows", tmp_path, "--out", tmp_path / "out")
    assert "prices.json" in line
