"""What commands say beside their answer: what was trained on, what was not read, what cannot be explained."""

import json

from typed import glasshead


def test_train_audit_and_explain_say_what_they_read(tmp_path):
    path = tmp_path / "data.csv"
    rows = [f"a {word} film {i} {'and more ' * 20},{label}" for i in range(20) for word, label in WORDS]
    path.write_text("\n".join(["text,label", *rows, ",bad", "a film,Good"]) + "\n", encoding="utf-8")
    run = tmp_path / "run"
    limits = ("--epochs", 1, "--max-length", 12, "--minimum-frequency", 2)
    lines = glasshead("train", path, *limits, "--out", run).stdout.splitlines()
    assert lines[0].startswith("train  ")
    assert "rows: Good 1, bad " in lines[0]
    assert any("'Good' and 'good' differ only by case" in line for line in lines)
    assert any("labels that occur once: 'Good'" in line for line in lines)
    cut = [line for line in lines if line.startswith("train: ")]
    assert "texts cut to 12 tokens" in cut[0]
    assert "tokens unknown to the model" in cut[1]
    assert set(cut) <= set(json.loads((run / "run.json").read_text())["notes"])
    printed = glasshead("audit", run, path, "--audits", "performance", "--out", tmp_path / "audit").stdout
    card = json.loads((tmp_path / "audit" / "card.json").read_text())
    told = [line for line in printed.splitlines() if line.startswith("audited: ")]
    assert "texts cut to 12 tokens" in told[0]
    assert set(told) <= set(card["facts"]["notes"])
    assert card["facts"]["coverage"]["cut"] > 0
    lines = glasshead("explain", run, "a film " * 10 + "zyx").stdout.splitlines()
    assert lines.pop(0) == "the classes 'Good' and 'good' differ only by case"
    assert lines[0] == "read: 1 of 1 text cut to 12 tokens, 9 of 21 tokens not read (42.9%)"


WORDS = [("warm", "good"), ("dull", "bad")]


def test_texts_that_cannot_be_explained_do_not_stop_the_others(tiny):
    texts = ("zyx wvut", "a wonderful film", "")
    lines = glasshead("explain", tiny.tanhmax, *texts).stdout.splitlines()
    assert lines[:2] == [
        "text 1 is left out: the model knows no word of 'zyx wvut'",
        "text 3 is left out: the text is empty",
    ]
    assert "a wonderful film" in lines
    result = glasshead("explain", tiny.tanhmax, *texts, "--format", "json")
    assert [each["text"] for each in json.loads(result.stdout)] == ["a wonderful film"]
    assert "text 1 is left out" in result.stderr
