"""A command that is typed wrong: one line on standard error with the remedy, exit code 2."""

import pytest

from typed import glasshead, refusal


@pytest.mark.parametrize(
    ("typed", "names", "page"),
    [
        (["trian"], "'train'", "glasshead"),
        (["--nope"], "--nope", "glasshead"),
        (["train"], "'DATA'", "glasshead train"),
        (["train", "data.csv"], "'--out'", "glasshead train"),
        (["train", "data.csv", "--ou", "x"], "--out", "glasshead train"),
        (["train", "data.csv", "--out", "x", "--epochs", "two"], "'--epochs'", "glasshead train"),
        (["train", "data.csv", "--out", "x", "--seed", -1], "'--seed'", "glasshead train"),
        (["train", "data.csv", "more.csv", "--out", "x"], "more.csv", "glasshead train"),
        (["explain", "run"], "'TEXT…'", "glasshead explain"),
        (["explain", "run", "text", "--format", "xml"], "'json'", "glasshead explain"),
        (["audit", "run", "data.csv", "--out"], "'--out'", "glasshead"),
        (["plot", "heads"], "'RUN'", "glasshead plot heads"),
        (["plot", "heds"], "'heads'", None),
        (["recommend", "trian"], "'trian'", "glasshead recommend"),
    ],
    ids=lambda each: " ".join(map(str, each)) if isinstance(each, list) else "",
)
def test_one_line_says_what_is_wrong_and_where_to_read_on(tmp_path, typed, names, page):
    message = refusal(tmp_path, *typed)
    assert names in message
    assert page is None or message.endswith(f"(see {page} --help)")


@pytest.mark.parametrize("typed", [[], ["plot"], ["recommend"]])
def test_no_command_is_answered_by_the_page_of_help(typed):
    assert "Usage: glasshead" in glasshead(*typed, code=2).output


@pytest.mark.parametrize(
    ("typed", "says"),
    [
        (("generate", "m", "a", "--seed", "abc"), "'--seed': must be a whole number, not 'abc' (see"),
        (("explain", "m", "a", "--tolerance", "x"), "'--tolerance': must be a number, not 'x' (see"),
        (("explain", "m", "a", "--format", "gif"), "'gif' is not one of 'text', 'json', 'html' (see"),
    ],
)
def test_a_value_of_another_type_is_named_in_our_words(tmp_path, typed, says):
    assert says in refusal(tmp_path, *typed)


def test_the_second_of_two_tokens_needs_a_first(tmp_path):
    for typed in (("--against", "b"), ("--next", "--against", "b")):
        assert "name the first with --next TOKEN" in refusal(tmp_path, "explain", "m", "a", *typed)
