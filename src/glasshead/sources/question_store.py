"""Measured questions in a file, a line each, so that an interrupted audit goes on where it stopped."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from importlib import metadata
from pathlib import Path
from typing import Any

from glasshead.errors import InputError
from glasshead.files import write_text
from glasshead.identifiability import weights_digest
from glasshead.requests import SourcesRequest, fingerprint_fields
from glasshead.results import MeasuredQuestion
from glasshead.sources.questions import AskedQuestion


@dataclass(frozen=True)
class QuestionStore:
    """What was measured before, by the key of each question, and where more is written behind a line that
    says with what."""

    path: Path | None
    head: str
    found: Mapping[str, MeasuredQuestion]

    def add(self, question: AskedQuestion, measured: MeasuredQuestion) -> None:
        """Keep one."""
        if self.path is None:
            return
        begin = "" if self.path.exists() else f"{self.head}\n"
        with self.path.open("a", encoding="utf-8") as file:
            file.write(f"{begin}{json.dumps({'asked': key_of(question), **asdict(measured)})}\n")


def key_of(question: AskedQuestion) -> str:
    """A question by what it consists of."""
    parts = [question.question, [[one.title, one.text] for one in question.passages], question.answer]
    return hashlib.sha256(json.dumps(parts).encode()).hexdigest()[:16]


def open_store(request: SourcesRequest, model: Any) -> QuestionStore:
    """The store of a request; a line that was cut off is removed.

    Raises:
        InputError: if it holds what another model, or other options, have measured.
    """
    path = request.store
    if path is None:
        return QuestionStore(None, "", {})
    fields = {name: str(value) for name, value in fingerprint_fields(request).items() if name != "model"}
    head = json.dumps({"version": metadata.version("glasshead"), "weights": weights_digest(model), **fields})
    if not path.exists():
        return QuestionStore(path, head, {})
    first, *lines = path.read_text(encoding="utf-8").splitlines() or [""]
    if first != head and (lines or not head.startswith(first)):
        raise InputError(f"{path} was measured with another model or other options: begin anew")
    found, whole = dict[str, MeasuredQuestion](), [head]
    for line in lines:
        try:
            row = json.loads(line)
        except ValueError:
            continue
        asked = row.pop("asked")
        found[asked] = MeasuredQuestion(**row)
        whole.append(line)
    write_text(path, "".join(f"{line}\n" for line in whole), overwrite=True)
    return QuestionStore(path, head, found)
