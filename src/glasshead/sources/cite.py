"""Which passages an answer came from, and how sure that is: `glasshead.cite`."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from glasshead.generation import open_writer, writing_model
from glasshead.huggingface import class_name, lend_copy
from glasshead.opening import OpenOptions
from glasshead.requests import CiteRequest, takes
from glasshead.results import Cited, Foretelling, Statement
from glasshead.sources.citing import Citing, set_up
from glasshead.sources.datamodeling_score import (
    can_be_foretold,
    foretell,
    foretell_by_sum,
    surrogate_predictions,
)
from glasshead.sources.passage_shares import check_beside, read_shares
from glasshead.sources.passages import read_passages
from glasshead.sources.prompts import describe
from glasshead.sources.removals import Masks
from glasshead.torch_modes import in_own_modes


@takes(CiteRequest)
def cite(request: CiteRequest) -> Cited:
    """Find the passages of a context that an answer and each of its sentences came from, with intervals.

    The model answers after reading all passages (or ``answer`` is given), and log p of these tokens is
    computed again with passages removed. ``contextcite`` keeps each passage with probability ½ and fits a
    sparse linear surrogate to the log-odds; ``shapley`` is the mean over orders of what a passage adds;
    ``leave-one-out`` is the fall if only this passage is removed. A passage is a source if its 95 %
    interval, for all passages at once, lies above a tenth of what all passages add, and if the answer is
    less probable without it, or at least half as probable with it alone as with all. The strongest are also
    removed in pairs: either may be enough, or both needed. Within sources, sentences and then words are
    deleted one by one.

    Raises:
        InputError: if the model cannot be opened or writes no text, if the context has no passage, and if
            passages cannot be masked (``removal``).
    """
    return run_citing(request)


@in_own_modes
def run_citing(request: CiteRequest) -> Cited:
    """Open the model of a request, let it answer, remove passages, and judge.

    Raises:
        InputError: as `cite`.
    """
    check_beside(request)
    passages = read_passages(request.context, request.split)
    say = request.tell
    say("loading")
    subject = open_writer(request.model, request.tokenizer, OpenOptions.of(request, dtype=request.dtype))
    model = writing_model(subject)
    started = time.perf_counter()
    with lend_copy(model) as classifier:
        citing = set_up(
            subject,
            classifier,
            passages,
            request.question,
            request.answer,
            request,
            method=request.method,
            say=say,
        )
        statements, notes = beside(citing, citing.statements())
    frame, scorer = citing.remover.frame, citing.remover.scorer
    facts = {
        "method": request.method,
        "removal": request.removal,
        "draws": request.draws,
        "placed": describe(frame),
        "written": request.answer is None,
        "passes": scorer.passes,
        "tokens": scorer.tokens_read,
        "seconds": time.perf_counter() - started,
        "seed": request.seed,
        "class": class_name(subject.model),
    }
    question = request.question if isinstance(request.question, str) else request.question[-1]["content"]
    return Cited(
        subject.name,
        question,
        citing.answer.text,
        tuple(passages),
        tuple(statements),
        frame.render([one.text for one in passages]),
        facts,
        (*subject.notes, *notes),
    )


def beside(citing: Citing, statements: Sequence[Statement]) -> tuple[list[Statement], Sequence[str]]:
    """The statements with what other methods say of the passages, and how well these and the method predict
    ablations; and why one says nothing."""
    read = read_shares(citing)
    found = []
    for statement in statements:
        own = citing.answer.tokens_of((statement.start, statement.stop))
        shares = read.of(own)
        foretold = foretell_all(citing, *citing.ablations(own), shares, len(own))
        found.append(replace(statement, maps=shares, foretells=foretold))
    return found, read.notes


def foretell_all(
    citing: Citing, subsets: Masks, outputs: Any, shares: Mapping[str, tuple[float, ...]], tokens: int
) -> dict[str, Foretelling]:
    """How well the surrogate and the shares predict ablations, where these can show it."""
    if not can_be_foretold(subsets, outputs):
        return {}
    found, seed = {}, citing.request.seed
    if citing.method == "contextcite":
        predicted = surrogate_predictions(subsets, outputs, tokens, seed)
        found["contextcite"] = foretell(predicted, outputs, seed)
    for name, own in shares.items():
        found[name] = foretell_by_sum(np.array(own), subsets, outputs, seed)
    return found
