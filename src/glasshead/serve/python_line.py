"""The lines of Python that compute what a page shows, to be copied."""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel

from glasshead.requests import MethodRequest, defaults_of
from glasshead.serve.questions import GenerateQuestion, Reading

USUAL_ROWS = 50
"""Texts that `glasshead.heads` reads unless told otherwise."""
PAGE_TARGET = GenerateQuestion(model="", prompt="").target


def explain_line(source: str, reading: Reading, text: str, pair: str | None) -> str:
    """``glasshead.explain(…)`` of the model at ``source``, with what is not the usual."""
    pairs = {} if pair is None else {"pairs": pair}
    return call("explain", [source, text], pairs | chosen_options(reading))


def chosen_options(question: BaseModel) -> dict[str, Any]:
    """The options of `glasshead.explain` in a question that are not the usual ones."""
    defaults = defaults_of(MethodRequest)
    chosen = {name: getattr(question, name, usual) for name, usual in defaults.items()}
    return {name: value for name, value in chosen.items() if name != "choices" and value != defaults[name]}


def generate_line(source: str, question: GenerateQuestion) -> str:
    """``glasshead.generate(…)`` of the model at ``source``, and what its text was written from."""
    options: dict[str, Any] = {"tokens": question.tokens, "strategy": question.strategy}
    if question.seed is not None:
        options["seed"] = question.seed
    line = call("generate", [source, question.prompt], options)
    target = f", target={question.target!r}" if question.target != PAGE_TARGET else ""
    return f"{line}.with_maps({question.methods!r}{target})"


def heads_line(
    source: str, rows: list[dict[str, str]], texts: tuple[str, ...], *, effects: bool = True
) -> str:
    """``glasshead.heads(…)`` of the model at ``source`` before some rows, of which ``texts`` are drawn."""
    options: dict[str, Any] = {"limit": len(rows)} if len(rows) > USUAL_ROWS else {}
    options |= ({"texts": list(texts)} if texts else {}) | ({} if effects else {"effects": False})
    return call("heads", [source, rows], options)


def call(function: str, values: list[Any], options: dict[str, Any]) -> str:
    """A call of a function of the front door."""
    written = [*map(repr, values), *(f"{name}={value!r}" for name, value in options.items())]
    return f"glasshead.{function}({', '.join(written)})"
