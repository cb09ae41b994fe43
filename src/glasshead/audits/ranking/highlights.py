"""A few texts as every method explains them."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from glasshead.arrays import AnyFloats
from glasshead.audits.judging.table import Table
from glasshead.audits.measuring.data_view import Sample
from glasshead.explainers import by_word, find_explainer
from glasshead.nouns import Nouns
from glasshead.results import Attributions, RankedText
from glasshead.trace import AttentionSelector

READABLE_LENGTHS = range(5, 41)
"""How many tokens a text has that is short enough to be read, and long enough to be worth it."""


def rank_texts(
    sample: Sample, methods: Sequence[str], inputs: Table, agreement: Mapping[str, AnyFloats], nouns: Nouns
) -> list[RankedText]:
    """The text in which the methods agree most, least, and one in the middle."""
    picks = pick_texts(inputs, agreement, nouns)
    if not picks:
        return []
    some = sample.some(np.array([*picks.values()]))
    by_method = []
    for method in methods:
        explainer = find_explainer(method)
        selector = some.attention_selector if explainer.reads_attention else AttentionSelector()
        explained = explainer(
            some.model,
            some.subject.tokenizer,
            *some.inputs,
            attention_selector=selector,
            encoded=some.encoded,
            known=sample.known,
        )
        if some.encoded.unit == "word":
            explained = [by_word(one) for one in explained]
        # Colours are the scores that were ranked, not what the tokens contribute.
        by_method.append([replace(one, contributions=None) for one in explained])
    return [
        RankedText(reason, Attributions(tuple(row)))
        for reason, row in zip(picks, zip(*by_method, strict=True), strict=True)
    ]


def pick_texts(inputs: Table, agreement: Mapping[str, AnyFloats], nouns: Nouns) -> dict[str, int]:
    """Rows, by why each is shown."""
    readable = np.isin(inputs["tokens"], READABLE_LENGTHS)
    if not agreement:
        rows = readable.nonzero()[0]
        return {} if not len(rows) else {f"{nouns.a_text} of some length": int(rows[0])}
    stacked = np.stack([*agreement.values()])
    usable = (readable & ~np.isnan(stacked).any(axis=0)).nonzero()[0]
    if not len(usable):
        return {}
    order = usable[np.argsort(stacked[:, usable].mean(axis=0), kind="stable")]
    places = {
        "where the methods agree most": order[-1],
        f"where they agree as much as in most {nouns.texts}": order[len(order) // 2],
        "where they agree least": order[0],
    }
    shown: dict[str, int] = {}
    for reason, row in places.items():
        if int(row) not in shown.values():
            shown[reason] = int(row)
    return shown
