"""What the command line can do, Python can, and the other way round: both are derived from one request."""

import inspect
import re
from pathlib import Path

import pytest
import typer
from typer.testing import CliRunner

import glasshead
from glasshead.cli.app import app
from glasshead.errors import InputError
from glasshead.requests import Request, defaults_of, fingerprint_fields, option, options_of, takes
from glasshead.serve.questions import Reading
from messages_of_the_library import calls

COMMANDS = typer.main.get_command(app).commands
ASKED = ("audit", "cite", "explain", "generate", "heads", "rank")
# How results are shown and kept, and how texts are typed: in Python results and strings do that.
OF_A_COMMAND = {
    "audit": {"fail_under", "format", "out", "overwrite", "resume"},
    "cite": {"format", "out", "overwrite", "questions", "resume"},
    "explain": {"file", "format", "next_token", "out", "overwrite", "pair"},
    "generate": {"file", "format", "intervals", "method", "out", "overwrite", "prompts", "target"},
    "heads": {"format", "out", "overwrite", "resume"},
    "rank": {"format", "out", "overwrite", "resume"},
}
# What nobody types: objects, and what a command adds itself.
OF_PYTHON = {"facts", "load_options", "pairs", "progress", "prompt", "store", "tokenizer", "use_cache"}


def request_of(name):
    return getattr(glasshead, name).__request__


@pytest.mark.parametrize("name", ASKED)
def test_the_command_and_the_function_take_the_same(name):
    typed = {each.name for each in COMMANDS[name].params}
    python = set(inspect.signature(getattr(glasshead, name)).parameters)
    assert python == set(options_of(request_of(name)))
    assert typed - python == OF_A_COMMAND[name] - python
    assert python - typed <= OF_PYTHON


@pytest.mark.parametrize("name", ASKED)
def test_they_have_the_same_defaults(name):
    typed = {each.name: each.default for each in COMMANDS[name].params}
    for field, usual in defaults_of(request_of(name)).items():
        if field in typed:
            shown = ",".join(usual) or None if isinstance(usual, tuple) else usual
            several = isinstance(typed[field], list)  # may be typed several times
            assert typed[field] == ([shown] if several else shown), field


@pytest.mark.parametrize("name", ASKED)
def test_every_option_is_told_in_python_too(name):
    told = getattr(glasshead, name).__doc__
    for field, entry in options_of(request_of(name)).items():
        assert f"        {field}: {entry.help.replace(chr(92), '')}" in told


@pytest.mark.parametrize("name", ASKED)
def test_a_typo_is_refused_with_the_nearest_name(name):
    places = ["m"] * sum(
        each.default is inspect.Parameter.empty
        for each in inspect.signature(getattr(glasshead, name)).parameters.values()
    )
    with pytest.raises(InputError, match=rf"^{name} has no option 'devise': did you mean 'device'\?$"):
        getattr(glasshead, name)(*places, devise="cpu")


@pytest.mark.parametrize(
    ("name", "option_", "value"),
    [("generate", "max_new_tokens", 5), ("generate", "temperature", 0.7), ("heads", "train", "rows.csv"),
     ("heads", "blocks", 2), ("rank", "audits", "tokens"), ("explain", "limit", 3)],
)  # fmt: skip
def test_an_option_of_another_function_is_refused(name, option_, value):
    places = ["m", "d"]
    with pytest.raises(InputError, match=rf"^{name} has no option '{option_}'"):
        getattr(glasshead, name)(*places, **{option_: value})


