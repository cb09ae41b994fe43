"""Token ids that somebody's tokenizer made, as the texts that they are of."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeGuard

import numpy as np

from glasshead.data.encode import encode
from glasshead.errors import InputError

IDS, MASK = "input_ids", "attention_mask"


def are_ids(value: object) -> TypeGuard[Mapping[str, Any]]:
    """Whether a value is what calling a tokenizer gives."""
    return isinstance(value, Mapping) and IDS in value


def texts_of_ids(tokenizer: Any, value: Mapping[str, Any]) -> list[str]:
    """The texts whose tokens these are: what is decoded must be read as the same ids again.

    Raises:
        InputError: if it is not, as of pairs of texts, and of what another tokenizer made.
    """
    rows = rows_of(value[IDS])
    masks = rows_of(value[MASK]) if MASK in value else [[1] * len(row) for row in rows]
    kept = [
        [int(token) for token, real in zip(row, mask, strict=True) if real]
        for row, mask in zip(rows, masks, strict=True)
    ]
    texts = [tokenizer.decode(ids, skip_special_tokens=True).strip() for ids in kept]
    encoded = encode(tokenizer, texts)
    for number, (ids, again, mask) in enumerate(zip(kept, encoded.ids, encoded.mask, strict=True), start=1):
        if ids != again[mask].tolist():
            raise InputError(
                f"row {number} of the token ids gives other ids when decoded and encoded again: pass the text"
            )
    return texts


def rows_of(values: Any) -> list[list[int]]:
    """Rows of a list, an array or a tensor; one row stands alone."""
    rows = [np.asarray(row).tolist() for row in values]
    return rows if rows and isinstance(rows[0], list) else [rows]
