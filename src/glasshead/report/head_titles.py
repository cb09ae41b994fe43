"""What the statistics of heads and layers are called."""

from glasshead.nouns import Nouns

HEAD_TITLES = {
    "share": "on {kind}",
    "previous": "on the previous {token}",
    "next": "on the next {token}",
    "left": "on the patch to the left",
    "right": "on the patch to the right",
    "above": "on the patch above",
    "below": "on the patch below",
    "itself": "on itself",
    "same-token": "on the same {token} elsewhere",
    "induction": "on the {token} after an earlier copy",
    "image": "of words on the image",
    "image-answer": "of the answer's rows on the image",
    "image-spread": "spatial entropy in the image",
    "offset": "at one fixed offset",
    "mean-distance": "mean distance, in patches",
    "entropy": "entropy",
    "effective-tokens": "effective {tokens}",
    "score-sd": "SD of scores",
    "removal": "prediction falls without it by",
    "removal-size": "prediction changes without it by",
    "direct-effect": "direct effect on the predicted {token}, logits",
    "gradient-importance": "|Σ A ∂z/∂A|",
    "identifiable": "only map with its output",
    "pair-divergence": "divergence of two heads, bits",
}
LAYER_TITLES = {
    "share": "attention",
    "gradient-share": "|∂z/∂A|",
    "relevance-share": "|A ∂z/∂A|",
    "inflation": "attention − |A ∂z/∂A|",
    "joined-share": "attention, {words} joined",
    "joining": "joined − before",
    "beyond-unsplit-words": "minus {a_word} never split",
}


def head_title(statistic: str, against: str, nouns: Nouns) -> str:
    """What a statistic of a head is called."""
    template = HEAD_TITLES.get(statistic)
    title = statistic.replace("-", " ") if template is None else nouns.fill(template, kind=against)
    return f"{title}: {against}" if against and "{kind}" not in (template or "") else title


def layer_title(statistic: str, nouns: Nouns) -> str:
    """What a statistic of a layer is called, among those about the same kind of token."""
    return nouns.fill(LAYER_TITLES[statistic]) if statistic in LAYER_TITLES else statistic.replace("-", " ")
