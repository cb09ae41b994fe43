"""Which method and audit works in which family of classifiers: a part of docs/reference/families.md
(auto_table.py)."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from unittest import mock

from torch.testing import assert_close
from transformers import PreTrainedModel, PreTrainedTokenizerFast

from classifier_families import TEXTS, ClassifierFamily, labelled_data
from glasshead.audits import AUDITS, adversarial, audit
from glasshead.errors import InputError
from glasshead.explainers import EXPLAINERS, explain_texts
from glasshead.opening import open_subject
from glasshead.requests import MethodRequest
from glasshead.results import Attributions
from tolerances import ALL_LAYERS

PAGE = Path(__file__).parents[1] / "docs" / "reference" / "families.md"
YES = "yes"
METHODS = [name for name, explainer in EXPLAINERS.items() if not explainer.for_images]
"""Those that read texts."""
TEXT_AUDITS = [name for name in AUDITS if not name.startswith("image-")]
"""The audits that can be about a text alone."""
DETAILS = """## Every method, in some families of classifiers

In classifiers of these families every method, every audit and {others} were tried:
{families}.

All of it works, but for:

"""
TAIL = """
Tests compute this anew, too, and check that a text in a batch is explained and audited as it is alone, and
that a tokenizer that pads on the left, or has no padding token, changes nothing.
"""

OTHERS = ("intervals", "pairs", "ratings", "half precision", "padding on the left", "no padding token")
"""What else is tried, beside methods and audits."""
Row = dict[str, str]
"""Capability → yes, or the reason of the refusal."""


def row_of(family: ClassifierFamily, methods_asked: Sequence[str] = METHODS) -> Row:
    """What a classifier of the family can do; of the methods, some."""
    model, tokenizer = family.build(), family.tokenizer()
    methods = {name: lambda name=name: explained(model, tokenizer, name) for name in methods_asked}
    methods["intervals"] = lambda: explained(model, tokenizer, "attention", intervals=True)
    any_method = (
        "gradient" if outcome(lambda: explained(model, tokenizer, "gradient")) == YES else "erasure-delete"
    )
    others = {
        "pairs": lambda: explained(model, tokenizer, any_method, pairs=TEXTS[::-1]),
        "ratings": lambda: explained(family.build(labels=1), tokenizer, any_method),
        "half precision": lambda: explained(family.build().bfloat16(), tokenizer, any_method),
        "padding on the left": lambda: check_padding(family, any_method, padding_side="left"),
        "no padding token": lambda: check_padding(family, any_method, pad_token=None),
    }
    return {name: outcome(attempt) for name, attempt in methods.items()} | audits_of(family) | {
        name: outcome(attempt) for name, attempt in others.items()
    }  # fmt: skip


def outcome(attempt: Callable[[], object]) -> str:
    """Yes, or why not."""
    try:
        attempt()
    except InputError as error:
        return without_names(str(error))
    return YES


def without_names(reason: str) -> str:
    """A reason that is true of every model alike."""
    reason = re.sub(r"layer \d+ \(\S+\) of", "a layer of", reason)
    return re.sub(r"layer \d+ \(\S+\)|\w+ForSequenceClassification", "the model", reason)


def explained(
    model: PreTrainedModel,
    tokenizer: PreTrainedTokenizerFast,
    method: str,
    pairs: list[str] | None = None,
    *,
    intervals: bool = False,
) -> Attributions:
    """The texts, explained."""
    request = MethodRequest(method=method, intervals=intervals)
    return explain_texts(open_subject(model, tokenizer), TEXTS, pairs, request)


def check_padding(family: ClassifierFamily, method: str, **changes: str | None) -> None:
    """Raise AssertionError if another way to pad changes what is explained."""
    model, tokenizer = family.build(), family.tokenizer()
    expected = explained(model, tokenizer, method)
    for name, value in changes.items():
        setattr(tokenizer, name, value)
    for before, after in zip(expected, explained(model, tokenizer, method), strict=True):
        assert before.tokens == after.tokens
        assert_close(before.scores, after.scores, **ALL_LAYERS)


def audits_of(family: ClassifierFamily) -> Row:
    """Which audits have a meaning."""
    names = {0: "bad", 1: "good"}
    model, data = family.build(labels=2, id2label=names), labelled_data(24)
    data = data.add_column("marks", [[[0, 3]]] * len(data))
    options = {"tokenizer": family.tokenizer(), "limit": 6, "train": data}
    # How far a search gets is not on the page: only whether there is one.
    short = replace(adversarial.SEARCH, starts=1, passes=1, waves=1)
    unusual = [name for name in TEXT_AUDITS if not AUDITS[name].by_default]
    with mock.patch.object(adversarial, "SEARCH", short):
        # Together they read what they share once; where one is refused, each is asked.
        if outcome(lambda: audit(model, data, audits=unusual, **options)) == YES:
            named = dict.fromkeys(unusual, YES)
        else:
            named = {
                name: outcome(lambda name=name: audit(model, data, audits=[name], **options))
                for name in unusual
            }
    try:
        card = audit(model, data, draws=2, **options)
    except InputError as error:
        return dict.fromkeys(TEXT_AUDITS, without_names(str(error)))
    asked = {finding.audit for finding in card.findings}
    notes = "\n".join(card.facts["notes"])
    reasons = re.findall(r"^The audit '(\w+)' was left out: (.*)\.$", notes, re.MULTILINE)
    left_out = {name: without_names(reason) for name, reason in reasons}
    return {name: named.get(name) or (YES if name in asked else left_out[name]) for name in TEXT_AUDITS}


def columns(table: Mapping[str, Row]) -> list[list[str]]:
    """Capabilities that no family tells apart, together: of methods, of audits, of all else."""
    parts: dict[tuple[str, ...], list[str]] = {}
    for name in next(iter(table.values())):
        kind = "audit" if name in AUDITS else "method" if name in EXPLAINERS or name == "intervals" else ""
        parts.setdefault((kind, *(row[name] for row in table.values())), []).append(name)
    return list(parts.values())


def capabilities() -> list[str]:
    """All that is tried."""
    return [*METHODS, *TEXT_AUDITS, *OTHERS]


def exceptions(table: Mapping[str, Row]) -> str:
    """What not all families can do: by reason, since most can do most."""
    refused: dict[str, dict[tuple[str, ...], list[str]]] = {}
    for family, row in table.items():
        reasons = dict.fromkeys(row[name] for name in capabilities() if row[name] != YES)
        for reason in reasons:
            names = tuple(name for name in capabilities() if row[name] == reason)
            refused.setdefault(reason, {}).setdefault(names, []).append(family)
    lines = [["not in", "what", "because"], ["---"] * 3]
    for reason, by_names in refused.items():
        for names, families in by_names.items():
            whole = "all" if len(families) == len(table) else ", ".join(f"`{name}`" for name in families)
            lines.append([whole, ", ".join(map(shown, names)), reason])
    others = f"{', '.join(OTHERS[:-1])} and {OTHERS[-1]}"
    head = DETAILS.format(others=others, families=", ".join(f"`{name}`" for name in table))
    return head + "".join(f"| {' | '.join(cells)} |\n" for cells in lines) + TAIL


def read_exceptions() -> dict[str, Row]:
    """The same, read again from the page."""
    text = PAGE.read_text(encoding="utf-8")
    section = text.split(DETAILS.split("\n")[0])[1]
    head, *lines = [line for line in section.splitlines() if line.startswith(("`", "|"))]
    table = {family: dict.fromkeys(capabilities(), YES) for family in re.findall(r"`([^`]+)`", head)}
    for line in lines[2:]:
        families, names, reason = (cell.strip() for cell in line.split("|")[1:-1])
        for family in table if families == "all" else re.findall(r"`([^`]+)`", families):
            table[family] |= dict.fromkeys(names.replace("`", "").split(", "), reason)
    return table


def page(table: Mapping[str, Row], head: str, tail: str) -> str:
    """The whole page of tasks."""
    reasons = dict.fromkeys(value for row in table.values() for value in row.values() if value != YES)
    marks = {YES: YES} | {reason: f"[^{number}]" for number, reason in enumerate(reasons, 1)}
    heads = columns(table)
    lines = [["", *("<br>".join(shown(name) for name in names) for names in heads)]]
    lines += [["---"] * len(lines[0])]
    lines += [[f"`{name}`", *(marks[row[names[0]]] for names in heads)] for name, row in table.items()]
    notes = "".join(f"\n[^{number}]: {reason}.\n" for number, reason in enumerate(reasons, 1))
    return head + "".join(f"| {' | '.join(cells)} |\n" for cells in lines) + tail + notes


def shown(name: str) -> str:
    """Names that are typed stand in backquotes."""
    return f"`{name}`" if name in EXPLAINERS or name in AUDITS else name


def read(text: str) -> dict[str, Row]:
    """The table of a page."""
    reasons = dict(re.findall(r"^(\[\^\d+\]): (.*)\.$", text, re.MULTILINE)) | {YES: YES}
    lines = [line for line in text.splitlines() if line.startswith("|")]
    head, _, *rows = ([cell.strip() for cell in line.split("|")[1:-1]] for line in lines)
    heads = [cell.replace("`", "").split("<br>") for cell in head]
    return {
        name.strip("`"): {
            capability: reasons[mark]
            for names, mark in zip(heads[1:], marks, strict=True)
            for capability in names
        }
        for name, *marks in rows
    }
