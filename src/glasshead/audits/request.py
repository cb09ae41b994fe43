"""Audit what lies in a folder: a run by all audits, any other model by identifiability alone."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any, Protocol

from transformers import PreTrainedTokenizerFast

from glasshead.audits.identifiability import Identifiability
from glasshead.audits.model_identifiability import audit_maps
from glasshead.audits.run import audit
from glasshead.data import LoadOptions, load, select
from glasshead.errors import InputError, ParameterError
from glasshead.results import AuditCard
from glasshead.trace import AttentionSelector
from glasshead.training import is_run, load_run, open_model

IDENTIFIABILITY = "identifiability"
"""The one audit that needs no prediction."""


class OnProgress(Protocol):
    """Called with what is being done and, where that is known, which share of it is behind."""

    def __call__(self, stage: str, share: float | None = None) -> None: ...


@dataclass(frozen=True)
class AuditRequest:
    """What is audited, on which data, by which audits (None: all that have a meaning).

    ``load_options`` are fields of `LoadOptions` that differ from those of the run; ``limit`` is the size of a
    random part of the texts; ``draws`` of None are as many as a perturbation test takes by itself.
    """

    folder: Path
    data: str
    split: str = "test"
    load_options: Mapping[str, Any] = field(default_factory=dict)
    audits: tuple[str, ...] | None = None
    limit: int | None = None
    seed: int = 0
    max_length: int | None = None
    reading: AttentionSelector = field(default_factory=AttentionSelector)
    draws: int | None = None
    identifiability: Identifiability = field(default_factory=Identifiability)


def audit_folder(request: AuditRequest, progress: OnProgress = lambda stage, share=None: None) -> AuditCard:
    """Load a run and the data as the run read them, and audit.

    A folder with any other model is asked about identifiability, which needs no prediction.

    Raises:
        InputError: on a folder that is no run, with other audits, and as `audit`.
    """
    folder = request.folder
    if is_run(folder):
        return audit_run(request, progress)
    if request.audits != (IDENTIFIABILITY,):
        if (folder / "config.json").is_file():
            raise InputError(
                f"{folder} is a model, but no run of glasshead: ask it the audit 'identifiability' alone"
            )
        load_run(folder)  # says what is wrong with it
    return audit_model(request, progress)


def audit_run(request: AuditRequest, progress: OnProgress) -> AuditCard:
    """All audits that are wanted, of a run."""
    run = load_run(request.folder)
    source = run.record["data"]
    options = source.get("options", {}) | dict(request.load_options)
    if request.data != source.get("source"):
        options.pop("generator", None)  # the sizes of one synthetic set say nothing about other data
    load_options = LoadOptions(**options)
    part = select(load(request.data, load_options), request.split, request.data)
    limit_length(run.tokenizer, request.max_length)
    facts = data_facts(request, load_options)
    if request.data != source.get("source"):
        facts["trained_on"] = source.get("source")
    return audit(
        run,
        part,
        audits=request.audits,
        limit=request.limit,
        seed=request.seed,
        reading=request.reading,
        draws=request.draws,
        identifiability=with_progress(request.identifiability, progress),
        facts=facts,
        progress=progress,
    )


def audit_model(request: AuditRequest, progress: OnProgress) -> AuditCard:
    """Identifiability of any readable model.

    Raises:
        InputError: on options of other audits, and as `audit_maps`.
    """
    load_options = LoadOptions(**request.load_options)
    part = select(load(request.data, load_options), request.split, request.data)
    reading = request.reading
    if reading.is_customised or reading.level != "word" or request.draws is not None:
        raise InputError(
            "`layer`, `head`, `row`, `level` and `draws` are for other audits: use `layers`, `heads` and "
            "`rows`"
        )
    model, tokenizer = open_model(request.folder)
    limit_length(tokenizer, request.max_length)
    return audit_maps(
        model,
        tokenizer,
        request.folder,
        part,
        with_progress(request.identifiability, progress),
        limit=request.limit,
        seed=request.seed,
        about=data_facts(request, load_options),
        progress=progress,
    )


def data_facts(request: AuditRequest, options: LoadOptions) -> dict[str, Any]:
    """What a card records about its data."""
    return {"data": request.data, "split": request.split, "data_options": asdict(options)}


def with_progress(identifiability: Identifiability, progress: OnProgress) -> Identifiability:
    """The same audit, which says how many texts it has read."""

    def on_texts(done: int, total: int) -> None:
        progress(f"identifiability: {done:,} of {total:,} texts", done / total)

    return replace(identifiability, progress=on_texts)


def limit_length(tokenizer: PreTrainedTokenizerFast, max_length: int | None) -> None:
    """Let a tokenizer cut texts to so many tokens, if it did not cut them shorter before.

    Raises:
        InputError: if there would be no room for a word.
    """
    if max_length is None:
        return
    least = tokenizer.num_special_tokens_to_add(pair=True) + 2
    if max_length < least:
        raise ParameterError("max_length", f"{max_length} leaves no room for words: give at least {least}")
    tokenizer.model_max_length = min(tokenizer.model_max_length, max_length)
