"""The line that is offered to be copied is the call that was made."""

from hypothesis import given
from hypothesis import strategies as st

from glasshead.serve.python_line import explain_line, generate_line
from glasshead.serve.questions import GenerateQuestion, Reading
from hostile import NASTY

TEXTS = st.text(max_size=40) | st.sampled_from(NASTY)
WORDS = st.none() | st.text(min_size=1, max_size=20) | st.sampled_from(NASTY)
READINGS = st.builds(
    Reading,
    model=st.just("m"),
    method=st.sampled_from(["attention", "gradient"]) | TEXTS,
    target=WORDS,
    against=WORDS,
    target_fn=WORDS,
    layer=st.none() | st.integers(0, 30) | st.sampled_from(["last", "mean"]),
    head=st.none() | st.integers(0, 30) | st.sampled_from(["max", "min"]),
    row=WORDS,
    level=st.sampled_from(["word", "sentence"]),
    unit=st.sampled_from(["word", "token"]),
    intervals=st.booleans(),
)


class Recorder:
    """Stands for the library, and keeps what it was asked."""

    def __init__(self):
        self.maps = None

    def explain(self, *values, **options):
        return "explain", values, options

    def generate(self, *values, **options):
        self.written = values, options
        return self

    def with_maps(self, methods, **options):
        self.maps = methods, options
        return self


def run(line):
    """What a line of Python asks of the library."""
    return eval(line, {"glasshead": Recorder()})


@given(source=TEXTS, reading=READINGS, text=TEXTS, pair=st.none() | TEXTS)
def test_an_explanation(source, reading, text, pair):
    line = explain_line(source, reading, text, pair)
    assert len(line.splitlines()) == 1
    name, values, options = run(line)
    assert (name, values) == ("explain", (source, text))
    assert options.pop("pairs", None) == pair
    assert Reading(model="m", **options) == reading
    usual = Reading(model="m")
    assert all(getattr(usual, name) != value for name, value in options.items())


@given(
    source=TEXTS,
    question=st.builds(
        GenerateQuestion,
        model=st.just("m"),
        prompt=TEXTS,
        strategy=TEXTS,
        tokens=st.integers(1, 200),
        seed=st.none() | st.integers(0, 2**32 - 1),
        methods=st.lists(st.sampled_from(["attention", "erasure-mean-embedding", "rollout"]), max_size=4),
        target=st.sampled_from(["log-probability", "probability", "logit"]),
    ),
)
def test_what_is_written(source, question):
    line = generate_line(source, question)
    assert len(line.splitlines()) == 1
    asked = run(line)
    values, options = asked.written
    assert values == (source, question.prompt)
    assert options.pop("seed", None) == question.seed
    assert options == {"tokens": question.tokens, "strategy": question.strategy}
    methods, more = asked.maps
    assert methods == question.methods
    assert more.get("target", "log-probability") == question.target
