"""What `glasshead doctor` found, for the terminal."""

from collections.abc import Mapping
from typing import Any

from rich import box
from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from glasshead.report.terminal.wrapping_table import WrappingTable


def doctor_table(checkup: Mapping[str, Any]) -> RenderableType:
    """The checkup (as its JSON) as a table of layers, what is wrong, and what is true of most models."""
    parts: list[RenderableType] = [headline(checkup), Text()]
    if checkup["layers"]:
        parts.append(layer_table(checkup["layers"]))
    notes = [diagnostic for diagnostic in checkup["diagnostics"] if diagnostic["severity"] == "note"]
    parts += [advice(diagnostic) for diagnostic in checkup["diagnostics"] if diagnostic not in notes]
    if notes and not any(diagnostic["severity"] == "stop" for diagnostic in checkup["diagnostics"]):
        lines = [f"{note['name']}: {note['problem']} → {note['remedy']}" for note in notes]
        above = "\n" if len(lines) < len(checkup["diagnostics"]) else ""
        parts.append(Text(f"{above}As with most models:"))
        parts += [Padding(Text(line, style="dim"), (0, 0, 0, 2)) for line in lines]
    return Group(*parts)


def headline(checkup: Mapping[str, Any]) -> Text:
    """The model, and below it the answer."""
    severities = {diagnostic["severity"] for diagnostic in checkup["diagnostics"]}
    dispatched = any(layer["dispatched"] for layer in checkup["layers"])
    if "stop" in severities:
        verdict = Text("cannot be plugged", style="bold red")
    elif not dispatched:
        verdict = Text("its attention is built in", style="bold green")
    elif "error" in severities:
        verdict = Text("can be plugged, but a call fails", style="bold red")
    else:
        verdict = Text("can be plugged", style="bold green")
    family = "" if checkup["family"] == checkup["model"] else f" ({checkup['family']})"
    line = Text.assemble((checkup["model"], "bold"), f"{family}\n", verdict)
    if checkup["attention"]:
        setting = f"{checkup['dtype']}, {checkup['length']} tokens, {checkup['device']}"
        link = " with" if dispatched and "error" not in severities else ":"
        line.append(f"{link} {checkup['attention']}, {setting}")
    return line


def layer_table(layers: list[Mapping[str, Any]]) -> WrappingTable:
    """One row per kind of layer."""
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, header_style="bold")
    table.add_column("layers")
    for heading in ("heads", "size"):
        table.add_column(heading, justify="right", no_wrap=True)
    for heading in ("attention", "kernel", "weights"):
        table.add_column(heading)
    for layer in layers:
        count = len(layer["modules"])
        first = Text(f"{count} × {layer['kind']}", style="red" if layer["attention"] == "its own" else "")
        first.append(f"\n{layer['modules'][0]}", style="dim")
        if layer["causal"]:
            first.append(", causal", style="dim")
        if layer["window"] is not None:
            first.append(f", window {layer['window']}", style="dim")
        kernel = layer["kernel"] or "–"
        if layer["training_kernel"] not in (layer["kernel"], None):
            kernel = f"{kernel}\n{layer['training_kernel']} in training"
        table.add_row(
            first,
            head_counts(layer["heads"], layer["key_heads"]),
            "?" if layer["head_dim"] is None else str(layer["head_dim"]),
            Text(layer["attention"].replace("+", "+\n")),
            Text(kernel),
            Text(layer["weights"]),
        )
    return WrappingTable(table)


def head_counts(heads: int | None, key_heads: int | None) -> str:
    """Heads, and key heads where they are fewer."""
    if heads is None:
        return "?"
    return str(heads) if key_heads in (heads, None) else f"{heads}/{key_heads}"


def advice(diagnostic: Mapping[str, Any]) -> RenderableType:
    """One diagnostic with its remedy."""
    mark = ("! ", "yellow") if diagnostic["severity"] == "warning" else ("✗ ", "bold red")
    head = Text.assemble(mark, (diagnostic["name"], "bold"), f": {diagnostic['problem']}")
    if diagnostic["module"]:
        head.append(f" [{diagnostic['module']}]", style="dim")
    return Group(head, Padding(Text(f"→ {diagnostic['remedy']}"), (0, 0, 0, 2)))
