"""What a training writes into its run folder next to the model (`glasshead.opening.run` reads it)."""

import json
import platform
from importlib import metadata
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from glasshead.escaping import as_json


def versions() -> dict[str, str]:
    """What computed this."""
    packages = ("glasshead", "torch", "transformers", "datasets", "numpy", "scipy")
    return {"python": platform.python_version()} | {name: metadata.version(name) for name in packages}


def write_json(path: Path, value: Any) -> None:
    """JSON that a person can read and diff; NaN is none."""
    text = as_json(json.dumps(value, indent=1, ensure_ascii=False, allow_nan=False))
    path.write_text(text + "\n", encoding="utf-8")


def write_vocabulary(path: Path, tokens: list[str], counts: np.ndarray) -> None:
    """The train counts of every token, one row per vocabulary id."""
    pq.write_table(pa.table({"token": tokens, "counts": pa.array(counts.T.tolist())}), path)
