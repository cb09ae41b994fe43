"""Who looks at whom in each attention call of a pass."""

from __future__ import annotations

from collections.abc import Sequence

from glasshead.generation.text import ReadText
from glasshead.trace import LayerRecord, list_attention_calls

ENCODER, DECODER, CROSS = "encoder", "decoder", "cross"


def call_kinds(text: ReadText) -> list[str]:
    """What each call of a pass is, found on the first tokens of the text: attention of the encoder, of the
    decoder to what was written before, or from there to the source."""
    if not text.source:
        return [DECODER] * len(first_calls(text))
    return kinds_of(text, first_calls(text))


def first_calls(text: ReadText) -> list[LayerRecord]:
    """One record for every attention call, of a pass over the first tokens of each part."""
    return list_attention_calls(text.reader, text.beginning)


def kinds_of(text: ReadText, calls: Sequence[LayerRecord]) -> list[str]:
    """The kinds of the calls of an encoder–decoder: each layer of a decoder first reads what was written
    before, then the source."""
    decoder = text.model.get_decoder()
    prefix = next(name for name, module in text.model.named_modules() if module is decoder)
    kinds: list[str] = []
    for call in calls:
        if not call.name.startswith(f"{prefix}."):
            kinds.append(ENCODER)
        else:
            kinds.append(CROSS if kinds[-1] == DECODER else DECODER)
    return kinds
