"""What each audit has found, written down as it is found, so that an interrupted card goes on."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from importlib import metadata
from numbers import Integral, Real
from pathlib import Path
from typing import Any

import numpy as np
from datasets import Dataset, DatasetDict
from pydantic import TypeAdapter

from glasshead.audits.base import AuditResult
from glasshead.audits.context import AuditContext
from glasshead.errors import InputError
from glasshead.files import SETTINGS_FILE, claim_folder, write_text
from glasshead.identifiability import fingerprints
from glasshead.opening import dtype_of
from glasshead.requests import AuditRequest, fingerprint_fields
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


def find_finished_audits(parts: Path | None, context: AuditContext, request: AuditRequest) -> FinishedAudits:
    """The audits that are finished among the ``parts`` of the same request; None: of none.

    Raises:
        InputError: if what was begun there is another audit.
    """
    if parts is None:
        return FinishedAudits(None)
    folder = parts / FOLDER
    claim_folder(folder, audit_fingerprint(context, request))
    return FinishedAudits(folder)


def audit_fingerprint(context: AuditContext, request: AuditRequest) -> Mapping[str, Any]:
    """What finished audits were asked of: the fields of the request that change what is measured, and what
    the others come to: model, texts, labels, and the counts of the training data."""
    known = [
        context.labels.tolist(), context.indices.tolist(), context.marks, context.columns,
        context.gauge_kind, context.gauge_margin,
    ]  # fmt: skip
    digest = hashlib.sha256(repr(known).encode())
    digest.update(np.ascontiguousarray(context.explanation.encoded.owner.numpy()).data)
    if context.counts is not None:
        digest.update(np.ascontiguousarray(context.counts).data)
    fields = fingerprint_fields(request)
    fields["dtype"] = str(dtype_of(request.dtype))
    if isinstance(request.train, str | Path):
        fields["train"] = str(Path(request.train).resolve())
    if request.audits is not None:
        fields["audits"] = sorted(request.audits)
    return {
        "version": metadata.version("glasshead"),
        **fingerprints(context.trained_model, context.explanation.encoded),
        "labels or rows": digest.hexdigest(),
        "asked": plain_values(fields),
    }


def plain_values(value: object) -> Any:
    """A value of a request as JSON can hold it."""
    if isinstance(value, Mapping):
        return {str(key): plain_values(item) for key, item in value.items()}
    if isinstance(value, list | tuple | set | frozenset):
        values = [plain_values(item) for item in value]
        return sorted(values, key=repr) if isinstance(value, set | frozenset) else values
    if isinstance(value, Dataset | DatasetDict):
        return "in memory"  # what is read of it is compared
    if isinstance(value, Real) and not isinstance(value, bool):
        return int(value) if isinstance(value, Integral) else float(value)
    return value if value is None or isinstance(value, bool) else str(value)