@pytest.mark.parametrize(
    ("name", "field", "wrong", "said"),
    [
        ("audit", "limit", 0, "`limit` must be at least 1, not 0"),
        ("audit", "limit", "ten", "`limit` must be a whole number, not 'ten'"),
        ("audit", "draws", 1001, "`draws` must be from 1 to 1,000, not 1001"),
        ("audit", "tolerance", float("nan"), "`tolerance` must be at least 0, not nan"),
        ("audit", "level", "paragraph", "`level` must be 'word' or 'sentence', not 'paragraph'"),
        ("audit", "layers", 2.5, "`layers` must be 'all' or numbers, as in 0,5, not 2.5"),
        ("audit", "heads", "1,x", "`heads` must be 'all' or numbers, as in 0,5, not '1,x'"),
        ("rank", "methods", 7, "`methods` must be a word or a list of words, not 7"),
        ("heads", "effects", "yes", "`effects` must be True or False, not 'yes'"),
        ("explain", "intervals", 1, "`intervals` must be True or False, not 1"),
        ("generate", "tokens", 0, "`tokens` must be at least 1, not 0"),
    ],
)  # fmt: skip
def test_a_wrong_value_is_refused_before_anything_is_opened(name, field, wrong, said):
    with pytest.raises(InputError) as refused:
        getattr(glasshead, name)("no such model", "no such data", **{field: wrong})
    assert str(refused.value) == said


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ({"rows": "banana"}, "unknown rows 'banana'"),
        ({"tolerance": float("inf")}, "tolerance"),
        ({"dtype": "int7"}, "int7"),
        ({"audits": []}, "`audits` is empty"),
        ({"audits": ["tokens"], "layers": 0}, "are for `audits='identifiability'`"),
        ({"gpus_per_task": 1}, "use it with `ray`"),
        ({"workers": 2, "ray": "auto"}, "`workers` are local and `ray` is a cluster"),
        ({"workers": 0}, "`workers` must be from 1 to 1,000"),
        ({"budget": "soon"}, "`budget` must be a time such as 90s, 10m or 2h"),
        ({"budget": 0}, "`budget` must be a time above 0"),
    ],
)
def test_an_audit_that_no_model_has_is_refused_before_anything_is_opened(wrong, said):
    with pytest.raises(InputError, match=re.escape(said)):
        glasshead.audit("no such model", "no such data", **wrong)


def test_a_tolerance_without_intervals_is_refused_everywhere():
    with pytest.raises(InputError, match="`tolerance` is about `intervals=True`"):
        glasshead.explain("no such model", "a text", tolerance=0.1)


def test_a_class_keeps_a_name_of_digits():
    """A class may be called "1" and be the first; what is typed is its name."""
    assert request_of("explain")("m", "t", target="1").target == "1"
    assert request_of("explain")("m", "t", target=1).target == 1
    assert Reading(model="m", target="1").target == "1"
    assert Reading(model="m", layer="1").layer == 1


@pytest.mark.parametrize("texts", [Path("a.png"), "a text", ["a text"], {"a": 1}, iter(["a text"])])
def test_one_text_or_file_of_heads_may_stand_alone(texts):
    drawn = request_of("heads")("m", "d", texts=texts).texts
    assert len(drawn) == 1


@pytest.mark.parametrize("room", ["audits", "explainers", "generation"])
def test_a_message_names_an_argument_that_there_is(room):
    fields = {field for name in ASKED for field in options_of(request_of(name))}
    named = {
        place: values[0]
        for place, values in calls("ParameterError", "spell")
        if place.startswith(f"{room}/") and "." not in values[0]
    }
    assert len(named) > 3
    assert {place: name for place, name in named.items() if name not in fields} == {}


def test_what_is_missing_is_said_of_the_function():
    with pytest.raises(TypeError, match=r"^explain\(\) missing a required argument: 'texts'$"):
        glasshead.explain("m")


def test_a_resumed_folder_forgets_nothing_that_is_measured():
    forgotten = {
        name: {field for field, entry in options_of(request_of(name)).items() if not entry.measures}
        for name in ASKED
    }
    # The model, its tokenizer and the data are compared by what they hold.
    assert forgotten["audit"] == {
        "model", "data", "tokenizer", "device", "processes", "ray", "gpus_per_task", "progress", "store",
        "facts", "budget", "until_decided", "workers",
    }  # fmt: skip
    asked = request_of("audit")("m", "d", train="rows.csv", text_column="body")
    assert fingerprint_fields(asked)["train"] == "rows.csv"
    assert fingerprint_fields(asked) != fingerprint_fields(asked.replace(text_column="title"))


class Small(Request):
    """A request of one."""

    text: str = option(kw_only=False, help="What is counted.")
    times: int = option(default=1, help="How often.", least=1)


def test_a_function_and_a_command_of_a_new_request():
    """Both from one class, as an extension would make them."""
    from glasshead.cli.derive import options_from

    @takes(Small)
    def count(request):
        """Count."""
        return len(request.text) * request.times

    assert count("four", times=2) == 8
    assert "times: How often." in count.__doc__
    own = typer.Typer()

    @own.command()
    @options_from(Small)
    def count_it(request):
        """Count."""
        print(len(request.text) * request.times)

    assert CliRunner().invoke(own, ["four", "--times", "2"]).output == "8\n"
    assert CliRunner().invoke(own, ["four", "--times", "0"]).exit_code == 2
