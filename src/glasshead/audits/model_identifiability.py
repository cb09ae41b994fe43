"""The maps of a model that need not predict anything: identifiability is a question about heads alone."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from datasets import Dataset
from transformers import PreTrainedModel, PreTrainedTokenizerFast

from glasshead.attention import to_name
from glasshead.audits.context import subsample, texts_of
from glasshead.audits.identifiability import Identifiability, columns, findings, floats
from glasshead.audits.run import jsonable
from glasshead.data import Encoded, encode
from glasshead.errors import InputError
from glasshead.explainers import IntervalVector, token_fields
from glasshead.huggingface import spec_of
from glasshead.identifiability import AttentionRow, Intervals, RowSelector, attention_rows
from glasshead.results import EXACT, Attribution, AuditCard, Highlight
from glasshead.training import versions

SHOWN = 4  # texts whose surest map is drawn, and as many whose least sure one is
READABLE = 4  # words that such a text has at least
NOTES = (
    "Of this model no predictions are read, only its heads: each number is about one row of the map of one "
    "head before one text, and texts are the units of the intervals.",
    "Weights and values are computed in float32, ranks and linear programs in float64.",
)


def audit_maps(
    model: PreTrainedModel,
    tokenizer: PreTrainedTokenizerFast,
    folder: Path,
    split: Dataset,
    asked: Identifiability,
    *,
    limit: int | None = None,
    seed: int = 0,
    about: Mapping[str, Any] | None = None,
    progress: Callable[[str], None] = lambda stage: None,
) -> AuditCard:
    """Ask of every chosen head of any readable model whether its maps are the only ones.

    Raises:
        InputError: on a limit below 1, if there is no text or every text is empty, or if the model has no
            such layer, head or row.
    """
    started = time.perf_counter()
    progress("reading the texts")
    indices, split = subsample(split, limit, seed)
    firsts, seconds, texts = texts_of(split)
    encoded = encode(tokenizer, firsts, seconds)
    if not encoded.mask.any():
        raise InputError("there is no text to audit: every text is empty")
    progress("identifiability")
    heads, told = asked.survey(model, tokenizer, encoded, RowSelector(), seed)
    spec = spec_of(model.config)
    return AuditCard(
        facts={
            "name": f"{folder.resolve().name} · {to_name(spec) if spec else 'attention'}",
            "run": str(folder),
            "model": type(model).__name__,
            "examples": len(texts),
            "empty_texts": int((~encoded.mask.any(dim=1)).sum()),
            "truncated_to": tokenizer.model_max_length,
            "audit_seed": seed,
            "versions": versions(),
            "notes": list(NOTES),
            "seconds": round(time.perf_counter() - started, 2),
        }
        | told
        | dict(about or {}),
        findings=list(findings(heads, len(texts), np.random.default_rng([seed, 8]))),
        highlights=list(shown_rows(model, tokenizer, encoded, texts, heads, asked, seed)),
        examples={
            "index": indices.tolist(),
            "text": texts,
            "tokens": encoded.mask.sum(dim=1).tolist(),
        }
        | {name: jsonable(each) for name, each in columns(heads, np.arange(len(texts)), len(texts)).items()},
    )


def shown_rows(
    model: PreTrainedModel,
    tokenizer: PreTrainedTokenizerFast,
    encoded: Encoded,
    texts: Sequence[str],
    heads: Mapping[str, Any],
    asked: Identifiability,
    seed: int,
) -> Iterator[Highlight]:
    """Of some texts the map with the narrowest intervals on average, of others that with the widest."""
    widths = floats(heads["width"])
    readable = np.flatnonzero((encoded.words >= 0).sum(axis=1) >= READABLE)
    for rank, text in enumerate(np.random.default_rng([seed, 9]).permutation(readable)[: 2 * SHOWN].tolist()):
        mine = np.flatnonzero((heads["text"] == text) & ~np.isnan(widths))
        if not len(mine):
            continue
        sure = rank % 2 == 0 or widths[mine].max() <= EXACT
        line = mine[widths[mine].argmin() if sure else widths[mine].argmax()]
        layer, head, row, part = (int(heads[name][line]) for name in ("layer", "head", "row", "part"))
        found = attention_rows(model, encoded.some(np.array([text])), RowSelector((layer,), (head,), (row,)))
        map_ = next(each for batch in found for each in batch if each.part == part)
        seen = map_.intervals(asked.query.tolerance)
        yield Highlight(
            reason="surest map" if sure else "least sure map",
            label="",
            attribution=map_of(tokenizer, encoded, text, texts[text], map_, seen),
            faithfulness=None,
        )


def map_of(
    tokenizer: PreTrainedTokenizerFast,
    encoded: Encoded,
    place: int,
    text: str,
    row: AttentionRow,
    seen: Intervals,
) -> Attribution:
    """One row of one head as a map over the text; what it may not attend to has no weight."""
    ends = IntervalVector.zeros(int(encoded.mask[place].sum()))
    for mine, theirs in ((ends.value, row.weights), (ends.low, seen.low), (ends.high, seen.high)):
        mine[row.keys] = theirs
    return Attribution(
        text=text,
        **token_fields(tokenizer, encoded, place),
        scores=tuple(ends.value.tolist()),
        signed=bool((ends.value < 0).any()),
        target="",
        predicted="",
        prediction=0.0,
        method="attention",
        intervals=ends.intervals(),
        conditioning=seen.conditioning,
        reading=f"layer {row.layer} ({row.name}), head {row.head}, row {row.row}",
    )
