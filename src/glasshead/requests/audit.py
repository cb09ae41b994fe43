"""What `glasshead audit`, `rank` and `heads` are asked."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal

from glasshead.requests import readers
from glasshead.requests.fields import option
from glasshead.requests.subject import DataRequest, UnitRequest

FOR_IDENTIFIABILITY = "For identifiability: "


class JudgedRequest(DataRequest):
    """Which model is asked about data with labels, and perhaps marks."""

    train: Any = option(
        default=None,
        help="What the model was trained on, if glasshead did not train it: for the classes of words and the "
        "sign of signed weights.",
        metavar="DATA",
    )
    marks_column: str | None = option(
        default=None,
        help=r"The column of human marks, \[\[start, end], …] in characters; else marks, if there.",
    )
    blocks: int | None = option(
        default=None,
        help="Of images: blocks of patches in each direction, each one unit; 0: every patch; else 4.",
        least=0,
    )


class MeasuringRequest(DataRequest):
    """Who measures the inputs, and where what was measured is kept."""

    workers: int | None = option(
        default=None,
        help="Local processes that share the texts, with one thread each; else this process alone.",
        least=1,
        most=1000,
        measures=False,
    )
    ray: str | None = option(
        default=None,
        help="Run on this Ray cluster; auto: the one that runs here.",
        metavar="ADDRESS",
        measures=False,
    )
    gpus_per_task: float = option(
        default=0.0, help="On a Ray cluster: GPUs of each task; 0.5 lets two share one.", measures=False
    )
    store: Any = option(
        default=None,
        help="The folder of what was measured, which goes on there.",
        flag="",
        measures=False,
    )

    @property
    def has_workers(self) -> bool:
        """Whether other processes measure."""
        return self.ray is not None or (self.workers or 1) > 1


class AuditRequest(UnitRequest, MeasuringRequest, JudgedRequest):
    """Which audits of which explanation, on which data."""

    audits: tuple[str, ...] | None = option(
        default=None,
        help="Audits to run (glasshead list audits); else all but adversarial, explanation, heads and "
        "operators.",
        metavar="A,B,…",
        read=readers.names,
    )
    method: str = option(
        default="attention", help="The explanation that is audited (glasshead list explainers)."
    )
    references: tuple[str, ...] = option(
        default=(),
        help="For agreement: more explanations to compare it with, besides gradients and weight removal.",
        metavar="A,B,…",
        read=readers.names,
    )
    by: tuple[str, ...] = option(
        default=(),
        help="Every finding also for each slice of the texts: class, length, correct, confidence, "
        "identifiability, or a column of the data; may be repeated.",
        metavar="SLICE",
        read=readers.each,
        repeated=True,
    )
    level: Literal["word", "sentence"] = option(
        default="word", help="word, or sentence where a model reads sentences."
    )
    draws: int | None = option(
        default=None,
        help="Draws of a perturbation test, at most 1000; else 100, or 20 where slow.",
        least=1,
        most=1000,
    )
    layers: Any = option(
        default=None,
        help=f"{FOR_IDENTIFIABILITY}layers; else the one that is read.",
        metavar="all|A,B,…",
        read=readers.numbers,
    )
    heads: Any = option(
        default=None, help=f"{FOR_IDENTIFIABILITY}heads; else all.", metavar="all|A,B,…", read=readers.numbers
    )
    rows: Any = option(
        default=None,
        help=f"{FOR_IDENTIFIABILITY}rows of a map; else the one that is read.",
        metavar="cls|last|all|A,B,…",
        read=readers.numbers_or_name,
    )
    top: int | None = option(
        default=None, help=f"{FOR_IDENTIFIABILITY}only this many weights of a row, the largest.", least=1
    )
    tolerance: float = option(
        default=0.0,
        help=f"{FOR_IDENTIFIABILITY}how far a head's output may move, relative to its size.",
        least=0,
    )
    processes: int | None = option(
        default=None,
        help=f"{FOR_IDENTIFIABILITY}processes; else one for each core, and in Python one.",
        least=1,
        measures=False,
    )
    budget: float | str | None = option(
        default=None,
        help="Measure random texts for about this long (90s, 10m, 2h), then judge those; --resume goes on.",
        metavar="TIME",
        read=readers.seconds,
        measures=False,
    )
    until_decided: tuple[str, ...] = option(
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
    """Which explanations are held against each other, on which data."""

    methods: tuple[str, ...] = option(
        kw_only=False,
        default=("attention", "gradient", "erasure"),
        help="Explanations to compare (glasshead list explainers).",
        metavar="A,B,…",
        read=readers.names,
    )
    removals: tuple[str, ...] | None = option(
        default=None,
        help="Meanings of deleting a word (glasshead list removals); else all that the model allows.",
        metavar="A,B,…",
        read=readers.names,
    )
    statistic: str = option(
        default="comprehensiveness",
        help="What the conclusion rests on: comprehensiveness, sufficiency, deletion or insertion.",
        measures=False,
    )


class HeadsRequest(MeasuringRequest):
    """Which model is asked what its heads do, before which texts."""

    texts: Any = option(
        default=(),
        help="Draw the maps of this text, or image file (again for more); else of the first two.",
        flag="--text",
        read=readers.each,
        repeated=True,
        measures=False,
    )
    effects: bool = option(
        flag="--effects/--no-effects",
        default=True,
        help="Measure what the predictions lose without each head, which takes a pass for every head.",
        measures=False,  # else fewer rows are measured
    )
