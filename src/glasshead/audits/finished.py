"""What each audit has found, written down as it is found, so that an interrupted card goes on."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields, is_dataclass, replace
from importlib import metadata
from pathlib import Path
from typing import Any

import numpy as np
from datasets import Dataset, DatasetDict
from pydantic import TypeAdapter

from glasshead.audits.base import AuditResult
from glasshead.audits.context import AuditContext
from glasshead.audits.request import AuditRequest
from glasshead.errors import InputError
from glasshead.files import SETTINGS_FILE, claim_folder, write_text
from glasshead.identifiability import fingerprints
from glasshead.results import Finding

FOLDER = "audits"
"""Where they lie among the parts of an audit."""
FINISHED = (f"{FOLDER}/{SETTINGS_FILE}", f"{FOLDER}/.*", f"{FOLDER}/*.audit.json")
"""What lies there; the last are the audits themselves."""


@dataclass(frozen=True)
class FinishedAudits:
    """One file for each audit that has ended, in a folder; None: nothing is kept."""

    folder: Path | None

    def path(self, name: str) -> Path:
        assert self.folder is not None
        return self.folder / f"{name}.audit.json"

    def take(self, name: str) -> AuditResult | None:
        """What the audit of that name has found already.

        Raises:
            InputError: if its file is damaged.
        """
        if self.folder is None or not (path := self.path(name)).exists():
            return None
        try:
            values = json.loads(path.read_text(encoding="utf-8"))
            return AuditResult(
                findings=TypeAdapter(list[Finding]).validate_python(values["findings"]),
                examples={key: np.array(column) for key, column in values["examples"].items()},
                tokens={key: np.array(column) for key, column in values["tokens"].items()},
                facts=values["facts"],
            )
        except (ValueError, KeyError, AttributeError, TypeError, RecursionError) as error:
            raise InputError(f"{path} is damaged: remove it and resume") from error

    def keep(self, name: str, result: AuditResult) -> None:
        """Write it down, all or nothing."""
        if self.folder is None:
            return
        values = {
            "findings": [asdict(finding) for finding in result.findings],
            "examples": {key: np.asarray(column).tolist() for key, column in result.examples.items()},
            "tokens": {key: np.asarray(column).tolist() for key, column in result.tokens.items()},
            "facts": result.facts,
        }
        write_text(self.path(name), json.dumps(values, ensure_ascii=False), overwrite=True)


def finished_audits(parts: Path | None, context: AuditContext, request: AuditRequest) -> FinishedAudits:
    """The audits that are finished among the ``parts`` of the same request; None: of none.

    Raises:
        InputError: if what was begun there is another audit.
    """
    if parts is None:
        return FinishedAudits(None)
    folder = parts / FOLDER
    claim_folder(folder, settings_of(context, request))
    return FinishedAudits(folder)


def settings_of(context: AuditContext, request: AuditRequest) -> Mapping[str, Any]:
    """What finished audits were asked of: every field of the request but those of `COMPARED_OTHERWISE`, and
    what it comes to: model, texts, labels, and the counts of the training data."""
    known = [context.labels.tolist(), context.indices.tolist(), context.marks, context.columns]
    digest = hashlib.sha256(repr(known).encode())
    digest.update(np.ascontiguousarray(context.explanation.encoded.owner.numpy()).data)
    if context.counts is not None:
        digest.update(np.ascontiguousarray(context.counts).data)
    names = None if request.audits is None else tuple(sorted(request.audits))
    return {
        "version": metadata.version("glasshead"),
        **fingerprints(context.trained_model, context.explanation.encoded),
        "labels or rows": digest.hexdigest(),
        "asked": compared_values(replace(request, audits=names), COMPARED_OTHERWISE),
    }


COMPARED_OTHERWISE = {
    "model": "its weights are compared, wherever it lies",
    "tokenizer": "what it makes of the texts is compared",
    "data": "texts, labels and columns are compared, wherever they lie",
    "cluster": "where something is computed changes no result",
    "processes": "how many share the work changes no result",
    "store": "where the parts lie changes no result",
    "progress": "who looks on changes no result",
    "device": "where the model computes is no question that is asked",
}
"""Fields of requests that do not decide whether a work is the same, each with the reason."""


def compared_values(request: object, but: Mapping[str, str]) -> Any:
    """Plain values of a request that decide whether a work is the same: of all fields but those that are
    named, and of the requests within it."""
    if is_dataclass(request) and not isinstance(request, type):
        return {
            each.name: compared_values(getattr(request, each.name), but)
            for each in fields(request)
            if each.name not in but
        }
    if isinstance(request, Mapping):
        return {str(key): compared_values(value, but) for key, value in request.items()}
    if isinstance(request, list | tuple | set | frozenset):
        values = [compared_values(value, but) for value in request]
        return sorted(values, key=repr) if isinstance(request, set | frozenset) else values
    if isinstance(request, Dataset | DatasetDict):
        return "in memory"  # what is read of it is compared
    if request is None or isinstance(request, bool | int | float):
        return request
    return str(request)
