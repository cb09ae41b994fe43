"""Exchange activations between texts that differ in what decides the answer: `glasshead.patch`."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
from transformers import PreTrainedModel

from glasshead.data import coverage
from glasshead.errors import InputError, ParameterError
from glasshead.huggingface import class_name, lend_copy
from glasshead.inside.judge_patching import judge
from glasshead.inside.pairs import Pairs, make_pairs, read_rows, tokens_of
from glasshead.inside.patching import Effects, Exchange, exchange
from glasshead.inside.paths import Receiver
from glasshead.inside.sites import HEADS
from glasshead.opening import OpenOptions, open_subject
from glasshead.progress import OnProgress
from glasshead.requests import PatchRequest, takes
from glasshead.results import PatchedPair, Patching
from glasshead.spelling import spell
from glasshead.torch_modes import in_own_modes


@takes(PatchRequest)
def patch(request: PatchRequest) -> Patching:
    """Find the heads, or the places of the residual stream, that carry the difference between clean and
    corrupted texts.

    Both texts of a pair have the same number of tokens. An activation a of the running text is replaced by
    that of the other, b, and the change of m = log p(answer) − log p(against) is measured: exactly, with a
    pass for each site, or to first order, ⟨∂m/∂a, b − a⟩. A site is shown to matter if it changes m by more
    than foreign activations do (those of another pair, or changes of equal size in a random direction),
    corrected for all sites, and if the model answers the two texts differently.

    Raises:
        InputError: if the model cannot be opened (`glasshead.open`) or has no layers whose parts can be
            exchanged, and if the texts of a pair differ in their number of tokens.
    """
    return run_patching(request)


@in_own_modes
def run_patching(request: PatchRequest) -> Patching:
    """Open the model of a request, exchange activations, and judge.

    Raises:
        InputError: as `patch`.
    """
    if request.n_steps > 1 and request.method == "exact":
        raise InputError(f"exact exchanges have no steps: leave {spell('n_steps')} out, or use attribution")
    into = None if request.into is None else Receiver.parse(request.into)
    if into is not None and (request.sites, request.method) != (HEADS, "exact"):
        raise ParameterError("into", "is for exact exchanges of heads: leave sites and method out")
    subject = open_subject(
        request.model, request.tokenizer, OpenOptions.of(request, dtype=request.dtype), shared=True
    )
    rows = some_rows(read_rows(request.pairs), request)
    pairs = make_pairs(subject.model, subject.tokenizer, rows)
    asked = Exchange(
        request.sites, request.direction, request.source, into=into, null=request.null, seed=request.seed
    )
    first = replace(asked, steps=request.n_steps)
    started = time.perf_counter()
    with lend_copy(subject.model) as model:
        say = partial(telling, request.tell)
        exact = None if request.method == "attribution" else exchange(model, pairs, asked, say("exchanging"))
        approximate = None if request.method == "exact" else exchange(model, pairs, first, say("gradients"))
        effects = exact or approximate
        assert effects is not None
        facts = {
            "name": subject.name,
            "model": class_name(model),
            "sites": request.sites,
            "direction": request.direction if request.source == "pair" else "",
            "source": request.source,
            "into": "" if into is None else str(into),
            "method": request.method,
            "unit": pairs.unit,
            "null": effects.null_name,
            "pairs": len(pairs),
            "passes": sum(one.passes for one in (exact, approximate) if one is not None),
            "seconds": time.perf_counter() - started,
            "seed": request.seed,
        }
        columns = columns_of(model, subject.tokenizer, pairs, effects, request.sites)
    shown = [pair_of(subject.tokenizer, pairs, effects, number) for number in range(len(pairs))]
    both = approximate if request.method == "both" else None
    found = judge(effects, asked, shown, columns, facts, both)
    read = coverage(subject.tokenizer, rows["clean"], None, pairs.clean)
    return replace(found, remarks=(*subject.notes, *read.lines("read"), *found.remarks))


def some_rows(rows: dict[str, list[Any]], request: PatchRequest) -> dict[str, list[Any]]:
    """As many random rows as were asked for, in their order."""
    count = len(next(iter(rows.values())))
    if request.limit is None or request.limit >= count:
        return rows
    kept = np.sort(np.random.default_rng(request.seed).choice(count, request.limit, replace=False))
    return {name: [values[row] for row in kept] for name, values in rows.items()}


def telling(progress: OnProgress, what: str) -> Callable[[int, int], None]:
    """What is told of how far an exchange is."""
    return lambda done, of: progress(what, done / of)


def columns_of(
    model: PreTrainedModel, tokenizer: Any, pairs: Pairs, effects: Effects, sites: str
) -> list[str]:
    """What the columns are called: heads by their numbers, tokens by their place from the last and, where all
    texts have it there, their word."""
    count = effects.change.shape[2]
    if sites == HEADS:
        return [str(head) for head in range(count)]
    texts = [*tokens_of(pairs.clean), *tokens_of(pairs.corrupted)]
    names = []
    for back in range(1, count + 1):
        found = {ids[-back] for ids in texts if len(ids) >= back}
        word = f" {tokenizer.decode([found.pop()]).strip()}" if len(found) == 1 else ""
        names.append(f"−{back}{word}")
    return names


def pair_of(tokenizer: Any, pairs: Pairs, effects: Effects, number: int) -> PatchedPair:
    """A pair as it is shown."""
    some = np.array([number])
    clean, corrupted = (
        [tokenizer.decode([token]) for token in tokens_of(encoded.some(some))[0]]
        for encoded in (pairs.clean, pairs.corrupted)
    )
    score = float(effects.score[number])
    return PatchedPair(clean, corrupted, *pairs.names[number], score, score + float(effects.total[number]))
