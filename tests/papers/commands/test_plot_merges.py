"""glasshead plot merges, as it is typed."""

import pytest

from typed import glasshead


@pytest.mark.parametrize("kind", ["svg", "png", "pdf", "html", "txt"])
def test_every_kind_of_file(tmp_path, kind):
    out = tmp_path / f"merges.{kind}"
    result = glasshead("plot", "merges", "low", "login", "--merges", 2, "--out", out)
    assert "1. l + o (2×): lo|w  lo|g|i|n" in result.stdout
    assert out.stat().st_size > 50
    if kind == "txt":
        assert out.read_text().splitlines()[2].startswith("2. ")


def test_words_of_a_file(tmp_path):
    (tmp_path / "text.txt").write_text("low login\nlow 👍 好" + " word" * 9 + " " + "long" * 99)
    out = tmp_path / "merges.txt"
    glasshead("plot", "merges", "--file", tmp_path / "text.txt", "--out", out)
    assert out.read_text().splitlines()[1].startswith("1. l + o (102×)")


def test_long_words_are_left_out_of_the_picture(tmp_path):
    glasshead("plot", "merges", "low", "long" * 99, "--out", tmp_path / "a.html")
    page = (tmp_path / "a.html").read_text()
    assert "Words of more than 30 letters are not drawn" in page
    glasshead("plot", "merges", "long" * 99, "--out", tmp_path / "b.svg")


def test_refusals(tmp_path):
    out = ("--out", tmp_path / "merges.svg")
    (tmp_path / "text.txt").write_text("low")
    for words, said in (
        ((), "give words, or a text"),
        (("low", "--file", tmp_path / "text.txt"), "give words, or a text"),
        (("--file", tmp_path / "none.txt"), "none.txt"),
        ((" ",), "no word"),
        (("low", "--merges", 0), "--merges"),
    ):
        result = glasshead("plot", "merges", *words, *out, code=2)
        assert said in result.stderr
        assert result.stderr.count("\n") == 1
