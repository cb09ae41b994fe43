"""What is fast on this machine: ratios of times and memory, and errors, measured in one run."""

from glasshead.bench.attention import MECHANISMS, QUICK, AttentionResult, AttentionSettings, measure_attention
from glasshead.bench.audit import AuditSettings, AuditSpeed, measure_audit
from glasshead.bench.explain import ExplainSettings, ExplainSpeed, measure_explain
from glasshead.bench.identifiability import (
    IdentifiabilityResult,
    IdentifiabilitySettings,
    measure_identifiability,
)
from glasshead.bench.machine import machine
from glasshead.bench.settings import BENCHMARKS, BenchRequest, as_json
from glasshead.bench.timing import peak_bytes
from glasshead.bench.training import TrainingResult, TrainingSettings, measure_training

__all__ = [
    "BENCHMARKS",
    "MECHANISMS",
    "QUICK",
    "AttentionResult",
    "AttentionSettings",
    "AuditSettings",
    "AuditSpeed",
    "BenchRequest",
    "ExplainSettings",
    "ExplainSpeed",
    "IdentifiabilityResult",
    "IdentifiabilitySettings",
    "TrainingResult",
    "TrainingSettings",
    "as_json",
    "machine",
    "measure_attention",
    "measure_audit",
    "measure_explain",
    "measure_identifiability",
    "measure_training",
    "peak_bytes",
]
