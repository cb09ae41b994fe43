"""What `glasshead doctor` found, for the terminal."""

from collections.abc import Mapping
from typing import Any

from rich import box
from rich.console import Group, RenderableType
from rich.padding import Padding
from rich.table import Table
from rich.text import Text


def checkup_table(checkup: Mapping[str, Any]) -> RenderableType:
    """The checkup (as its JSON) as one table of layers and one list of traps."""
    parts: list[RenderableType] = [headline(checkup), Text()]
    if checkup["layers"]:
        parts.append(layer_table(checkup["layers"]))
    for trap in checkup["traps"]:
        parts.append(said(trap))
    return Group(*parts)


def headline(checkup: Mapping[str, Any]) -> Text:
    """The model, and below it the answer."""
    if any(trap["stops"] for trap in checkup["traps"]):
        verdict = Text("cannot be plugged", style="bold red")
    else:
        verdict = Text("can be plugged", style="bold green")
    family = "" if checkup["family"] == checkup["model"] else f" ({checkup['family']})"
    line = Text.assemble((checkup["model"], "bold"), f"{family}\n", verdict)
    if checkup["attention"]:
        asked = f"{checkup['dtype']}, {checkup['length']} tokens, {checkup['device']}"
        line.append(f" with {checkup['attention']}: {asked}")
    return line


def layer_table(layers: list[Mapping[str, Any]]) -> Table:
    """One row per kind of layer."""
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, header_style="bold")
    table.add_column("layers", overflow="fold", ratio=3)
    table.add_column("heads", justify="right")
    table.add_column("size", justify="right")
    table.add_column("attention", overflow="fold", ratio=2)
    table.add_column("kernel", overflow="fold", ratio=1)
    table.add_column("weights", overflow="fold", ratio=1)
    for each in layers:
        count = len(each["modules"])
        first = Text(f"{count} × {each['kind']}", style="" if each["dispatched"] else "red")
        first.append(f"\n{each['modules'][0]}", style="dim")
        if each["causal"]:
            first.append(", causal", style="dim")
        if each["window"] is not None:
            first.append(f", window {each['window']}", style="dim")
        kernel = each["kernel"] or "–"
        if each["training_kernel"] not in (each["kernel"], None):
            kernel = f"{kernel}\n{each['training_kernel']} in training"
        table.add_row(
            first,
            shared(each["heads"], each["key_heads"]),
            "?" if each["head_dim"] is None else str(each["head_dim"]),
            Text(each["attention"].replace("+", "+\n")),
            Text(kernel),
            Text(each["weights"]),
        )
    return table


def shared(heads: int | None, key_heads: int | None) -> str:
    """Heads, and key heads where they are fewer."""
    if heads is None:
        return "?"
    return str(heads) if key_heads in (heads, None) else f"{heads}/{key_heads}"


def said(trap: Mapping[str, Any]) -> RenderableType:
    """One trap with its remedy."""
    mark = ("✗ ", "bold red") if trap["stops"] else ("! ", "yellow")
    head = Text.assemble(mark, (trap["name"], "bold"), f": {trap['what']}")
    if trap["where"]:
        head.append(f" [{trap['where']}]", style="dim")
    return Group(head, Padding(Text(f"→ {trap['remedy']}"), (0, 0, 0, 2)))
