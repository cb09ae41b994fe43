"""What the heads of MiniLM do: relations of dependency trees, and attention to special tokens.

    python docs/results/heads.py run     measure what is missing, in about ten minutes
    python docs/results/heads.py         write heads.md, a part of what-heads-do.md, of what was measured

Trees are the dev and test sentences of UD English EWT; the model is MiniLM as it was pretrained. Special
tokens are asked about in the five MiniLM classifiers of `rank.py`, on test sentences of SST-2. Numbers of
BERT-base are those that Clark et al. print: github.com/clarkkev/attention-analysis, commit b609cfc, the
output of Syntax_Analysis.ipynb that makes their Table 1.
"""

import gzip
import json
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from study import DATA, HERE, Cell, Study  # isort: skip  (before torch: it says how threads wait)

import glasshead
from glasshead.results import Finding, HeadReport
from rank import MINILM
from rank import TABLES as RANKED

TREES = HERE / "heads" / "trees.json"
TEXTS = 50
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


def classifier_numbers(run: Path) -> dict[str, Any]:
    """What special tokens get in a classifier, and what is lost without its heads."""
    report = glasshead.heads(run, DATA / "sst2", limit=TEXTS, dtype="float32")
    return {
        "findings": {one.statistic: ends_of(one) for one in report.findings},
        "beside": beside_nulls(report),
        "layers": [layer_numbers(report, number) for number in range(len(report.layers))],
        "patterns": Counter(head.pattern or "none" for head in report.heads),
        "removals": Counter(verdict_of(report, number) for number in range(len(report.heads))),
        "conclusion": report.conclusion,
    }


def ends_of(finding: Finding) -> list[float | None]:
    """Estimate and both ends."""
    return [finding.estimate, *(finding.interval or (None, None))]


def beside_nulls(report: HeadReport) -> dict[str, dict[str, list[float | None]]]:
    """The paired differences from the nulls, of all layers together."""
    return {
        one.statistic: {
            null: [pair.estimate, *(pair.interval or (None, None))] for null, pair in one.over_null.items()
        }
        for one in report.findings
        if one.over_null
    }


def layer_numbers(report: HeadReport, number: int) -> dict[str, Any]:
    """The findings of a layer about all special tokens."""
    findings = report.layers[number].findings
    return {one.statistic: ends_of(one) for one in findings if one.against == "special tokens"}


def verdict_of(report: HeadReport, number: int) -> str:
    """What is said of predictions without a head."""
    finding = report.heads[number].finding("removal-size")
    return "" if finding is None else finding.verdict


CELLS: list[Cell] = [cell for cell in RANKED["sst2"] if cell.name == "minilm"]
STUDY = Study("heads", {"sst2": CELLS}, classifier_numbers, runs="rank")


def tree_numbers() -> dict[str, Any]:
    """Which relations the heads of the pretrained encoder follow, and what they look at."""
    with tempfile.TemporaryDirectory() as folder:
        trees = Path(folder) / "ewt.conllu"
        parts = (DATA / "ud_english_ewt" / f"{split}.conllu.gz" for split in ("dev", "test"))
        trees.write_bytes(b"".join(gzip.decompress(part.read_bytes()) for part in parts))
        report = glasshead.heads(MINILM, trees, dtype="float32", texts=["a"])
    return {
        "sentences": report.facts["sentences"],
        "level": report.relations[0].difference.level,
        "remarks": report.remarks,
        "conclusion": report.conclusion,
        "patterns": Counter(head.pattern or "none" for head in report.heads),
        "n": {one.statistic: one.n for one in report.findings},
        "findings": {one.statistic: ends_of(one) for one in report.findings},
        "beside": beside_nulls(report),
        "relations": [
            {
                "relation": one.relation,
                "direction": one.direction,
                "best": one.best,
                "offset": one.offset,
                "n": one.accuracy.n,
                "accuracy": ends_of(one.accuracy),
                "baseline": ends_of(one.baseline),
                "difference": [one.difference.estimate, *(one.difference.interval or (None, None))],
            }
            for one in report.relations
        ],
    }


def write_page() -> None:
    """Write heads.md."""
    trees = json.loads(TREES.read_text(encoding="utf-8"))
    parts = ["<!-- Written by docs/results/heads.py: do not edit. -->", *relation_part(trees)]
    parts += pretrained_part(trees)
    known = STUDY.known("sst2").get("minilm", {})
    if known:
        parts += special_part(known)
    (HERE / "heads.md").write_text("\n\n".join(parts) + "\n", encoding="utf-8")


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
    rows = [
        "| relation | sentences | head | direction | accuracy | offset | its accuracy | difference | "
        "BERT-base: relation | head | offset |",
        "| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |",
    ]
    by_relation: dict[str, list[dict[str, Any]]] = {}
    for one in trees["relations"]:
        if one["n"] >= FEWEST:
            by_relation.setdefault(one["relation"], []).append(one)
    for relation, ones in by_relation.items():
        one = max(ones, key=lambda each: each["accuracy"][0])
        clark = CLARK.get(relation)
        theirs = ("–", "–", "–") if clark is None else (clark[0], f"{clark[1]:.1f}", f"{clark[2]:.1f}")
        cells = [
            f"`{relation}`", f"{one['n']:,}", one["best"], one["direction"], percent(one["accuracy"]),
            f"{one['offset']:+d}".replace("-", "−"), percent(one["baseline"]),
            percent(one["difference"], plus=True), *theirs,
        ]  # fmt: skip
        rows.append(f"| {' | '.join(cells)} |")
    yield "\n".join(rows)


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
    rows = [f"| seed | {' | '.join(heads)} |", f"|{' --- |' * (len(heads) + 1)}"]
    signed = ("inflation", "joining", "beyond-unsplit-words")
    for seed, numbers in seeds.items():
        cells = [percent(numbers["findings"][name], plus=name in signed) for name in titles]
        cells += [percent(numbers["beside"]["inflation"][null], plus=True) for null in nulls]
        rows.append(f"| {seed} | {' | '.join(cells)} |")
    yield "\n".join(rows)
    layers = [
        f"| {layer} | "
        + " | ".join(
            spread([numbers["layers"][layer][name][0] for numbers in seeds.values()])
            for name in ("share", "relevance-share", "joining", "beyond-unsplit-words")
        )
        + " |"
        for layer in range(len(next(iter(seeds.values()))["layers"]))
    ]
    yield "By layer, from the lowest to the highest of the seeds:"
    yield "\n".join(
        [
            "| layer | attention | ∣A ∂z/∂A∣ | once words are joined, change | "
            "one of them − one unsplit word |",
            "| --- | --- | --- | --- | --- |",
            *layers,
        ]
    )


def spread(values: list[float]) -> str:
    """From the lowest to the highest, in percent."""
    return f"{100 * min(values):.1f} to {100 * max(values):.1f}".replace("-", "−")


def run() -> None:
    """Measure what is missing."""
    if not TREES.exists() or "beside" not in json.loads(TREES.read_text(encoding="utf-8")):
        TREES.parent.mkdir(exist_ok=True)
        TREES.write_text(json.dumps(tree_numbers(), indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    STUDY.run(list(STUDY.tables))


if __name__ == "__main__":
    if sys.argv[1:] == ["run"]:
        run()
    write_page()
