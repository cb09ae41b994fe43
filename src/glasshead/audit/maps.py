"""The maps of a model that need not predict anything: identifiability is a question about heads alone."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from datasets import Dataset
from transformers import PreTrainedModel, PreTrainedTokenizerFast

from glasshead.attention.mechanism import spell
from glasshead.audit.card import jsonable
from glasshead.audit.identifiability import Identifiability, columns, findings, floats
from glasshead.data.encode import Encoded, encode, joined
from glasshead.errors import InputError
from glasshead.identifiability import HeadRow, Where, head_rows
from glasshead.registration import SPEC
from glasshead.results import EXACT, Attribution, AuditCard, Highlight
from glasshead.training.run import versions

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
        InputError: if there is no text, every text is empty, or the model has no such layer, head or row.
    """
    started = time.perf_counter()
    progress("reading the texts")
    indices = np.arange(len(split))
    if limit is not None and limit < len(split):
        indices = np.sort(np.random.default_rng(seed).choice(len(split), limit, replace=False))
    part = split.select(indices)
    firsts = list(part["text"][:])
    seconds = list(part["text_pair"][:]) if "text_pair" in part.column_names else None
    encoded = encode(tokenizer, firsts, seconds)
    texts = firsts if seconds is None else list(map(joined, firsts, seconds))
    if not encoded.mask.any():
        raise InputError("there is no text to audit: every text is empty")
    progress("identifiability")
    heads, told = asked.survey(model, tokenizer, encoded, Where(), seed)
    spec = getattr(model.config, SPEC, None)
    return AuditCard(
        facts={
            "name": f"{folder.resolve().name} · {spell(spec) if spec else 'attention'}",
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
        highlights=list(shown(model, tokenizer, encoded, texts, heads, asked, seed)),
        examples={
            "index": indices.tolist(),
            "text": texts,
            "tokens": encoded.mask.sum(dim=1).tolist(),
        }
        | {name: jsonable(each) for name, each in columns(heads, np.arange(len(texts)), len(texts)).items()},
    )


def shown(
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
        found = head_rows(model, encoded.some(np.array([text])), Where((layer,), (head,), (row,)))
        map_ = next(each for batch in found for each in batch if each.part == part)
        seen = map_.intervals(asked.asked.tolerance)
        yield Highlight(
            reason="surest map" if sure else "least sure map",
            label="",
            attribution=drawn(tokenizer, encoded, text, texts[text], map_, seen.low, seen.high),
            faithfulness=None,
        )


def drawn(
    tokenizer: PreTrainedTokenizerFast,
    encoded: Encoded,
    place: int,
    text: str,
    row: HeadRow,
    low: np.ndarray,
    high: np.ndarray,
) -> Attribution:
    """One row of one head as a map over the text."""
    keep = encoded.mask[place].numpy()
    ids = encoded.ids[place].numpy()[keep].tolist()
    scores = np.zeros(len(ids))
    scores[row.keys] = row.weights
    ends: list[tuple[float | None, float | None] | None] = [(0.0, 0.0)] * len(ids)
    for key, a, b in zip(row.keys.tolist(), low.tolist(), high.tolist(), strict=True):
        ends[key] = None if np.isnan(a) else tuple(x if np.isfinite(x) else None for x in (a, b))
    return Attribution(
        text=text,
        tokens=tuple(tokenizer.convert_ids_to_tokens(ids)),
        ids=tuple(ids),
        words=tuple(encoded.words[place][keep].tolist()),
        offsets=tuple((int(a), int(b)) for a, b in encoded.offsets[place][keep]),
        scores=tuple(scores.tolist()),
        signed=bool((scores < 0).any()),
        target="",
        predicted="",
        prediction=0.0,
        method="attention",
        intervals=tuple(ends),
        reading=f"layer {row.layer} ({row.name}), head {row.head}, row {row.row}",
    )
