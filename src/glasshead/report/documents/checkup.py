"""What `glasshead doctor` found: the layers of a model, what is wrong, and what is true of most models."""

from collections.abc import Iterator, Mapping
from typing import Any

from glasshead.report.document import (
    Block,
    Cell,
    Document,
    Piece,
    Row,
    Sentence,
    Table,
    cell,
    columns,
    table,
)
from glasshead.report.number_format import DASH

Diagnostic = Mapping[str, Any]


def checkup_document(checkup: Mapping[str, Any]) -> Document:
    """The checkup (as its JSON) as a table of layers, with problems and general remarks."""
    diagnostics = checkup["diagnostics"]
    notes = [diagnostic for diagnostic in diagnostics if diagnostic["severity"] == "note"]
    blocks: list[Block] = list(headline(checkup))
    if checkup["layers"]:
        blocks.append(layer_table(checkup["layers"]))
    for diagnostic in diagnostics:
        if diagnostic not in notes:
            blocks += advice(diagnostic)
    if notes and not any(diagnostic["severity"] == "stop" for diagnostic in diagnostics):
        blocks.append(Sentence("As with most models:"))
        lines = (f"{note['name']}: {note['problem']} → {note['remedy']}" for note in notes)
        blocks += [Sentence(line, "quiet", indent=True) for line in lines]
    return blocks


def headline(checkup: Mapping[str, Any]) -> Iterator[Block]:
    """The model, and below it the answer."""
    severities = {diagnostic["severity"] for diagnostic in checkup["diagnostics"]}
    dispatched = any(layer["dispatched"] for layer in checkup["layers"])
    if "stop" in severities:
        verdict = Piece("cannot be plugged", "bad")
    elif not dispatched:
        verdict = Piece("its attention is built in", "good")
    elif "error" in severities:
        verdict = Piece("can be plugged, but a call fails", "bad")
    else:
        verdict = Piece("can be plugged", "good")
    family = "" if checkup["family"] == checkup["model"] else f" ({checkup['family']})"
    how = ""
    if checkup["attention"]:
        link = " with" if dispatched and "error" not in severities else ":"
        setting = f"{checkup['dtype']}, {checkup['length']} tokens, {checkup['device']}"
        how = f"{link} {checkup['attention']}, {setting}"
    yield Sentence([Piece(checkup["model"], "strong"), family])
    yield Sentence([verdict, how])


def layer_table(layers: list[Mapping[str, Any]]) -> Table:
    """One row per kind of layer."""
    rows: list[Row] = [
        (
            layer_cell(layer),
            head_counts(layer["heads"], layer["key_heads"]),
            "?" if layer["head_dim"] is None else str(layer["head_dim"]),
            cell(*layer["attention"].replace("+", "+\n").split("\n")),
            cell(layer["kernel"] or DASH, training_words(layer)),
            layer["weights"],
        )
        for layer in layers
    ]
    head = [*columns(("layers",), ("heads", "size")), *columns(("attention", "kernel", "weights"), ())]
    return table(head, rows)


def layer_cell(layer: Mapping[str, Any]) -> Cell:
    """How many layers are alike, and what the first of them is called and sees."""
    name = Piece(
        f"{len(layer['modules'])} × {layer['kind']}", "bad" if layer["attention"] == "its own" else "plain"
    )
    window = "" if layer["window"] is None else f", window {layer['window']}"
    return cell(name, Piece(f"{layer['modules'][0]}{', causal' * layer['causal']}{window}", "quiet"))


def training_words(layer: Mapping[str, Any]) -> str:
    """The kernel of training, where it is another."""
    other = layer["training_kernel"] not in (layer["kernel"], None)
    return f"{layer['training_kernel']} in training" if other else ""


def head_counts(heads: int | None, key_heads: int | None) -> str:
    """Heads, and key heads where they are fewer."""
    if heads is None:
        return "?"
    return str(heads) if key_heads in (heads, None) else f"{heads}/{key_heads}"


def advice(diagnostic: Diagnostic) -> Iterator[Block]:
    """One diagnostic with its remedy."""
    warning = diagnostic["severity"] == "warning"
    mark = Piece("! ", "caution") if warning else Piece("✗ ", "bad")
    module = Piece(f" [{diagnostic['module']}]", "quiet") if diagnostic["module"] else ""
    yield Sentence([mark, Piece(diagnostic["name"], "strong"), f": {diagnostic['problem']}", module])
    yield Sentence(f"→ {diagnostic['remedy']}", indent=True)
