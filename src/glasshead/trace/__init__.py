"""Read or replace what attention is made of while a model runs, and say which attention is meant."""

from glasshead.trace.attention_site import (
    LEVELS,
    NO_SENTENCES,
    ROWS,
    Place,
    Reading,
    Unit,
    calls,
    forward,
    run,
    settle,
)
from glasshead.trace.eval_mode import evaluating
from glasshead.trace.gauge import (
    ClassSigns,
    Gauge,
    default_target,
    fix_gauge,
    fix_gauges,
    sides,
    target_polarity,
    target_score,
    text_sums,
)
from glasshead.trace.head_gauges import head_gauges
from glasshead.trace.intervene import Edit, intervene
from glasshead.trace.interventions import permute, replace, uniform, zero_heads
from glasshead.trace.record import record
from glasshead.trace.records import LayerRecord, Pass, Trace
from glasshead.trace.token_layout import Layout, layout

__all__ = [
    "LEVELS",
    "NO_SENTENCES",
    "ROWS",
    "ClassSigns",
    "Edit",
    "Gauge",
    "LayerRecord",
    "Layout",
    "Pass",
    "Place",
    "Reading",
    "Trace",
    "Unit",
    "calls",
    "default_target",
    "evaluating",
    "fix_gauge",
    "fix_gauges",
    "forward",
    "head_gauges",
    "intervene",
    "layout",
    "permute",
    "record",
    "replace",
    "run",
    "settle",
    "sides",
    "target_polarity",
    "target_score",
    "text_sums",
    "uniform",
    "zero_heads",
]
