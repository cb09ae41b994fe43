"""What the reference takes from the registries, and the one table about them that is written by hand."""

import dataclasses
import inspect
import json
import re
from pathlib import Path

import pytest

from formulas import equation_of, tex
from glasshead.attention import ACTIVATIONS, AUTOMATIC, KERNELS, MECHANISM_PRESETS, POSITIONS
from glasshead.attention.positions.distance_mappings import MAPPINGS
from glasshead.explainers import EXPLAINERS
from glasshead.trace import LayerRecord
from registry_tables import tables

DOCS = Path(__file__).parents[2] / "docs"


@pytest.fixture(scope="module")
def generated():
    return tables()


def cells(table):
    """Name → the other cells of its row."""
    rows = [re.split(r"(?<!\\)\|", line)[1:-1] for line in table.splitlines() if line.startswith("| `")]
    return {row[0].strip(" `"): [cell.strip() for cell in row[1:]] for row in rows}


@pytest.mark.parametrize(
    ("table", "registry"),
    [
        ("activations", ACTIVATIONS),
        ("positions", POSITIONS),
        ("mechanism-presets", MECHANISM_PRESETS),
        ("mappings", MAPPINGS),
        ("kernels", KERNELS),
        ("explainers", EXPLAINERS),
    ],
)
def test_every_entry_has_a_row(generated, table, registry):
    assert list(cells(generated[table])) == list(registry)


def test_rows_say_what_the_entries_declare(generated):
    tanhmax, cosine = cells(generated["activations"])["tanhmax"], cells(generated["positions"])["cosine"]
    assert tanhmax[1] == "monotone, log-nonlinear, normalised, symmetric, signed"
    assert "sdpa" in tanhmax[2]
    assert "sums to one" in cells(generated["activations"])["softmax"][1]
    assert cosine[1:3] == ["dot products, scores ≥ 0", "$n^2$"]
    assert cells(generated["mechanism-presets"])["cosformer"][:2] == ["`sum+cosine`", "$n$"]
    assert cells(generated["positions"])["shaw"][2] == "$n^2$, 4,224 parameters"
    assert cells(generated["mappings"])["clip"][1:] == ["no", "no", "yes", "no", "yes"]
    assert cells(generated["kernels"])["reference"][-1] == "$n^2$"
    assert ", ".join(f"`{name}`" for name in AUTOMATIC) in generated["kernels"]


@pytest.mark.parametrize(
    ("docstring", "equation"),
    [
        ("[φ(s)]_i = s_i / N, with N the number of keys (Wang et al. 2018).", r"[\varphi (s)]_i = s_i / N"),
        ("e^{s_i} / Σ_k e^{s_k} (Bahdanau 2015).", r"e^{s_i} / \sum_k e^{s_k}"),
        ("s_ij = q_i · k_j / √d.", r"s_{ij} = q_i \cdot  k_j / \sqrt{d}"),
        ("f(w_h |i − j|); more.", r"f(w_h \lvert i - j \rvert )"),
    ],
)
def test_equations_of_docstrings_in_tex(docstring, equation):
    assert tex(equation_of(docstring)) == equation


def test_no_bar_of_an_equation_ends_a_cell(generated):
    for table in generated.values():
        lengths = {len(re.split(r"(?<!\\)\|", line)) for line in table.splitlines() if line.startswith("|")}
        assert len(lengths) == 1


def test_options_of_positions():
    page = (DOCS / "reference" / "mechanisms.md").read_text(encoding="utf-8")
    head = "| position | option | default | meaning |\n"
    _, rows = page.split(head)
    listed = {}
    for line in rows.split("\n\n")[0].splitlines()[1:]:
        name, option, default = (cell.strip(" `") for cell in line.split("|")[1:4])
        listed[name, option] = default
    coded = {}
    for name, entry in POSITIONS.items():
        for option, parameter in inspect.signature(entry).parameters.items():
            if option != "heads":
                default = parameter.default
                coded[name, option] = "–" if default is None else json.dumps(default).strip('"')
    assert listed == coded


def test_the_table_of_records_names_what_a_layer_holds():
    page = (DOCS / "reference/records.md").read_text(encoding="utf-8")
    table = page.partition("## What a layer holds")[2].partition("\n\n*h*")[0]
    names = {
        name
        for row in table.splitlines()
        if row.startswith("| `")
        for name in re.findall(r"`(\w+)`", row.split("|")[1])
    }
    assert {"q", "projected_values", "rows"} <= names
    fields = {field.name for field in dataclasses.fields(LayerRecord)}
    assert {name for name in names if name not in fields and not hasattr(LayerRecord, name)} == set()
