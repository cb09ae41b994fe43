"""What measured rows come to: findings of all audits, without a model."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from glasshead.audits.comparing.slice_tests import slice_tests
from glasshead.audits.judging.base import AUDITS, Audit, AuditResult, Measure, Measured
from glasshead.audits.judging.conclude import conclude
from glasshead.audits.judging.measurements import FOLDER, ID, Measurements
from glasshead.audits.judging.settings import INPUT_COLUMNS, Settings
from glasshead.audits.judging.slices import (
    COLUMN,
    COMPUTED,
    IDENTIFIABILITY,
    Slicing,
    groups_of,
    interval_facts,
    slice_notes,
    slicings_of,
)
from glasshead.audits.judging.summary import slice_column
from glasshead.audits.judging.table import Column, Table, jsonable
from glasshead.audits.judging.until_decided import LEVEL_NOTE
from glasshead.audits.performance import guess_facts
from glasshead.errors import InputError, ParameterError
from glasshead.results import INTERVAL_LEVEL, ON_IMAGE, ON_WORDS, PARTS, UNIT, WITHOUT_FIRST, AuditCard
from glasshead.spelling import spell
from glasshead.wording import join_names

if TYPE_CHECKING:
    from glasshead.audits.measuring.view import ModelView

SUBJECT_FILE = "subject.json"
"""What judges are told of the model, among the measurements."""
INPUTS, CERTAINTY, REFERENCE = "inputs", "certainty", "reference"
SUFFIXES = {part: f" {part}" if part else "" for part in ("", *PARTS)}
"""After the name of an audit whose rows are about a part of the units of each input."""


class Wanted(NamedTuple):
    """An audit, or another measure, or what every row has (None); of whole inputs, or of a part of their
    units."""

    key: str
    audit: Measure | None
    part: str = ""

    @property
    def columns(self) -> Sequence[Column]:
        return INPUT_COLUMNS if self.audit is None else self.audit.columns

    def most(self, settings: Settings) -> int | None:
        """How many inputs are asked at most."""
        return None if self.audit is None else self.audit.most(settings)

    def measure(self, view: ModelView) -> Measured:
        """The rows of the inputs of a view."""
        if self.audit is not None:
            return self.audit.measure(view)
        if self.key == CERTAINTY:
            return Measured(view.certainty)
        return Measured({name: values for name, values in view.inputs.items() if name != ID})


def rows_wanted(selected: Mapping[str, Audit], has_sinks: bool, by: Sequence[str]) -> list[Wanted]:
    """What is measured of every input, in order."""
    asked = [Wanted(INPUTS, None)]
    if IDENTIFIABILITY in by:
        asked.append(Wanted(CERTAINTY, None))
    asked += [Wanted(name, one) for name, one in selected.items()]
    for part in [WITHOUT_FIRST] * has_sinks + [ON_IMAGE, ON_WORDS] * (UNIT in by):
        asked.append(Wanted(INPUTS + SUFFIXES[part], None, part))
        asked += [Wanted(name + SUFFIXES[part], one, part) for name, one in selected.items() if one.of_tokens]
    return asked


def without_part(key: str) -> str:
    """The name of what is measured, of whole inputs."""
    return next((key.removesuffix(end) for end in SUFFIXES.values() if end and key.endswith(end)), key)


def judge_all(
    wanted: Sequence[Wanted],
    kept: Measurements,
    ids: NDArray[np.int64],
    settings: Settings,
    by: Sequence[str],
    columns: Table = MappingProxyType({}),
) -> tuple[AuditResult, Table]:
    """What the rows of these inputs come to, audit by audit; and what every row has, with further
    ``columns``."""
    gathered = AuditResult([])
    inputs = base_rows(wanted, kept, ids, columns)
    audits = [one for one in wanted if one.audit is not None]
    order = [without_part(one.key) for one in audits]
    for one in sorted(audits, key=lambda one: order.index(without_part(one.key))):
        rows = kept.read(one.key, ids, one.columns)
        judged = judge_rows(one, rows, inputs[one.part], settings, by, inputs[""])
        prefix = PARTS.get(one.part, "")
        gathered = AuditResult(
            [*gathered.findings, *judged.findings],
            {**gathered.examples, **{prefix + name: values for name, values in judged.examples.items()}},
            {**gathered.tokens, **({} if one.part else judged.tokens)},
            {**gathered.facts, **({} if one.part else judged.facts)},
        )
    return gathered, inputs[""]


def judge_rows(
    one: Wanted,
    measured: Measured,
    inputs: Table,
    settings: Settings,
    by: Sequence[str],
    whole: Table | None = None,
) -> AuditResult:
    """What the rows of one audit come to; ``whole`` inputs are sliced where ``inputs`` are parts of them."""
    assert isinstance(one.audit, Audit)
    groups = groups_of(inputs, settings.label_names, by, one.part, settings.level, whole)
    own = replace(settings, groups=groups, part=one.part, audit=one.key)
    return one.audit.judge_rows(measured.columns, inputs, own, measured.facts)


def base_rows(
    wanted: Sequence[Wanted], kept: Measurements, ids: NDArray[np.int64], columns: Table
) -> dict[str, Table]:
    """What rows have whatever was asked, of whole inputs and of parts of their units, with further
    ``columns``: inputs that were measured before may have been sliced by others."""
    tables: dict[str, Table] = {}
    for one in wanted:
        if one.audit is None:
            own = kept.read(one.key, ids, one.columns).columns
            tables[one.part] = {ID: ids, **tables.get(one.part, {}), **own, **columns}
    return tables


def judge(folder: str | Path, *, by: Sequence[str] = (), level: float | None = None) -> AuditCard:
    """Judge the measurements of an audit again, without the model: as before, ``by`` other slices of the
    inputs, or at another confidence ``level`` (default: that of the audit).

    ``folder`` is that of a finished audit. ``by`` is class, length, correct, confidence, or what the audit
    was sliced by. At a level of 0.99 intervals hold 99 % of the time, and verdicts depend on these.

    Raises:
        InputError: if there is no audit with measurements, on slices that need missing measurements, and on
        a level that is not between 0.5 and 1.
    """
    if level is not None:
        check_level(level)
    folder = Path(folder)
    card, path = AuditCard.load(folder), folder / FOLDER / SUBJECT_FILE
    level = card.level if level is None else level
    if not path.is_file() or ID not in card.examples:
        raise InputError(f"{folder} has no measurements that could be judged again: audit the model again")
    try:
        settings = Settings.of_json({**json.loads(path.read_text(encoding="utf-8")), "level": level})
    except (OSError, ValueError, TypeError, KeyError) as error:
        raise InputError(f"{path} is damaged: audit the model again") from error
    kept, ids = Measurements(folder / FOLDER), np.array(card.examples[ID], dtype=np.int64)
    asked = [without_part(name) for name in kept.names() if np.isin(kept.ids(name), ids).any()]
    gone = sorted({*asked} - {*AUDITS, INPUTS, CERTAINTY, REFERENCE})
    if gone:
        raise InputError(
            f"{folder} holds measurements of {join_names(gone)}, "
            "an audit of another package: install it first"
        )
    in_order = dict.fromkeys([*(one.audit for one in card.findings), *AUDITS])  # as the audit had them
    selected = {name: AUDITS[name] for name in in_order if name in asked}
    certain = [IDENTIFIABILITY] if CERTAINTY in kept.names() else []
    if UNIT in by and INPUTS + SUFFIXES[ON_IMAGE] not in kept.names():
        raise not_measured(UNIT)
    units = [UNIT] * (UNIT in by)
    wanted = rows_wanted(selected, INPUTS + SUFFIXES[WITHOUT_FIRST] in kept.names(), [*certain, *units])
    check_slices(base_rows(wanted, kept, ids, {})[""], by)
    result, inputs = judge_all(wanted, kept, ids, settings, by)
    slicings = slicings_of(inputs, settings.label_names, by)
    left = {name: values for name, values in card.examples.items() if not name.startswith(slice_column(""))}
    examples = {**left, **slice_columns(slicings), **{n: jsonable(v) for n, v in result.examples.items()}}
    again = replace(
        card,
        facts=facts_again(card, inputs, settings, by),
        findings=result.findings,
        examples=examples,
        tokens={name: jsonable(column) for name, column in result.tokens.items()},
        slice_tests=[],
    )
    return conclude(replace(again, slice_tests=slice_tests(again, slicings, settings.seed)))


def check_level(level: float) -> None:
    """Raise ParameterError for what is not a confidence level."""
    if not 0.5 < level < 1:
        raise ParameterError(
            "level", f"must be a confidence level between 0.5 and 1, such as 0.99, not {level}"
        )


def facts_again(card: AuditCard, inputs: Table, settings: Settings, by: Sequence[str]) -> dict[str, Any]:
    """The facts of a card, with those that depend on slices and on the level."""
    left = ("slices", "slice_level", INTERVAL_LEVEL)
    before = tuple(card.facts.get("slices", {}))
    slicings, old_slicings = (slicings_of(inputs, settings.label_names, names) for names in (by, before))
    old = slice_notes(old_slicings, before, settings.nouns, card.level)
    notes = [note for note in card.facts.get("notes", []) if note not in old]
    if settings.level != card.level:
        notes = [note.partition(LEVEL_NOTE)[0] for note in notes]
    return {
        **{name: value for name, value in card.facts.items() if name not in left},
        **(guess_facts(inputs, settings) if "guessing" in card.facts else {}),
        "notes": [*notes, *slice_notes(slicings, by, settings.nouns, settings.level)],
        **interval_facts(slicings, by, len(inputs["label"]), settings.level),
    }


def check_slices(inputs: Table, by: Sequence[str]) -> None:
    """Raise ParameterError where rows were not measured that slices need."""
    needed = {"confidence": "confidence", "identifiability": "alone"}
    for name in by:
        column = needed.get(name, "label" if name in COMPUTED else COLUMN + name)
        if column not in inputs:
            raise not_measured(name)


def not_measured(by: str) -> ParameterError:
    """Why an audit is not judged by some slices."""
    return ParameterError("by", f"{by} was not measured: audit the model again with {spell('by', by)}")


def slice_columns(slicings: Sequence[Slicing]) -> dict[str, Any]:
    """In which slice each input is."""
    return {slice_column(slicing.by): slicing.column for slicing in slicings}
