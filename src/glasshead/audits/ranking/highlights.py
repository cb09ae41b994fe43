"""A few texts as every method explains them."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from glasshead.arrays import AnyFloats
from glasshead.audits.ranking.methods import ScoredMethod
from glasshead.explainers import by_word
from glasshead.results import Attributions, RankedText
from glasshead.trace import AttentionSelector, KnownStates

READABLE_LENGTHS = range(5, 41)
"""How many tokens a text has that is short enough to be read, and long enough to be worth it."""


def rank_texts(methods: Sequence[ScoredMethod], agreement: Mapping[str, AnyFloats]) -> list[RankedText]:
    """The text in which the methods agree most, least, and one in the middle."""
    picks = pick_texts(methods, agreement)
    if not picks:
        return []
    context = methods[0].context
    firsts, seconds = context.inputs_read or (context.texts, None)
    rows = list(picks.values())
    texts, pairs = [firsts[row] for row in rows], None if seconds is None else [seconds[row] for row in rows]
    encoded = context.explanation.encoded.some(np.array(rows))
    known, by_method = KnownStates(), []
    for method in methods:
        own = method.context
        view, reads = own.explanation, own.explainer.reads_attention
        selector = view.attention_selector if reads else AttentionSelector()
        explained = own.explainer(
            view.model,
            view.tokenizer,
            texts,
            pairs,
            attention_selector=selector,
            encoded=encoded,
            known=known,
        )
        if encoded.unit == "word":
            explained = [by_word(one) for one in explained]
        # Colours are the scores that were ranked, not what the tokens contribute.
        by_method.append([replace(one, contributions=None) for one in explained])
    return [
        RankedText(reason, Attributions(tuple(row)))
        for reason, row in zip(picks, zip(*by_method, strict=True), strict=True)
    ]


def pick_texts(methods: Sequence[ScoredMethod], agreement: Mapping[str, AnyFloats]) -> dict[str, int]:
    """Rows, by why each is shown."""
    nouns, tokens = methods[0].context.nouns, methods[0].context.token_mask.sum(axis=1)
    readable = np.isin(tokens, READABLE_LENGTHS)
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
        f"where they agree as in most {nouns.texts}": order[len(order) // 2],
        "where they agree least": order[0],
    }
    shown: dict[str, int] = {}
    for reason, row in places.items():
        if int(row) not in shown.values():
            shown[reason] = int(row)
    return shown
