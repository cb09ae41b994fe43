"""What there is to say of a written text, for the terminal and for its page."""

import math

from glasshead.escaping import one_line
from glasshead.report.number_format import DASH, finite, number
from glasshead.report.text_spans import OTHER_SINKS, SCORE_NAMES, sinks_in_words
from glasshead.results import ATTENTION, Written, WrittenMap, WrittenToken

STRONGEST = 3
"""Tokens that are named of each row."""


def facts_in_words(written: Written) -> list[str]:
    """How a text was written and how probable it is, a sentence each."""
    count = len(written.answer_tokens)
    seed = "" if written.seed is None else f", seed {written.seed}"
    facts = [
        f"{written.model}, {written.strategy}{seed}: {written.stop}",
        f"log-probability of the answer {number(written.log_probability, 2)} over {count} "
        f"token{'s' if count != 1 else ''}, perplexity {number(written.perplexity, 2)}",
    ]
    if written.other_answers:
        others = "; ".join(
            f"{one_line(other.answer)!r} {number(other.log_probability, 2)}"
            for other in written.other_answers[:STRONGEST]
        )
        facts.append(f"beam search also had: {others}")
    sinks = {
        one.reading: sum(share is not None for share in one.sinks(written.source))
        for one in written.maps
        if one.method == ATTENTION and one.head in (None, "mean")
    }
    if found := [
        f"{reading or ATTENTION}: {rows} of {count} rows" for reading, rows in sinks.items() if rows
    ]:
        place = "first token" if not written.source else "token with which the answer begins"
        facts.append(
            f"more than half of the weights is on the {place}, an attention sink, which is not named among "
            f"the strongest ({'; '.join(found)})"
        )
    facts += other_sinks_in_words(written)
    if written.image_sinks:
        in_image = sinks_in_words(written)
        facts.append(f"{in_image} (marked × on the page, and left out of the colours of attention)")
    return [one_line(fact) for fact in [*facts, *written.notes]]


def other_sinks_in_words(written: Written) -> list[str]:
    """How much of the attention goes to sinks that are no tokens: from the layer with the least to that with
    the most, or of the one map."""
    shown = [one for one in written.maps if one.has_learned_sinks and one.scores]
    maps = [one for one in shown if one.head == "mean"] or shown
    shares = sorted(
        math.fsum(share or 0.0 for share in one.learned_sinks()) / len(one.scores) for one in maps
    )
    if not shares:
        return []
    least, most = number(shares[0]), number(shares[-1])
    amount, of = (least, maps[0].reading) if len(maps) == 1 else (f"{least} to {most}", "by layer")
    return [f"on average {amount} of the attention goes to {OTHER_SINKS} ({of})"]


def map_title(one: WrittenMap) -> str:
    """Which explanation: its method, what it is of, and which attention."""
    return ", ".join(filter(None, (one.method, one.reading, one.target)))


def score_name_of(one: WrittenMap) -> str:
    """What the numbers of a method are called."""
    return SCORE_NAMES.get(one.method, "score")


def choice_in_words(written: Written, place: int) -> str:
    """How the strategy chose the token of one place."""
    token = written.answer_tokens[place]
    probability = number(math.exp(token.log_probability))
    said = f"probability {probability}, rank {token.rank} of all tokens"
    if token.chance is None:
        how = f"{written.strategy} compares whole texts, not single tokens"
    elif token.chance == 1:
        how = f"{written.strategy} left nothing else to choose"
    else:
        left_out = sum(other.chance == 0 for other in token.alternatives)
        how = f"{written.strategy} drew it with probability {number(token.chance)}"
        if left_out:
            how += f" and left out {left_out} of the {len(token.alternatives)} most probable tokens"
    return one_line(f"{said}; {how}; entropy {number(token.entropy, 2)} nats")


def alternatives_in_words(token: WrittenToken) -> str:
    """The most probable tokens at a place with their probabilities; left out by the strategy: in brackets."""
    said = []
    for other in token.alternatives:
        one = f"{one_line(other.token)} {number(other.probability)}"
        said.append(f"({one})" if other.chance == 0 else one)
    return ", ".join(said)


def strongest_before(written: Written, one: WrittenMap, place: int) -> str:
    """The tokens before a place with the largest numbers, but for attention sinks."""
    sinks = set(written.image_sinks if one.method == ATTENTION else ())
    if one.sinks(written.source)[place] is not None:
        sinks.add(written.source)
    values = [
        (abs(value), at)
        for at, score in enumerate(one.scores[place])
        if (value := finite(score)) and at not in sinks
    ]
    top = sorted(values, key=lambda pair: (-pair[0], pair[1]))[:STRONGEST]
    said = (
        f"{one_line(written.tokens[at])} {number(one.scores[place][at], plus=one.signed)}" for _, at in top
    )
    return ", ".join(said) or DASH
