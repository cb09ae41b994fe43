"""Read or replace what attention is made of while a model runs."""

from glasshead.trace.edits import permute, replace, uniform, zero_heads
from glasshead.trace.gauges import head_gauges
from glasshead.trace.intervene import Edit, intervene
from glasshead.trace.layer import LayerRecord, Pass, Trace
from glasshead.trace.record import record

__all__ = [
    "Edit",
    "LayerRecord",
    "Pass",
    "Trace",
    "head_gauges",
    "intervene",
    "permute",
    "record",
    "replace",
    "uniform",
    "zero_heads",
]
