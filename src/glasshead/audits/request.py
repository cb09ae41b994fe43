"""What an audit is asked to do."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, TypedDict

import torch
from datasets import Dataset, DatasetDict
from transformers import PreTrainedTokenizerBase

from glasshead.audits.identifiability import Identifiability
from glasshead.cluster import Cluster
from glasshead.errors import ParameterError
from glasshead.explainers import check_heads, find_explainer
from glasshead.nouns import TEXTS
from glasshead.opening import OpenOptions
from glasshead.options import check_instances
from glasshead.results import ATTENTION
from glasshead.trace import AttentionSelector

if TYPE_CHECKING:
    import pandas as pd

IDENTIFIABILITY = "identifiability"
"""The one audit that needs no prediction."""


class OnProgress(Protocol):
    """Called with what is being done and, where that is known, which share of it is behind."""

    def __call__(self, stage: str, share: float | None = None) -> None: ...


def no_progress(stage: str, share: float | None = None) -> None:
    """Nobody watches."""


class StageProgress:
    """Tells ``progress`` which stage runs, and how many texts, or other inputs by their ``nouns``, it has
    read."""

    def __init__(self, progress: OnProgress) -> None:
        self.progress, self.stage, self.nouns = progress, "", TEXTS

    def begin(self, stage: str) -> None:
        """From here on another stage runs."""
        self.stage = stage
        self.progress(stage)

    def on_texts(self, done: int, total: int) -> None:
        """So many of the texts are done."""
        self.progress(f"{self.stage}: {done:,} of {total:,} {self.nouns.texts}", done / total)

    def on_share(self, done: int, total: int) -> None:
        """Such a share of the stage is done."""
        self.progress(f"{self.stage}: {done / total:.0%}", done / total)


class SubjectOptions(TypedDict, total=False):
    """What can be said of a model and its data: which ``split`` (train, dev, test or all) and how to read it
    (``text_column``, ``label_column``, ``marks_column``, ``classes``, ``task`` and, as ``load_options``, any
    field of `glasshead.data.LoadOptions`), to how many tokens texts are cut
    (``max_length``), which attention is read (``attention_selector``), the ``train`` data of a model that
    Glasshead did not train, names for its classes (``labels``), ``trust_remote_code``, on which ``device``
    the model is read and in which precision (``dtype``; float64, in which ties and tiny changes are real),
    into how many ``blocks`` in each direction images are divided, and whom to tell of ``progress``."""

    split: str
    text_column: str
    label_column: str
    marks_column: str
    classes: Sequence[str]
    task: str
    load_options: Mapping[str, Any]
    max_length: int | None
    attention_selector: AttentionSelector | None
    train: str | Path | Dataset | DatasetDict | pd.DataFrame | list[dict[str, Any]]
    labels: Mapping[str, str]
    trust_remote_code: bool
    device: str | torch.device | None
    dtype: str | torch.dtype
    blocks: int | None
    progress: OnProgress


READING = ("text_column", "label_column", "marks_column", "classes", "task")
"""Fields of `LoadOptions` that messages name, so that they can be given as they are named."""


def subject_settings(options: SubjectOptions) -> dict[str, Any]:
    """The same as fields of a `SubjectRequest`."""
    values: Mapping[str, Any] = {**options}
    check_instances(options, {"attention_selector": AttentionSelector})
    columns = {name: values[name] for name in READING if values.get(name) is not None}
    return {
        "split": options.get("split"),
        "load_options": {**(options.get("load_options") or {}), **columns},
        "max_length": options.get("max_length"),
        "attention_selector": options.get("attention_selector") or AttentionSelector(),
        "train": options.get("train"),
        "opening": OpenOptions(
            options.get("labels") or {},
            trust_remote_code=options.get("trust_remote_code") or False,
            device=options.get("device"),
        ),
        "dtype": options.get("dtype") or torch.float64,
        "blocks": options.get("blocks"),
    }


@dataclass(frozen=True)
class SubjectRequest:
    """Which model is asked about which data, and how both are read.

    ``model`` and ``tokenizer`` are what `glasshead.open` takes, ``data`` and ``train`` a source or a data set
    in memory. ``load_options`` are fields of `LoadOptions` that differ from those of a run; ``limit`` is the
    size of a random part of the texts; in ``dtype`` scores, weights and gradients are computed. Images are
    divided into so many ``blocks`` in each direction, whose patches are one unit (0: each patch is one; None:
    4), and if ``limit`` is None, 20 of them are read.
    """

    model: object
    data: object
    split: str | None = None
    load_options: Mapping[str, Any] = field(default_factory=dict)
    limit: int | None = None
    seed: int = 0
    max_length: int | None = None
    attention_selector: AttentionSelector = field(default_factory=AttentionSelector)
    train: object = None
    tokenizer: PreTrainedTokenizerBase | None = None
    opening: OpenOptions = field(default_factory=OpenOptions)
    dtype: str | torch.dtype = torch.float64
    blocks: int | None = None

    @property
    def name(self) -> str:
        """What the model is called."""
        if isinstance(self.model, str | Path):
            return Path(self.model).resolve().name
        return getattr(self.model, "name", None) or type(self.model).__name__


@dataclass(frozen=True)
class AuditRequest(SubjectRequest):
    """The same, by which audits (None: all that have a meaning), and of which explanation.

    ``method`` is the explanation that is audited, the name of an explainer; ``by`` is what findings are
    sliced by (class, length, correct, confidence, identifiability, or a column of the data); ``draws`` of
    None are as many as a
    perturbation test takes by itself. The workers of a ``cluster`` are asked what the model says of texts
    without some of their tokens. In ``store`` the audits that have ended are kept, so that the same request
    goes on there (None: it begins anew).

    Raises:
        InputError: on an unknown method, and on one whose package is missing.
    """

    audits: tuple[str, ...] | None = None
    draws: int | None = None
    identifiability: Identifiability | None = None
    by: tuple[str, ...] = ()
    method: str = ATTENTION
    cluster: Cluster | None = None
    store: Path | None = None

    def __post_init__(self) -> None:
        explainer = find_explainer(self.method)
        check_heads(explainer, self.attention_selector)
        if explainer.reads_weights and self.attention_selector.combines_heads:
            raise ParameterError("head", "is a number or mean in an audit of attention weights")
