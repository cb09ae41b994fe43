"""What other methods say of passages: the share of each in what they give to all tokens of the prompt."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch

from glasshead.errors import InputError
from glasshead.generation import METHODS, MapRequest, ReadText, check_methods, make_map
from glasshead.requests import PassagesRequest
from glasshead.sources.citing import Citing
from glasshead.sources.sentence_spans import Span
from glasshead.spelling import spell
from glasshead.trace import AttentionSelector


@dataclass(frozen=True)
class PassageShares:
    """The maps of methods over the tokens of a prompt, in which passages have ``spans``; ``notes`` say why
    one has none."""

    maps: Mapping[str, Any]
    spans: Sequence[Span]
    length: int
    notes: Sequence[str]

    def of(self, own: Sequence[int]) -> dict[str, tuple[float, ...]]:
        """The shares for some tokens of the answer."""
        shares = {}
        for name, matrix in self.maps.items():
            rows = matrix[[*own]].sum(axis=0)
            total = float(rows[: self.length].sum()) or 1.0
            shares[name] = tuple(float(rows[start:stop].sum()) / total for start, stop in self.spans)
        return shares


def check_beside(request: PassagesRequest) -> None:
    """Raise InputError unless there are such methods, and one that reads the layer or head that is chosen."""
    check_methods(request.beside)
    is_chosen = request.layer is not None or request.head is not None
    if is_chosen and not any(METHODS[name].reads_attention for name in request.beside):
        raise InputError(
            f"{spell('layer')} and {spell('head')} are for attention: add it to {spell('beside')}"
        )


def read_shares(citing: Citing) -> PassageShares:
    """The maps of all other methods."""
    remover, classifier, methods = citing.remover, citing.classifier, citing.request.beside
    notes: list[str] = []
    maps: dict[str, Any] = {}
    try:
        spans = remover.token_spans() if methods else []
    except InputError as error:
        spans = []
        notes.append(f"{', '.join(methods)}: left out, since {error}")
    prompt = remover.tokens([one.text for one in remover.frame.passages])
    start, source = len(prompt), 0
    if remover.scorer.decoder_start is not None:
        source, prompt = start, (*prompt, remover.scorer.decoder_start)
        start += 1
    ids = torch.tensor([[*prompt, *citing.answer.ids]], device=classifier.device)
    text = ReadText(classifier, remover.frame.tokenizer, ids, start, source=source)
    chosen = AttentionSelector(citing.request.layer, citing.request.head)
    for name in methods if spans else ():
        selector = chosen if METHODS[name].reads_attention else AttentionSelector()
        try:
            made = make_map(text, MapRequest(name, selector))
        except InputError as error:
            if selector.is_customised:
                raise
            notes.append(f"{name} is left out: {error}")
            continue
        if made.reading:
            notes.append(f"{name}: {made.reading}")
        maps[name] = np.abs(np.nan_to_num(made.matrix))
    return PassageShares(maps, spans, source or len(prompt), notes)
