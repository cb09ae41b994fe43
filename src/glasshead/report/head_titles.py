"""What the statistics of heads and layers are called where room is scarce: above columns, beside a map."""

HEAD_TITLES = {
    "share": "on {}",
    "previous": "on the previous token",
    "next": "on the next token",
    "left": "on the patch to the left",
    "right": "on the patch to the right",
    "above": "on the patch above",
    "below": "on the patch below",
    "itself": "on itself",
    "same-token": "on the same token elsewhere",
    "induction": "on the token after an earlier copy",
    "mean-distance": "mean distance, in patches",
    "entropy": "entropy",
    "effective-tokens": "effective tokens",
    "score-sd": "SD of scores",
    "removal": "prediction falls without it by",
    "removal-size": "prediction changes without it by",
    "gradient-importance": "|Σ A ∂z/∂A|",
    "identifiable": "only map with its output",
    "pair-divergence": "divergence of two heads, bits",
}
LAYER_TITLES = {
    "share": "attention",
    "gradient-share": "|∂z/∂A|",
    "relevance-share": "|A ∂z/∂A|",
    "inflation": "attention − |A ∂z/∂A|",
    "joined-share": "attention, words joined",
    "joining": "joined − before",
    "beyond-unsplit-words": "minus a word never split",
}
IMPORTANCE = ("removal-size", "gradient-importance")
"""What may say how much depends on a head, the better one first."""
LOOKS = (
    "share", "previous", "next", "left", "right", "above", "below", "itself", "same-token", "induction",
)  # fmt: skip
"""What a head looks at."""
BRIEF = ("entropy", *IMPORTANCE, "identifiable")
"""What a notebook shows of every head."""


def head_title(statistic: str, against: str) -> str:
    """What a statistic of a head is called."""
    title = HEAD_TITLES.get(statistic, statistic.replace("-", " "))
    return title.format(against) if "{}" in title else f"{title}: {against}" if against else title


def layer_title(statistic: str) -> str:
    """What a statistic of a layer is called, among those about the same kind of token."""
    return LAYER_TITLES.get(statistic, statistic.replace("-", " "))
