"""Audit what lies in a folder: a run by all audits, any other model by identifiability alone.

The chain: `audit_folder` sees what lies there; `audit_run_folder` loads a run and calls `audit`;
`audit_model_folder` loads any other model and calls `audit_heads`. Both end in an `AuditCard`.
"""

from dataclasses import asdict, replace
from typing import Any

from transformers import PreTrainedTokenizerFast

from glasshead.audits.audit_heads import audit_heads
from glasshead.audits.audit_run import audit
from glasshead.audits.identifiability import Identifiability
from glasshead.audits.request import IDENTIFIABILITY, AuditRequest, OnProgress
from glasshead.data import LoadOptions, load, select
from glasshead.errors import InputError, ParameterError
from glasshead.results import AuditCard
from glasshead.training import is_run, load_run, open_model


def audit_folder(request: AuditRequest, progress: OnProgress = lambda stage, share=None: None) -> AuditCard:
    """Audit the model of a folder on the data of the request.

    Of a folder that is no run only identifiability can be asked, which needs no prediction.

    Raises:
        InputError: on a folder that is no run, with other audits, and as `audit`.
    """
    folder = request.folder
    if is_run(folder):
        return audit_run_folder(request, progress)
    if request.audits != (IDENTIFIABILITY,):
        if (folder / "config.json").is_file():
            raise InputError(
                f"{folder} is a model, but no run of glasshead: ask it the audit 'identifiability' alone"
            )
        load_run(folder)  # says what is wrong with it
    return audit_model_folder(request, progress)


def audit_run_folder(request: AuditRequest, progress: OnProgress) -> AuditCard:
    """Load a run, and the data as it read them, and ask the audits of the request."""
    run = load_run(request.folder)
    trained_on = run.record["data"]
    options = trained_on.get("options", {}) | dict(request.load_options)
    if request.data != trained_on.get("source"):
        options.pop("generator", None)  # the sizes of one synthetic set say nothing about other data
    load_options = LoadOptions(**options)
    split = select(load(request.data, load_options), request.split, request.data)
    limit_length(run.tokenizer, request.max_length)
    facts = data_facts(request, load_options)
    if request.data != trained_on.get("source"):
        facts["trained_on"] = trained_on.get("source")
    return audit(
        run,
        split,
        audits=request.audits,
        limit=request.limit,
        seed=request.seed,
        attention_selector=request.attention_selector,
        draws=request.draws,
        identifiability=with_progress(request.identifiability, progress),
        facts=facts,
        progress=progress,
    )


def audit_model_folder(request: AuditRequest, progress: OnProgress) -> AuditCard:
    """Load any readable model, and the data, and ask about identifiability.

    Raises:
        InputError: on options of other audits, and as `audit_heads`.
    """
    load_options = LoadOptions(**request.load_options)
    split = select(load(request.data, load_options), request.split, request.data)
    attention_selector = request.attention_selector
    if attention_selector.is_customised or attention_selector.level != "word" or request.draws is not None:
        raise InputError(
            "`layer`, `head`, `row`, `level` and `draws` are for other audits: use `layers`, `heads` and "
            "`rows`"
        )
    model, tokenizer = open_model(request.folder)
    limit_length(tokenizer, request.max_length)
    request = replace(request, identifiability=with_progress(request.identifiability, progress))
    return audit_heads(
        model, tokenizer, split, request, facts=data_facts(request, load_options), progress=progress
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
