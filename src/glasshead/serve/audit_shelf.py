"""Audit folders: what each comes to, its report, and its texts."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from glasshead.errors import InputError, ParameterError
from glasshead.escaping import sendable
from glasshead.report import audit_page
from glasshead.results import CARD_FILE, EXPLANATION, AuditCard
from glasshead.serve.questions import AuditClaim, AuditedText, AuditFacts, AuditTexts
from glasshead.spelling import spell

SHELF_TAU = "tau.{}.erasure-renormalise"
MOST_TEXTS = 20


class ShelvedAudit:
    """An audit folder, read when it is first asked for."""

    def __init__(self, name: str, folder: Path) -> None:
        self.name = name
        self.folder = folder

    @cached_property
    def card(self) -> AuditCard:
        """What the audit found.

        Raises:
            InputError: if the folder is damaged.
        """
        return AuditCard.load(self.folder)

    @cached_property
    def facts(self) -> AuditFacts:
        """Its line in the list; of a damaged one, what is wrong."""
        try:
            card = self.card
        except InputError as error:
            return AuditFacts(
                name=self.name, model="", data="", date="", texts=0, conclusion="", claims=[],
                problem=str(error),
            )  # fmt: skip
        known, conclusion = card.facts, card.conclusion
        texts = known.get("examples")
        return AuditFacts(
            name=self.name,
            model=str(known.get("run") or known.get("name") or self.name),
            data=str(known.get("data", "")),
            date=str(known.get("date", "")),
            texts=texts if isinstance(texts, int) else len(card.examples.get("text", ())),
            conclusion=conclusion.verdict,
            claims=[
                AuditClaim(says=claim.says, holds=claim.holds, because=claim.because)
                for claim in (conclusion.claims if EXPLANATION in known else ())
            ],
        )

    @cached_property
    def page(self) -> str:
        """Its report.

        Raises:
            InputError: if the folder is damaged.
        """
        return audit_page([self.card])

    def texts(self, label: str, predicted: str, words: str, first: int) -> AuditTexts:
        """Some of its texts: of a class, of a predicted class, with some words in them.

        Raises:
            InputError: if the folder is damaged.
        """
        columns: Mapping[str, Any] = self.card.examples
        texts = [str(text) for text in columns.get("text", ())]
        labels, predictions = (
            [str(value) for value in columns.get(name, [""] * len(texts))] for name in ("label", "predicted")
        )
        agreement = columns.get(SHELF_TAU.format(self.card.statistic))
        wanted = [
            row
            for row, text in enumerate(texts)
            if (not label or labels[row] == label)
            and (not predicted or predictions[row] == predicted)
            and words.lower() in text.lower()
        ]
        return AuditTexts(
            texts=[
                AuditedText(
                    text=texts[row],
                    label=labels[row],
                    predicted=predictions[row],
                    agreement=None if agreement is None else finite_or_none(agreement[row]),
                )
                for row in wanted[first : first + MOST_TEXTS]
            ],
            found=len(wanted),
            labels=sorted({*labels, *predictions} - {""}),
        )


def finite_or_none(value: float | None) -> float | None:
    """The number, if there is one."""
    return None if value is None or not np.isfinite(value) else float(value)


def find_audits(folder: Path) -> dict[str, ShelvedAudit]:
    """The audits in a folder, and the folder itself if it is one, by name.

    Raises:
        InputError: if there is no such folder, or no audit in it.
    """
    if not folder.is_dir():
        raise ParameterError("audits", f"{folder} is not a folder")
    folders = sorted(path.parent for path in folder.glob(f"**/{CARD_FILE}"))
    if not folders:
        raise ParameterError("audits", f"{folder} has no audit: {spell('AuditCard.save')} writes one")
    shelf: dict[str, ShelvedAudit] = {}
    for path in folders:
        name = audit_name(path, folder)
        while name in shelf:  # the folder itself may be called as one in it
            name += "′"
        shelf[name] = ShelvedAudit(name, path)
    return shelf


def audit_name(folder: Path, within: Path) -> str:
    """What an audit is called in the list."""
    name = folder.relative_to(within).as_posix()
    return sendable(within.resolve().name or "/" if name == "." else name)
