"""The maps of a model that need not predict anything: identifiability is a question about heads alone."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from datetime import date
from pathlib import Path
from typing import Any

import numpy as np
from datasets import Dataset
from transformers import PreTrainedModel, PreTrainedTokenizerBase

from glasshead.attention import to_name
from glasshead.audits.identifiability import IDENTIFIABILITY, Identifiability, columns_per_text, map_findings
from glasshead.audits.judging.conclude import conclude
from glasshead.audits.judging.map_statistics import floats
from glasshead.audits.judging.table import jsonable
from glasshead.audits.measuring.data_view import sample_split, texts_of
from glasshead.audits.measuring.progress import StageProgress
from glasshead.data import Encoded, reader_of
from glasshead.errors import InputError
from glasshead.explainers import IntervalVector, token_fields
from glasshead.huggingface import Inputs, ask_usual, class_name, spec_of
from glasshead.identifiability import AttentionRow, Intervals, RowSelector, attention_rows, usual_rows
from glasshead.nouns import INPUTS
from glasshead.requests import AuditRequest
from glasshead.results import POINT_WIDTH, AttentionUse, Attribution, AuditCard, Highlight
from glasshead.trace import attention_use
from glasshead.training import versions

MAPS_SHOWN = 4  # texts whose surest map is drawn, and as many whose least sure one is
FEWEST_TOKENS = 4  # words that such a text has at least
HEADS_ALONE_NOTES = (
    "Only the heads of this model are analysed, not its predictions: each number is about one row of "
    "the map of one head for one {text}; {texts} are the units of the intervals.",
    "Weights and values are computed in float32, ranks and linear programs in float64.",
)


def audit_heads(
    model: PreTrainedModel,
    tokenizer: PreTrainedTokenizerBase,
    split: Dataset,
    request: AuditRequest,
    *,
    facts: Mapping[str, Any],
    stages: StageProgress,
) -> AuditCard:
    """Ask of the heads that the request names, of any readable model, whether their maps are the only ones.

    ``facts`` about the data go into the card.

    Raises:
        InputError: on a limit below 1, if there is no text or every text is empty, or if the model has no
            such layer, head or row.
    """
    started = time.perf_counter()
    nouns = reader_of(tokenizer).nouns
    stages.nouns = nouns
    stages.begin(f"reading the {nouns.texts}")
    indices, split = sample_split(split, request.limit, request.seed)
    firsts, seconds, texts = texts_of(split)
    encoded = ask_usual(model, Inputs.read(tokenizer, firsts, seconds))
    if not encoded.mask.any():
        raise InputError("there is no text to audit: every text is empty")
    stages.begin(IDENTIFIABILITY)
    identifiability, seed = Identifiability.of(request), request.seed
    heads, map_facts = identifiability.compute_intervals(
        model, tokenizer, encoded, usual_rows(model, encoded), seed, stages.on_texts
    )
    spec = spec_of(model.config)
    card = AuditCard(
        facts={
            "name": f"{request.name} · {to_name(spec) if spec else 'attention'}",
            "run": str(request.model) if isinstance(request.model, str | Path) else request.name,
            "model": class_name(model),
            "examples": len(texts),
            INPUTS: nouns.texts,
            "empty_texts": int((~encoded.mask.any(dim=1)).sum()),
            "truncated_to": tokenizer.model_max_length,
            "attention_use": AttentionUse(before=None, after=attention_use(model, encoded)),
            "audit_seed": seed,
            "versions": versions(),
            "notes": list(map(nouns.fill, HEADS_ALONE_NOTES)),
            "date": date.today().isoformat(),
            "seconds": round(time.perf_counter() - started, 2),
        }
        | map_facts
        | dict(facts),
        findings=list(map_findings(heads, len(texts), np.random.default_rng([seed, 8]), nouns)),
        highlights=list(row_highlights(model, tokenizer, encoded, texts, heads, request)),
        examples={
            "index": indices.tolist(),
            "text": texts,
            "tokens": encoded.mask.sum(dim=1).tolist(),
        }
        | {
            name: jsonable(values)
            for name, values in columns_per_text(heads, np.arange(len(texts)), len(texts)).items()
        },
    )
    return conclude(card)


def row_highlights(
    model: PreTrainedModel,
    tokenizer: PreTrainedTokenizerBase,
    encoded: Encoded,
    texts: Sequence[str],
    heads: Mapping[str, Any],
    request: AuditRequest,
) -> Iterator[Highlight]:
    """The map with the narrowest intervals on average of some texts, and with the widest of others."""
    widths = floats(heads["width"])
    readable = np.flatnonzero((encoded.words >= 0).sum(axis=1) >= FEWEST_TOKENS)
    shuffled = np.random.default_rng([request.seed, 9]).permutation(readable)
    for rank, text in enumerate(shuffled[: 2 * MAPS_SHOWN].tolist()):
        lines = np.flatnonzero((heads["text"] == text) & ~np.isnan(widths))
        if not len(lines):
            continue
        sure = rank % 2 == 0 or widths[lines].max() <= POINT_WIDTH
        line = lines[widths[lines].argmin() if sure else widths[lines].argmax()]
        layer, head, row, part = (int(heads[name][line]) for name in ("layer", "head", "row", "part"))
        row_selector = RowSelector((layer,), (head,), (row,))
        batches = attention_rows(model, encoded.some(np.array([text])), row_selector)
        attention_row = next(row for batch in batches for row in batch if row.part == part)
        intervals = attention_row.intervals(request.tolerance)
        yield Highlight(
            reason="surest map" if sure else "least sure map",
            label="",
            attribution=row_attribution(tokenizer, encoded, text, texts[text], attention_row, intervals),
            faithfulness=None,
        )


def row_attribution(
    tokenizer: PreTrainedTokenizerBase,
    encoded: Encoded,
    index: int,
    text: str,
    row: AttentionRow,
    intervals: Intervals,
) -> Attribution:
    """One row of one head as a map over the text; what it may not attend to has no weight."""
    weights = IntervalVector.zeros(int(encoded.mask[index].sum()))
    weights.value[row.keys] = row.weights
    weights.low[row.keys] = intervals.low
    weights.high[row.keys] = intervals.high
    return Attribution(
        text=text,
        **token_fields(tokenizer, encoded, index),
        scores=tuple(weights.value.tolist()),
        signed=bool((weights.value < 0).any()),
        target="",
        predicted="",
        prediction=0.0,
        method="attention",
        intervals=weights.intervals(),
        conditioning=intervals.conditioning,
        reading=f"layer {row.layer} ({row.name}), head {row.head}, row {row.row}",
    )
