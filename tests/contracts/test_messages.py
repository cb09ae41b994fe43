"""The library speaks Python; the command line puts its options there."""

import ast
import re
from dataclasses import fields
from functools import cache
from pathlib import Path

import pytest
import typer

import glasshead
from glasshead.cli.app import app
from glasshead.cli.errors import OPTIONS, WORDS, commands_of, spelling_of
from glasshead.errors import InputError, ParameterError
from glasshead.models import MODELS
from glasshead.spelling import in_python, spell, use_spelling
from glasshead.training import TrainingConfig
from glasshead.training.config import option_fields
from messages_of_the_library import calls, nodes_of

SOURCE = Path(glasshead.__file__).parent
APP = typer.main.get_command(app)
NAMES = sorted({command.name for command in commands_of(APP)} | set(APP.commands))
# A colour of a page is written like an option: var(--ink).
TYPED = re.compile(r"(?<!var\()(?<![\w-])--[a-z]|glasshead (?:" + "|".join(NAMES) + r")\b")


def read_once(found):
    """A function that reads all sources, the first time it is asked."""
    return cache(lambda: list(found()))


@read_once
def messages():
    """Every string of the library that is no docstring and has more than one word, with its place."""
    for path in sorted(SOURCE.rglob("*.py")):
        if path.is_relative_to(SOURCE / "requests"):  # what `--help` says of its options
            continue
        if path.is_relative_to(SOURCE / "cli") or path.is_relative_to(SOURCE / "papers" / "commands"):
            continue
        nodes = nodes_of(path)
        docstrings = {
            id(node.value)
            for node in nodes
            if (isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant))
            or (isinstance(node, ast.keyword) and node.arg == "drawn_by")  # what `glasshead list plots` shows
        }
        for node in nodes:
            if isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in docstrings:
                yield f"{path.relative_to(SOURCE)}:{node.lineno}", node.value


# The tables of papers tell their readers what to type: a page for people, no message to a caller.
TABLES = tuple(f"papers/experiments/{name}.py" for name in ("markdown", "claims_page", "to_run"))


def test_no_message_of_the_library_names_an_option_or_a_command():
    typed = [f"{place}: {text!r}" for place, text in messages() if " " in text and TYPED.search(text)]
    assert [each for each in typed if not each.startswith(TABLES)] == []


def test_the_command_line_knows_every_parameter_that_a_message_names():
    named = {tuple(values): place for place, values in calls("spell")}
    assert len(named) > 30
    typed = spelling_of(lambda: APP, lambda: None)
    assert {place: values for values, place in named.items() if typed(*values) == in_python(*values)} == {}


def test_a_message_spells_what_it_names():
    """Nothing stands between backquotes that the command line would call otherwise."""
    typed = spelling_of(lambda: APP, lambda: None)
    names = re.compile(r"`([a-z_]+)(?:=[^`]*)?`")
    written = {
        f"{place}: {name}": text
        for place, text in messages()
        for name in names.findall(text)
        if typed(name) != in_python(name)
    }
    assert written == {}


@pytest.mark.slow
def test_a_message_quotes_every_parameter():
    parameters = {option.name.rstrip("_") for command in commands_of(APP) for option in command.params}
    parameters |= set(OPTIONS) | {field.name for field in fields(TrainingConfig)}
    parameters |= {field.name for model in MODELS.values() for field in option_fields(model.config_class)}
    words = "|".join(sorted(name for name in parameters if "_" in name))
    values = "|".join(sorted(parameters))
    # `head_dim` anywhere, `dropout` where the message is about its value; a name with blanks is a name too.
    bare = re.compile(
        rf"\b(?:{words})\b|\b(?:{values})=|^(?:{values}|{words.replace('_', ' ')}) (?:must|is a|lies|takes)\b"
    )
    messages = list(raised_messages())
    assert len(messages) > 300
    assert [f"{place}: {text}" for place, text in messages if bare.search(text)] == []


def raised_messages():
    """What every `raise` of the library says outside backquotes, a value in it as ``…``, with its place."""
    for path in sorted(SOURCE.rglob("*.py")):
        if path.is_relative_to(SOURCE / "cli") or path.is_relative_to(SOURCE / "papers" / "commands"):
            continue
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if not isinstance(node, ast.Raise) or not isinstance(node.exc, ast.Call):
                continue
            for argument in node.exc.args[-1:]:
                text = "".join(text_of(part) for part in getattr(argument, "values", [argument]))
                yield f"{path.relative_to(SOURCE)}:{node.lineno}", re.sub(r"`[^`]*`", "", text)


def text_of(part):
    """A part of a message; of a value, only that it spells a parameter with blanks."""
    if isinstance(part, ast.Constant):
        return str(part.value)
    return "learning rate" if "replace('_', ' ')" in ast.unparse(part) else "…"


def test_every_translation_is_an_option_or_a_command():
    spelled = {name for command in commands_of(APP) for each in command.params for name in each.opts}
    for words in (*OPTIONS.values(), *WORDS.values()):
        assert set(re.findall(r"--[\w-]+", words)) <= spelled
        for command in re.findall(r"'glasshead (\w+)", words):
            assert command in APP.commands


@pytest.mark.parametrize(
    ("command", "named", "typed"),
    [
        ("train", ("overwrite", True), "--overwrite"),
        ("train", ("model", "pair-encoder"), "--model pair-encoder"),
        ("train", ("penalties",), "--penalty"),
        ("train", ("DynamicsCallback",), "--watch dynamics"),
        ("audit", ("limit",), "--limit"),
        ("audit", ("target_fn",), "--target-function"),
        ("explain", ("resume", True), "--resume"),  # of train
        ("train", ("layers",), "`layers`"),  # of audit alone
        ("explain", ("nothing", 3), "`nothing=3`"),
    ],
)
def test_parameters_become_options(command, named, typed):
    with use_spelling(spelling_of(lambda: APP.commands[command], lambda: APP.commands["train"])):
        assert spell(*named) == typed
        assert str(ParameterError(named[0], "is wrong")) == f"{spell(named[0])} is wrong"
    assert spell(*named) == in_python(*named)


def test_a_refused_parameter_is_known_by_name():
    error = ParameterError("limit", "must be at least 1, not 0")
    assert isinstance(error, InputError)
    assert (error.parameter, str(error)) == ("limit", "`limit` must be at least 1, not 0")


def test_a_command_that_a_message_names_can_be_typed():
    """One with options names all that it needs."""
    typed = [words.strip("'").split()[1:] for words in WORDS.values() if words.startswith("'glasshead ")]
    for words in (each for each in typed if any(word.startswith("--") for word in each)):
        command, rest = APP, list(words)
        while hasattr(command, "commands"):
            command = command.commands[rest.pop(0)]
        needed = {each.opts[0] for each in command.params if each.required and each.opts[0].startswith("-")}
        assert needed <= set(rest), words
