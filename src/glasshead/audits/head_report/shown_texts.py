"""The maps of all heads before some texts, to be drawn."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray
from transformers import PreTrainedModel, PreTrainedTokenizerBase

from glasshead.audits.head_report.views import START_TOKEN, attention_views
from glasshead.data import Encoded, UnitReader, join_pair, token_names
from glasshead.huggingface import Inputs, ask_usual
from glasshead.results import HeadText

Floats = NDArray[np.float32]


def draw_head_texts(
    model: PreTrainedModel,
    tokenizer: PreTrainedTokenizerBase | UnitReader,
    texts: Sequence[Any],
    pairs: Sequence[str] | None = None,
) -> Iterator[HeadText]:
    """Draw texts, pairs of them, or images, one after the other."""
    for index, text in enumerate(texts):
        pair = None if pairs is None else pairs[index]
        encoded = ask_usual(model, Inputs.read(tokenizer, [text], None if pair is None else [pair]))
        if encoded.mask.any():
            yield text_maps(model, tokenizer, encoded, str(text), pair)


def text_maps(
    model: PreTrainedModel,
    tokenizer: PreTrainedTokenizerBase | UnitReader,
    encoded: Encoded,
    text: str,
    pair: str | None,
) -> HeadText:
    """The maps of all heads before one text."""
    views = [view for batch in attention_views(model, encoded) for view in batch]
    keep = encoded.mask[0].numpy()
    size = int(keep.sum())
    words = encoded.words[0][keep]
    names = token_names(tokenizer, encoded.ids[0].numpy().tolist())
    tokens = [name for name, own in zip(encoded.name_tokens(0, names), keep, strict=True) if own]
    drawn: dict[str, Any] = {"text": join_pair(text, pair)} | encoded.drawing(0, join_pair(text, pair))
    decodes = any(START_TOKEN in view.queries for view in views if view.facts.kind != "pooled")
    weights: dict[int, Floats] = {}
    queries: dict[int, Floats] = {}
    keys: dict[int, Floats] = {}
    for view in views:
        layer, heads = view.facts.layer, len(view.weights)
        rows = 1 if view.facts.kind == "pooled" else size
        maps = weights.setdefault(layer, np.full((heads, rows, size), np.nan, dtype=np.float32))
        at = (np.arange(heads)[:, None, None], number_rows(view.queries)[:, None], number_rows(view.keys))
        maps[at] = np.where(view.allowed.cpu().numpy(), view.weights.float().cpu().numpy(), np.nan)
        for vectors, kept, places in (
            (view.query_vectors, queries, view.queries),
            (view.key_vectors, keys, view.keys),
        ):
            if vectors is not None:
                shape = (heads, rows if kept is queries else size, vectors.shape[-1])
                kept.setdefault(layer, np.zeros(shape, dtype=np.float32))[:, number_rows(places)] = (
                    vectors.float().cpu().numpy()
                )
    return HeadText(
        text=drawn["text"],
        tokens=tuple(tokens),
        words=tuple(words.tolist()),
        sides=tuple(token_sides(encoded, text, pair).tolist()),
        weights=weights,
        query_vectors=queries,
        key_vectors=keys,
        decoder_tokens=(decoder_start_name(model, tokenizer), *tokens[:-1]) if decodes else (),
        decoder_words=(-1, *words[:-1].tolist()) if decodes else (),
        image=next(iter(drawn.get("images", ())), None),
        boxes=drawn.get("boxes", ()),
    )


def number_rows(places: NDArray[np.int64]) -> NDArray[np.int64]:
    """Rows of a map: a decoder's begin with its start."""
    return places - START_TOKEN if len(places) and places[0] == START_TOKEN else places


def decoder_start_name(model: PreTrainedModel, tokenizer: PreTrainedTokenizerBase | UnitReader) -> str:
    """The name of what a decoder begins with."""
    start = getattr(model.config, "decoder_start_token_id", None)
    return "" if start is None else token_names(tokenizer, [int(start)])[0]


def token_sides(encoded: Encoded, text: str, pair: str | None) -> NDArray[np.int64]:
    """0 for tokens of the first text, 1 for those of the second; where the tokenizer does not say it, a
    special token goes with what stands before it."""
    keep = encoded.mask[0].numpy()
    if pair is not None and encoded.types is not None and bool(encoded.types.any()):
        return np.asarray(encoded.types[0].numpy()[keep])
    second = (encoded.words[0][keep] >= 0) & (encoded.offsets[0][keep, 0] > len(text)) & (pair is not None)
    return np.asarray(np.maximum.accumulate(second.astype(np.int64)))
