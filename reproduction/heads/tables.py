"""The relations that heads follow, and what special tokens get.

Numbers of BERT-base are those that Clark et al. print: github.com/clarkkev/attention-analysis, commit
b609cfc, the output of Syntax_Analysis.ipynb that makes their Table 1.
"""

from collections.abc import Iterator
from typing import Any

from reproduction.heads.measure import TEXTS, TRAININGS
from reproduction.markdown import markdown
from reproduction.study import read_numbers

FEWEST = 100
"""Relations of which fewer of the measured sentences have one are left out of the table."""
CLARK = {
    "all": ("all", 34.7, 26.7),
    "det": ("det", 94.3, 51.7),
    "compound": ("nn", 70.4, 70.2),
    "nsubj": ("nsubj", 58.5, 45.5),
    "amod": ("amod", 75.6, 68.3),
    "obj": ("dobj", 86.8, 40.0),
    "advmod": ("advmod", 48.8, 40.2),
    "aux": ("aux", 81.1, 71.5),
    "nummod": ("num", 67.4, 56.4),
    "cc": ("cc", 47.8, 41.2),
    "conj": ("conj", 53.3, 26.8),
    "nmod:poss": ("poss", 80.5, 47.7),
    "ccomp": ("ccomp", 48.8, 12.4),
    "xcomp": ("xcomp", 57.3, 47.1),
    "mark": ("mark", 50.7, 14.5),
    "cop": ("cop", 72.2, 40.5),
    "aux:pass": ("auxpass", 94.1, 82.5),
    "acl:relcl": ("rcmod", 40.9, 26.6),
    "advcl": ("advcl", 29.5, 4.6),
    "appos": ("appos", 30.5, 28.3),
    "nsubj:pass": ("nsubjpass", 57.5, 43.7),
    "compound:prt": ("prt", 99.1, 91.4),
}
"""By relation of Universal Dependencies: that of Stanford Dependencies, best head and offset, %."""


def page() -> Iterator[str]:
    """A part of what-heads-do.md."""
    trees = read_numbers("heads", "trees")
    yield from relation_part(trees)
    yield from pretrained_part(trees)
    if known := TRAININGS.known("sst2").get("minilm", {}):
        yield from special_part(known)


def relation_part(trees: dict[str, Any]) -> Iterator[str]:
    """The table of relations."""
    better, worse = (
        sum(test(one["difference"]) for one in trees["relations"])
        for test in (lambda ends: ends[1] > 0, lambda ends: ends[2] < 0)
    )
    total = len(trees["relations"])
    yield "### Relations"
    undecided = total - better - worse
    yield (
        f"{trees['sentences']:,} sentences: the best of 72 heads and the best of ten offsets are chosen on "
        f"one half and measured on the other. Of {total} relations and directions {better} are followed "
        f"better by a head than by a fixed offset, {worse} worse; {undecided} stay undecided or equal. "
        f"Intervals over sentences hold for all {total} at once ({100 * trees['level']:.2f} % each). The "
        f"table has, of each relation that at least {FEWEST} of the measured sentences have, the direction "
        "in which the chosen head was right more often there."
    )
    rows = []
    by_relation: dict[str, list[dict[str, Any]]] = {}
    for one in trees["relations"]:
        if one["n"] >= FEWEST:
            by_relation.setdefault(one["relation"], []).append(one)
    for relation, ones in by_relation.items():
        one = max(ones, key=lambda each: each["accuracy"][0])
        clark = CLARK.get(relation)
        theirs = ("–", "–", "–") if clark is None else (clark[0], f"{clark[1]:.1f}", f"{clark[2]:.1f}")
        row = [
            f"`{relation}`", f"{one['n']:,}", one["best"], one["direction"], percent(one["accuracy"]),
            f"{one['offset']:+d}".replace("-", "−"), percent(one["baseline"]),
            percent(one["difference"], plus=True), *theirs,
        ]  # fmt: skip
        rows.append(row)
    heads = [
        "relation", "sentences", "head", "direction", "accuracy", "offset", "its accuracy", "difference",
        "BERT-base: relation", "head", "offset",
    ]  # fmt: skip
    yield markdown(heads, rows)


def percent(ends: list[float], plus: bool = False) -> str:
    """A share and its interval in percent."""
    numbers = [f"{100 * end:{'+' if plus else ''}.1f}".replace("-", "−") for end in ends]
    return f"{numbers[0]} [{numbers[1]}, {numbers[2]}]"


def pretrained_part(trees: dict[str, Any]) -> Iterator[str]:
    """What special tokens get in the pretrained encoder."""
    patterns = dict(trees["patterns"])
    plain = patterns.pop("none", 0)
    named = ", ".join(f"{pattern} {count}" for pattern, count in patterns.items())
    yield "### What the pretrained heads look at"
    yield (
        f"{trees['n']['share']:,} sentences, means over heads and layers in percent, with 95 % intervals "
        f"over sentences. Special tokens get {percent(trees['findings']['share'])} of the attention, "
        f"{percent(trees['beside']['share']['uniform'], plus=True)} beside uniform attention; once words "
        f"are joined that changes by {percent(trees['findings']['joining'], plus=True)}; one of them gets "
        f"{percent(trees['beside']['beyond-unsplit-words']['uniform'], plus=True)} more than one unsplit "
        "word does, beside uniform attention. Heads by what gets more than half of their attention: "
        f"{named}; none: {plain}."
    )


def special_part(seeds: dict[int, dict[str, Any]]) -> Iterator[str]:
    """The table of special tokens, seed by seed."""
    yield "### Special tokens"
    yield (
        f"[CLS] and [SEP] in {len(seeds)} MiniLM classifiers of SST-2, {TEXTS} random test sentences each, "
        "means over heads and layers in percent, with 95 % intervals over sentences."
    )
    titles = {
        "share": "attention",
        "gradient-share": "∣∂z/∂A∣",
        "relevance-share": "∣A ∂z/∂A∣",
        "inflation": "attention − ∣A ∂z/∂A∣",
        "joining": "once words are joined, change",
        "beyond-unsplit-words": "one of them − one unsplit word",
    }
    nulls = {"uniform": "beside uniform attention", "random weights": "beside random weights"}
    heads = [*titles.values(), *(f"attention − ∣A ∂z/∂A∣ {words}" for words in nulls.values())]
    rows = []
    signed = ("inflation", "joining", "beyond-unsplit-words")
    for seed, numbers in seeds.items():
        cells = [percent(numbers["findings"][name], plus=name in signed) for name in titles]
        cells += [percent(numbers["beside"]["inflation"][null], plus=True) for null in nulls]
        rows.append([str(seed), *cells])
    yield markdown(["seed", *heads], rows)
    shown = ("share", "relevance-share", "joining", "beyond-unsplit-words")
    layers = [
        [
            str(layer),
            *(spread([numbers["layers"][layer][name][0] for numbers in seeds.values()]) for name in shown),
        ]
        for layer in range(len(next(iter(seeds.values()))["layers"]))
    ]
    yield "By layer, from the lowest to the highest of the seeds:"
    yield markdown(["layer", *(titles[name] for name in shown)], layers)


def spread(values: list[float]) -> str:
    """From the lowest to the highest, in percent."""
    return f"{100 * min(values):.1f} to {100 * max(values):.1f}".replace("-", "−")
