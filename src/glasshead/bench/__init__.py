"""What is fast on this machine: ratios of times and memory, and errors, measured in one run."""

from glasshead.bench.attention import MECHANISMS, QUICK, Result, Settings, measure
from glasshead.bench.machine import machine
from glasshead.bench.measure import peak_bytes
from glasshead.bench.plan import as_json, known, settings
from glasshead.bench.table import table

__all__ = [
    "MECHANISMS",
    "QUICK",
    "Result",
    "Settings",
    "as_json",
    "known",
    "machine",
    "measure",
    "peak_bytes",
    "settings",
    "table",
]
