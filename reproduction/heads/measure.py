"""Ask the heads of MiniLM which relations of dependency trees they follow, and what special tokens get.

Trees are the dev and test sentences of UD English EWT; the model is MiniLM as it was pretrained. Special
tokens are asked about in the five MiniLM classifiers of the study `rank`, on test sentences of SST-2.
"""

import gzip
import tempfile
from collections import Counter
from pathlib import Path
from typing import Any

import glasshead
from glasshead.results import Finding, HeadReport
from reproduction.rank.measure import MINILM
from reproduction.rank.measure import TABLES as RANKED
from reproduction.study import DATA, read_numbers, rounded, write_numbers
from reproduction.trainings import Cell, Trainings

TEXTS = 50


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
TRAININGS = Trainings("heads", {"sst2": CELLS}, classifier_numbers, runs="rank")


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


def measure_trees(processes: int = 1) -> None:
    """The pretrained encoder."""
    if not read_numbers("heads", "trees"):
        write_numbers("heads", "trees", rounded(tree_numbers()))
