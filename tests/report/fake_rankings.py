"""A ranking that nobody computed, with names that must be escaped."""

import numpy as np

import fake_cards
from glasshead.results import (
    RANK,
    Attribution,
    Attributions,
    Finding,
    MethodAgreement,
    MethodDifference,
    MethodRanking,
    PairedDifference,
    RankedMethod,
    RankedText,
    Standing,
)

HOSTILE = "<i>\x1b[31mmine\u202e"
METHODS = ("attention", "erasure", HOSTILE)
REMOVALS = {"delete": "it is cut out, and the model reads the rest", "mask-token": "it becomes [MASK]"}
STATISTICS = ("comprehensiveness", "sufficiency", "deletion", "insertion")
STANDINGS = (Standing.BEHIND, Standing.LEADS, Standing.WORSE)
LEVEL = 0.9975


def make(marks: bool = True, factor: float = 1.0) -> MethodRanking:
    """Three methods under two meanings of deleting: the second leads, the third is worse than random."""
    criteria = [(statistic, removal) for statistic in STATISTICS for removal in REMOVALS]
    criteria += [("auprc", "")] if marks else []
    methods = []
    for place, name in enumerate(METHODS):
        findings = [
            finding(statistic, removal, factor * (0.125 * (2 - abs(place - 1) * (1 + place)) + 0.0625))
            for statistic, removal in criteria
        ]
        standings = {each.name: STANDINGS[place] for each in findings}
        own = "delete" if name == "erasure" else None
        methods.append(RankedMethod(name, "a method", findings, standings, 0.0125 * (place + 1), 3.5, own))
    differences = [
        MethodDifference(f"{RANK}.{statistic}.{removal}.all".replace("..", "."), 0, 1, -0.125 * factor,
                   (-0.25 * factor, -0.0625 * factor), 40, "worse", level=LEVEL, side=-1)
        for statistic, removal in criteria
    ]  # fmt: skip
    rng = np.random.default_rng(0)
    texts = [
        RankedText(
            reason,
            Attributions(tuple(fake_cards.attribution(text, True, rng, ("bad", "good")) for _ in METHODS)),
        )
        for reason, text in (("where they agree", "a warm and funny film"), ("where not", "dull <b>work</b>"))
    ]
    return MethodRanking(
        facts={
            "name": f"model {HOSTILE} · reviews",
            "data": "reviews.csv",
            "split": "all",
            "examples": 40,
            "comparisons": 12,
            "interval_level": LEVEL,
            "versions": {"glasshead": "0.1"},
            "notes": ["a note"],
        },
        statistic="comprehensiveness",
        removals=REMOVALS,
        methods=methods,
        differences=differences,
        agreement=[MethodAgreement(0, 1, finding("tau", "attention+erasure", 0.375 * factor))],
        conclusion=[
            "erasure leads under both meanings of deleting.",
            f"{HOSTILE} is worse than a random order.",
        ],
        remarks=[f"{HOSTILE} says nothing."],
        texts=texts,
        examples={"index": [0], "text": ["a film"]},
    )


def attribution(text: str, rng: np.random.Generator) -> Attribution:
    """A text with scores of both signs."""
    return fake_cards.attribution(text, True, rng, ("bad", "good"))


def finding(statistic: str, against: str, estimate: float) -> Finding:
    """One number, a quarter of a tenth above its null."""
    width = abs(estimate) / 4
    gain = estimate - 0.0625
    return Finding(
        audit=RANK,
        statistic=statistic,
        against=against,
        group="all",
        estimate=estimate,
        std=0.1,
        interval=(estimate - width, estimate + width),
        null={"random": 0.0625},
        n=40,
        undefined={},
        significant_fraction=None,
        citation="somebody",
        verdict="leads alone",
        over_null={"random": PairedDifference(gain, (gain - width, gain + width), 40)},
        status="evidence",
        level=LEVEL,
    )
