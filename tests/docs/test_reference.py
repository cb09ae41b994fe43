"""What the reference takes from the registries, and the one table about them that is written by hand."""

import dataclasses
import inspect
import json
import re
from pathlib import Path

import pytest

import verdict_tables
from formulas import equation_of, tex
from glasshead.attention import ACTIVATIONS, AUTOMATIC, KERNELS, MECHANISM_PRESETS, POSITIONS
from glasshead.attention.positions.distance_mappings import MAPPINGS
from glasshead.audits import AUDITS
from glasshead.explainers import EXPLAINERS
from glasshead.results import extent_of
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


def test_the_words_for_shares_are_those_of_the_code():
    """Each threshold of the table is where the words change."""
    rows = [line.split("|")[1:3] for line in verdict_tables.extents().splitlines()[2:]]
    shares = [[int(number) / 100 for number in re.findall(r"(\d+)\u00a0%", where)] for where, _ in rows]
    (most_low, most_high), (half,), (some,), (few_high, few_low), _ = shares
    assert extent_of((most_low, most_high)) == "nearly all"
    assert extent_of((most_low - 0.001, most_high)) == extent_of((most_low, most_high - 0.001)) == "most"
    assert extent_of((half, 0.9)) == extent_of((some + 0.001, 0.9)) == "some"
    assert extent_of((few_low, few_high)) == "hardly any"
    assert extent_of((few_low, few_high + 0.001)) == "undecided"
    assert [words.strip().partition(" decide")[0] for _, words in rows[:3]] == ["the weights"] * 3


def test_the_page_on_verdicts_prints_its_tables_and_types_no_threshold():
    page = (DOCS / "explanation" / "verdict.md").read_text(encoding="utf-8")
    for name in verdict_tables.tables():
        assert f"{{include}} ../reference/tables/{name}.md" in page
    assert not re.search(r"\d\.\d|\d\u00a0?%|\d %", page)


def test_the_table_of_questions_says_what_each_is_compared_with():
    rows = cells(verdict_tables.questions())
    assert len(rows) == sum(len(audit.questions) for audit in AUDITS.values())
    null, threshold, claim = rows["perturbation.permutation.absolute"][-3:]
    assert (null, claim) == ("random", "–")
    assert threshold.startswith("0.05 of the range of predictions; minus random: −0.01, 0, 0.01")
    assert rows["agreement.{method}-absolute.gradient"][-1].endswith("(changes at 0.4)")
    assert rows["tokens.separation.weight"][-2] == "none: it counts token types, not texts"
    assert all(row[-2] != "–" for row in rows.values())


def test_intervals_say_what_they_cover():
    rows = verdict_tables.intervals().splitlines()[2:]
    assert [row.rstrip(" |").rpartition("| ")[2] for row in rows] == [
        *["95\u00a0% or more"] * 2,
        *["93\u00a0% or more"] * 3,
    ]
