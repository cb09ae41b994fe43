"""Every table of the page on mechanisms, cell by cell, against the registries."""

import inspect
import json
import re
import runpy
from pathlib import Path

import pytest
import torch

from glasshead.attention import ACTIVATIONS, AUTOMATIC, KERNELS, POSITIONS, PRESETS, Call, mechanism
from glasshead.attention.kernels import flex, triton
from glasshead.attention.mapping import MAPPINGS
from glasshead.catalogue import sentence

DOCS = Path(__file__).parents[2] / "docs"
PAGE = (DOCS / "mechanisms.md").read_text(encoding="utf-8")
ACTIVATION_FACTS = {
    "monotone": "monotone",
    "log_nonlinear": "log-nonlinear",
    "normalised": "normalised",
    "origin_symmetric": "symmetric",
    "signed": "signed",
    "rows_sum_to_one": "sums to one",
}
POSITION_FACTS = {
    "bilinear": "dot products",
    "nonnegative": "scores ≥ 0",
    "changes_output": "adds to values",
}
# What these refuse on every machine; they also refuse where a machine lacks what they need.
ANYWHERE = {"flex": flex.unsupported, "triton": triton.unsupported}
HEADS = {"heads": 8, "head_dim": 64}


def table(*heads):
    """The rows of the table with these column heads."""
    head = "| " + " | ".join(heads) + " |\n"
    assert PAGE.count(head) == 1, head
    _, lines = PAGE[PAGE.index(head) :].split("\n\n")[0].split("\n", 1)
    rows = [re.split(r"(?<!\\)\|", line)[1:-1] for line in lines.splitlines()[1:]]
    assert all(len(row) == len(heads) for row in rows)
    return [[cell.strip().replace("\\|", "|") for cell in row] for row in rows]


def said(thing):
    """A docstring in one line."""
    return " ".join(inspect.getdoc(thing).split())


def mechanisms():
    rows = table("name", "is", "equation", "paper", "facts", "cost", "kernels")
    return {row[0].strip("`"): row[1:] for row in rows}


def facts_of(made):
    """What is said of a mechanism: the facts of its activation, then those of its position."""
    return [
        word
        for part, facts in ((made.activation, ACTIVATION_FACTS), (made.position, POSITION_FACTS))
        for fact, word in facts.items()
        if getattr(part, fact)
    ]


def serving(made):
    """The kernels that can serve a mechanism with padding and under a causal mask, on whatever they need."""
    q, k, v = torch.randn(3, 2, 8, 96, 64)
    padding = torch.arange(96) < torch.tensor([[96], [60]])
    found = []
    for name, kernel in KERNELS.items():
        calls = [Call.of(made, q, k, v, mask=padding), Call.of(made, q, k, v, is_causal=True)]
        with torch.no_grad():
            refuses = ANYWHERE.get(name, kernel.refuses)
            if all(refuses(call) is None for call in calls):
                found.append(name)
    return found


def test_every_mechanism_is_there():
    assert list(mechanisms()) == [*ACTIVATIONS, *POSITIONS, *PRESETS]


@pytest.mark.parametrize("name", list(ACTIVATIONS))
def test_activations(name):
    kind, equation, paper, facts, _, _ = mechanisms()[name]
    entry = ACTIVATIONS[name]
    assert (kind, paper) == ("activation", entry.paper)
    assert equation in said(entry)
    assert facts.split(", ") == [word for fact, word in ACTIVATION_FACTS.items() if getattr(entry, fact)]


@pytest.mark.parametrize("name", list(POSITIONS))
def test_positions(name):
    kind, equation, paper, facts, _, _ = mechanisms()[name]
    made = mechanism(name, **HEADS).position
    assert (kind, paper) == ("position", made.paper)
    assert equation in said(type(made))
    assert facts == (", ".join(word for fact, word in POSITION_FACTS.items() if getattr(made, fact)) or "–")


@pytest.mark.parametrize("name", list(PRESETS))
def test_presets(name):
    kind, equation, paper, facts, _, _ = mechanisms()[name]
    spec = PRESETS[name]
    assert facts.split(", ") == facts_of(mechanism(name, **HEADS))
    assert (kind, equation) == ("preset", f"`{spec['activation']}+{spec['position']}`")
    assert paper == POSITIONS[spec["position"]].paper


@pytest.mark.parametrize("name", [*ACTIVATIONS, *POSITIONS, *PRESETS])
def test_cost_and_kernels(name):
    *_, cost, kernels = mechanisms()[name]
    made = mechanism(name, **HEADS)
    names = serving(made)
    assert kernels.split(", ") == names
    parameters = sum(each.numel() for each in made.parameters())
    time = "n" if "linear" in names else "n²"
    assert cost == (f"{time}, {parameters:,} parameters" if parameters else time)


def test_options_of_positions():
    rows = [[cell.strip("`") for cell in row] for row in table("position", "option", "default", "meaning")]
    listed = {(name, option): default for name, option, default, _ in rows}
    coded = {}
    for name, entry in POSITIONS.items():
        for option, parameter in inspect.signature(entry).parameters.items():
            if option != "heads":
                default = parameter.default
                coded[name, option] = "–" if default is None else json.dumps(default).strip('"')
    assert listed == coded


def test_mappings():
    facts = ("one_at_zero", "vanishes", "bounded", "tunable", "monotone")
    rows = table("mapping", "f(R)", "f(0) = 1", "f(−∞) = 0", "bounded", "tunable", "monotone")
    assert sorted(row[0].strip("`") for row in rows) == list(MAPPINGS)
    for name, equation, *cells in rows:
        mapping = MAPPINGS[name.strip("`")]
        assert said(mapping.function).startswith(equation)
        assert [cell == "yes" for cell in cells] == [getattr(mapping, fact) for fact in facts]


def test_kernels():
    rows = table("kernel", "what", "memory")
    assert [row[0].strip("`") for row in rows] == list(KERNELS)
    for name, what, memory in rows:
        kernel = KERNELS[name.strip("`")]
        assert what == sentence(kernel)
        assert memory == ("n" if kernel.linear_memory else "n²")
    assert f"the first of {', '.join(AUTOMATIC)} that can" in PAGE


def test_the_measured_tables_are_those_of_the_recorded_results():
    script = runpy.run_path(str(DOCS / "results" / "attention_table.py"))
    assert (DOCS / "results" / "attention.md").read_text(encoding="utf-8") == script["page"]()
