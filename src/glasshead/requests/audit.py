"""What `glasshead audit`, `rank` and `heads` are asked."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal

from glasshead.requests import readers
from glasshead.requests.fields import option
from glasshead.requests.subject import DataRequest, UnitRequest

FOR_IDENTIFIABILITY = "For identifiability: "


class JudgedRequest(DataRequest):
    """The options of commands that read data with labels, and perhaps marks."""

    train: Any = option(
        default=None,
        help="What the model was trained on, if glasshead did not train it: for the classes of words and the "
        "sign of signed weights.",
        metavar="DATA",
    )
    marks_column: str | None = option(
        default=None,
        help="The column of human marks, \\[\\[start, end], …] in characters (default: marks, if there is "
        "one).",
    )
    blocks: int | None = option(
        default=None,
        help="For images: divide each side into this many blocks of patches, each one unit; 0 makes every "
        "patch a unit (default: 4).",
        least=0,
    )


class MeasuringRequest(DataRequest):
    """The processes that measure the inputs, and the folder for their measurements."""

    workers: int | None = option(
        default=None,
        help="Local processes that share the texts, one thread each (default: this process alone).",
        least=1,
        most=1000,
        measures=False,
    )
    ray: str | None = option(
        default=None,
        help="Run on this Ray cluster; auto: the one that this machine belongs to.",
        metavar="ADDRESS",
        measures=False,
    )
    gpus_per_task: float = option(
        default=0.0,
        help="On a Ray cluster: GPUs for each task; with 0.5, two tasks share one.",
        measures=False,
    )
    store: Any = option(
        default=None,
        help="The folder of earlier measurements, to continue from.",
        flag="",
        read=readers.folder,
        measures=False,
    )

    @property
    def has_workers(self) -> bool:
        """Whether other processes measure."""
        return self.ray is not None or (self.workers or 1) > 1


class AuditRequest(UnitRequest, MeasuringRequest, JudgedRequest):
    """The options of ``audit``: the audits, the explanation, and the data."""

    dtype: Any = option(
        default="float64",
        help="Precision: float64 keeps ties and tiny changes exact; float32 is faster; bfloat16 and float16 "
        "are faster still on hardware that multiplies them, and their noise makes intervals wider.",
    )
    audits: Sequence[str] | None = option(
        default=None,
        help="Audits to run (glasshead list audits; default: all but adversarial, explanation, heads and "
        "operators).",
        metavar="A,B,…",
        read=readers.names,
    )
    method: str = option(default="attention", help="The explanation to audit (glasshead list explainers).")
    references: Sequence[str] = option(
        default=(),
        help="For agreement: more explanations to compare it with, besides gradients and weight removal.",
        metavar="A,B,…",
        read=readers.names,
    )
    by: Sequence[str] = option(
        default=(),
        help="Report every finding for each slice of the texts, too: class, length, correct, confidence, "
        "identifiability, unit (image tokens and words), or a column of the data; may be repeated.",
        metavar="SLICE",
        read=readers.each,
        repeated=True,
    )
    level: Literal["word", "sentence"] = option(
        default="word", help="word, or sentence for models that read sentences."
    )
    draws: int | None = option(
        default=None,
        help="Draws of a perturbation test, at most 1000 (default: 100, or 20 for slow models).",
        least=1,
        most=1000,
    )
    layers: Any = option(
        default=None,
        help=f"{FOR_IDENTIFIABILITY}layers (default: the one that is shown).",
        metavar="all|A,B,…",
        read=readers.numbers,
    )
    heads: Any = option(
        default=None,
        help=f"{FOR_IDENTIFIABILITY}heads (default: all).",
        metavar="all|A,B,…",
        read=readers.numbers,
    )
    rows: Any = option(
        default=None,
        help=f"{FOR_IDENTIFIABILITY}rows of a map (default: the one that is shown).",
        metavar="cls|last|all|A,B,…",
        read=readers.numbers_or_name,
    )
    top: int | None = option(
        default=None, help=f"{FOR_IDENTIFIABILITY}only this many of the largest weights of a row.", least=1
    )
    tolerance: float = option(
        default=0.0,
        help=f"{FOR_IDENTIFIABILITY}how far a head's output may move, relative to its size.",
        least=0,
    )
    processes: int | None = option(
        default=None,
        help=f"{FOR_IDENTIFIABILITY}processes (default: one for each core, in Python one).",
        least=1,
        measures=False,
    )
    budget: float | str | None = option(
        default=None,
        help="Measure random texts for about this long (90s, 10m, 2h), then judge them; continue with "
        "--resume.",
        metavar="TIME",
        read=readers.seconds,
        measures=False,
    )
    until_decided: Sequence[str] = option(
        default=(),
        help="Measure random texts until this finding is decided, or --budget is spent; may be repeated.",
        metavar="FINDING",
        read=readers.each,
        repeated=True,
        measures=False,
    )
    facts: Mapping[str, Any] | None = option(
        default=None, help="More facts for the card.", flag="", measures=False
    )


class RankRequest(UnitRequest, MeasuringRequest, JudgedRequest):
    """The options of ``rank``: the explanations to compare, and the data."""

    methods: Sequence[str] = option(
        kw_only=False,
        default=("attention", "gradient", "erasure"),
        help="Explanations to compare (glasshead list explainers).",
        metavar="A,B,…",
        read=readers.names,
    )
    removals: Sequence[str] | None = option(
        default=None,
        help="Types of deletion (glasshead list removals; default: all that the model allows).",
        metavar="A,B,…",
        read=readers.names,
    )
    statistic: str = option(
        default="comprehensiveness",
        help="What the conclusion is based on: comprehensiveness, sufficiency, deletion or insertion.",
        measures=False,
    )


class HeadsRequest(MeasuringRequest):
    """The options of ``heads``: the model, the texts, and what to measure."""

    texts: Any = option(
        default=(),
        help="Draw the maps of this text or image file; may be repeated (default: the first two).",
        flag="--text",
        read=readers.each,
        repeated=True,
        measures=False,
    )
    effects: bool = option(
        flag="--effects/--no-effects",
        default=True,
        help="Measure the effect of each head on predictions: one pass per head.",
        measures=False,  # else fewer rows are measured
    )
