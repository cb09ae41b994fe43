"""One reference page for each command, from the Typer application itself."""

import re
from collections.abc import Iterator
from typing import Any

import typer

from glasshead.cli import app


def commands() -> dict[str, Any]:
    """The commands of the first level, by name."""
    return dict(typer.main.get_command(app).commands)


def pages() -> dict[str, str]:
    """Markdown by page name, the list of all commands as `index`."""
    root = typer.main.get_command(app)
    names = sorted(root.commands)
    lines = [
        "# Command line",
        "",
        *describe(root),
        *table("option", [p for p in root.params if not p.hidden]),
    ]
    lines += ["", "| command | what it does |", "|---|---|"]
    lines += [f"| [`glasshead {n}`]({n}.md) | {text(summary(root.commands[n]))} |" for n in names]
    lines += ["", "```{toctree}", ":hidden:", "", *names, "```"]
    texts = {"index": "\n".join(lines) + "\n"}
    for name in names:
        texts[name] = "\n".join(page(f"glasshead {name}", root.commands[name], "#")) + "\n"
    return texts


def page(path: str, command: Any, level: str) -> Iterator[str]:
    """A heading, the help, the usage, arguments, options; then the same for the commands below."""
    yield from (f"{level} {path}", "", *describe(command))
    below = getattr(command, "commands", {})
    arguments = [parameter for parameter in command.params if parameter.param_type_name == "argument"]
    options = [
        parameter
        for parameter in command.params
        if parameter.param_type_name == "option" and not parameter.hidden
    ]
    if not below:
        placeholders = [parameter.metavar or parameter.name.upper() for parameter in arguments]
        yield from ("```text", " ".join([path, *placeholders, "[OPTIONS]"]), "```", "")
    yield from table("argument", arguments)
    yield from table("option", options)
    for name, under in below.items():
        yield from page(f"{path} {name}", under, level + "#")


def describe(command: Any) -> list[str]:
    """The help in paragraphs; an example is code."""
    lines = []
    for paragraph in (command.help or "").split("\n\n"):
        example = re.fullmatch(r"Example: \[bold\](.*)\[/\]", paragraph.strip(), re.DOTALL)
        lines += ["```sh", " ".join(example[1].split()), "```"] if example else [text(paragraph)]
        lines.append("")
    return lines


def summary(command: Any) -> str:
    return (command.help or "").split("\n\n")[0]


def table(kind: str, parameters: list[Any]) -> list[str]:
    """What each takes, and what it is unless given."""
    if not parameters:
        return []
    rows = [
        f"| {name_cell(parameter)} | {text(parameter.help or '')} | {default(parameter)} |"
        for parameter in parameters
    ]
    return [f"| {kind} | meaning | default |", "|---|---|---|", *rows, ""]


def name_cell(parameter: Any) -> str:
    if parameter.param_type_name == "argument":
        return f"`{parameter.metavar or parameter.name.upper()}`"
    repeatable = "<br>(repeatable)" if parameter.multiple else ""
    return ", ".join(f"`{option}`" for option in (*parameter.opts, *parameter.secondary_opts)) + repeatable


def default(parameter: Any) -> str:
    value = parameter.default
    if parameter.required:
        return "required"
    if value is None or value is False or value in ((), []) or callable(value) or not parameter.show_default:
        return "–"
    return f"`{getattr(value, 'value', value)}`"


def text(help: str) -> str:
    """Help in Markdown: what Rich would make bold is code, and a bar does not end a cell."""
    words = re.sub(r"\[bold\](.*?)\[/\]", r"`\1`", " ".join(help.split()))
    words = re.sub(r"(?<![`\w])(--[a-z][a-z-]*)(?![`\w])", r"`\1`", words)
    words = re.sub(r"(?<!`)\b(glasshead (?:train|list|doctor) ?[a-z]*)", r"`\1`", words)
    return words.replace("|", r"\|").replace("*", r"\*").replace("<", "&lt;")
