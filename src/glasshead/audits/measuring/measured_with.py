"""What of an audit was measured already, so that an interrupted one goes on."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from importlib import metadata
from numbers import Integral, Real
from pathlib import Path
from typing import Any

import numpy as np
from datasets import Dataset, DatasetDict

from glasshead.audits.judging.measurements import FOLDER, Measurements
from glasshead.audits.measuring.data_view import Sample
from glasshead.identifiability import fingerprints
from glasshead.opening import definition_of, dtype_of, halves_of
from glasshead.requests import MeasuringRequest, fingerprint_fields


def find_measurements(parts: Path | None, sample: Sample, request: MeasuringRequest) -> Measurements:
    """What was measured already among the ``parts`` of an audit; None: what is measured stays in memory.

    Raises:
        InputError: if it was measured by another request, of another model.
    """
    if parts is None:
        return Measurements()
    kept = Measurements(parts / FOLDER)
    kept.claim(measured_with(sample, request))
    for aside in (parts / FOLDER).glob("*/.*.aside"):  # what a kill left half written
        aside.unlink()
    return kept


NOT_MEASURING = ("audits", "limit", "by")
"""Fields that choose what is measured, and change no row."""


def measured_with(sample: Sample, request: MeasuringRequest) -> Mapping[str, Any]:
    """What rows follow from, next to their inputs: the fields of the request that change what is measured,
    the model, and the counts of the training data."""
    gauge = sample.subject.gauge
    digest = hashlib.sha256(json.dumps(plain_values(gauge)).encode())
    if sample.subject.counts is not None:
        digest.update(np.ascontiguousarray(sample.subject.counts).data)
    fields = {name: value for name, value in fingerprint_fields(request).items() if name not in NOT_MEASURING}
    fields["dtype"] = str(halves_of(request.dtype) or dtype_of(request.dtype))
    if isinstance(train := fields.get("train"), str | Path):
        fields["train"] = str(Path(train).resolve())
    return {
        "version": metadata.version("glasshead"),
        "torch": metadata.version("torch"),
        "transformers": metadata.version("transformers"),
        "weights": fingerprints(sample.subject.model, sample.encoded)["weights"],
        "tokenizer": definition_of(sample.subject.tokenizer).hex(),
        "counts or gauge": digest.hexdigest(),
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
