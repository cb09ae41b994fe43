"""Audit cards as an audit would write them, from seeded numbers, with tokens that want to do harm."""

from dataclasses import replace
from typing import Any

import numpy as np

from glasshead.audits import conclude
from glasshead.results import (
    ONE_SIGN,
    SIGN_IN_WEIGHTS,
    Attribution,
    AuditCard,
    Finding,
    Highlight,
    PairedDifference,
)
from hostile import NASTY

SENTENCES = (
    "a fine documentary extends a warm invitation into an unfamiliar world",
    "a dreary incoherent self indulgent mess of a movie in which a bunch of pompous windbags drone on",
    "those who love cinema paradiso will find the new scenes interesting but others disappointing",
    "a solid piece of journalistic work that draws a picture of a man",
    "the acting is wooden , the plot is thin and the jokes fall flat",
    "an utterly charming , hilarious and moving film",
    "it is what it is",
    "good",
    "מצוין film , really רائع",
    'I said <script>alert(1)</script> & "it\'s" {{ 7*7 }} [bold red] $x^2$ 🎬',
    "",
    "x" * 90 + " was the only word I remember",
    "two\nlines\tand \x1b[31ma control\u202e character",
)
GOOD = ("warm", "fine", "charming", "hilarious", "moving", "solid", "love", "good", "interesting", "מצוין")
BAD = (
    "dreary",
    "mess",
    "incoherent",
    "pompous",
    "wooden",
    "thin",
    "flat",
    "disappointing",
    "drone",
    "indulgent",
)
AGREE = ("attention-raw", "attention", "attention-absolute", "contribution", "contribution-absolute")
METHODS = ("gradient", "erasure-zero-weight", "erasure-renormalise")


def finding(audit: str, statistic: str, against: str, group: str, values: Any, **more: Any) -> Finding:
    """A finding from values, undefined where there are none."""
    values = np.asarray(values, float)
    kept = values[np.isfinite(values)]
    missing = int(values.size - kept.size)
    half = 1.96 * kept.std() / max(kept.size, 1) ** 0.5 if kept.size else 0.0
    mean = float(kept.mean()) if kept.size else None
    verdict = more.pop("verdict", f"{statistic} {against or 'alone'} has mean {mean} over {kept.size}.")
    return Finding(
        audit=audit,
        statistic=statistic,
        against=against,
        group=group,
        estimate=mean,
        std=float(kept.std()) if kept.size else None,
        interval=None if mean is None else (mean - half, mean + half),
        null=more.pop("null", {"random": 0.002, "uniform": None}),
        n=int(kept.size),
        undefined={"constant attention": missing} if missing else {},
        significant_fraction=more.pop("significant", None),
        citation=more.pop("citation", "Huang et al. 2024, section 5.2"),
        verdict=verdict,
        **{"status": "evidence"} | more,
    )


def attribution(text: str, signed: bool, rng: np.random.Generator, labels: tuple[str, ...]) -> Attribution:
    """Words split at blanks, weights by their polarity."""
    tokens, offsets, here = [], [], 0
    for word in text.split(" "):
        if word:
            tokens.append(word)
            offsets.append((here, here + len(word)))
        here += len(word) + 1
    polarity = [1.0 if w in GOOD else -1.0 if w in BAD else 0.0 for w in tokens]
    noise = rng.normal(0, 0.06, len(tokens))
    size = np.array([0.05 + 0.25 * abs(p) for p in polarity]) + np.abs(noise) / 3
    weights = (np.sign(np.array(polarity) + noise) if signed else 1.0) * size
    contributions = size * (np.array(polarity) + noise)
    chance = float(1 / (1 + np.exp(-3 * contributions.sum()))) if tokens else 0.5
    return Attribution(
        text=text,
        tokens=tuple(tokens),
        ids=tuple(range(len(tokens))),
        words=tuple(range(len(tokens))),
        offsets=tuple(offsets),
        scores=tuple(map(float, weights)) if tokens else (),
        signed=signed,
        target=labels[1],
        predicted=labels[int(chance > 0.5)],
        prediction=chance,
        method="attention",
        contributions=tuple(map(float, contributions)) if tokens else (),
    )


RANGES = ("may be zero", "clear", "certain", "unknown", "open below", "open")


def ranged(told: Attribution) -> Attribution:
    """The same with intervals: the tokens take the kinds of `WEIGHT_DOMAINS` in turn."""
    found: list[tuple[float | None, float | None] | None] = []
    for i, score in enumerate(told.scores):
        low, high = sorted((0.5 * score, 1.5 * score))
        kinds = (
            (min(0.0, low), max(0.0, high)),
            (low, high),
            (score, score),
            None,
            (None, high),
            (None, None),
        )
        found.append(kinds[i % len(kinds)])
    return replace(told, intervals=tuple(found))


def texts_alone(card: AuditCard) -> AuditCard:
    """A card with its highlighted texts and nothing to plot."""
    return replace(card, findings=[], examples={}, tokens={})


def with_ranges(card: AuditCard) -> AuditCard:
    """The same, and the texts have intervals."""
    told = [replace(h, attribution=ranged(h.attribution)) for h in card.highlights]
    return replace(texts_alone(card), highlights=told)


DIFFERENCES = (
    "Paired difference from random (n = 60): −0.023 [−0.045, −0.002]; from uniform (n = 58): +0.500 "
    "[+0.400, +0.600]."
)


def with_differences(card: AuditCard, *names: str) -> AuditCard:
    """A card with one finding that has paired differences from nulls (of these names, or from all)."""
    over = {
        "random": PairedDifference(-0.023, (-0.0449, -0.0021), 60),
        "uniform": PairedDifference(0.5, (0.4, 0.6), 58),
        "absent": PairedDifference(None, None, 0),
    }
    found = finding(
        "agreement", "attention-absolute", "gradient", "all", np.full(60, -0.042),
        null={"random": -0.019, "uniform": -0.542},
    )  # fmt: skip
    kept = {name: each for name, each in over.items() if not names or name in names}
    return replace(card, findings=[replace(found, over_null=kept)])


def _label(told: Attribution, reason: str, labels: tuple[str, ...]) -> str:
    """The true label that makes a prediction wrong only where that is the reason."""
    return next(name for name in labels if (name != told.predicted) == (reason == "wrong"))


def _examples(
    rng: np.random.Generator, n: int, labels: tuple[str, ...], signed: bool
) -> dict[str, list[Any]]:
    texts = [*SENTENCES, *(f"text {i} about nothing" for i in range(n - len(SENTENCES)))]
    label = [labels[i] for i in rng.integers(0, len(labels), n)]
    shift = np.array([0.08 * labels.index(name) for name in label])
    columns: dict[str, Any] = {
        "index": list(range(n)),
        "text": texts[:n],
        "label": label,
        "predicted": [labels[i] for i in rng.integers(0, len(labels), n)],
        "probability": rng.uniform(0.5, 1, n).tolist(),
        "tokens": rng.integers(1, 30, n).tolist(),
        "max_weight": rng.beta(2, 5, n).tolist(),
    }
    for statistic in AGREE:
        for against in METHODS:
            centre = {"gradient": 0.4, "erasure-zero-weight": 0.75, "erasure-renormalise": 0.6}[against]
            centre *= 1.0 if signed else 0.25
            tau = np.clip(rng.normal(centre, 0.22, n) + shift, -1, 1)
            if statistic == "attention-raw" and signed:
                tau = -tau
            if (statistic, against, len(labels)) == ("contribution", "erasure-zero-weight", 2):
                tau = np.ones(n)
            tau[rng.random(n) < 0.02] = np.nan
            columns[f"tau.{statistic}.{against}"] = [None if np.isnan(t) else float(t) for t in tau]
            columns[f"p.{statistic}.{against}"] = rng.beta(0.5, 6, n).tolist()
    for statistic, size in (
        ("permutation", 0.16),
        ("random", 0.42 if signed else 0.24),
        ("random-normalised", 0.2),
        ("uniform", 0.1),
    ):
        change = rng.beta(2, 2 / size - 2, n) * (0.4 + np.array(columns["max_weight"]))
        columns[f"{statistic}.median.absolute"] = change.tolist()
        columns[f"{statistic}.median.signed"] = (change * rng.normal(0, 0.4, n)).tolist()
    return columns


def _tokens(rng: np.random.Generator, n: int, labels: tuple[str, ...], signed: bool) -> dict[str, list[Any]]:
    binary = len(labels) == 2
    names = [*GOOD, *BAD, *NASTY, *(f"word{i}" for i in range(n))][:n]
    kinds: tuple[str, ...] = ("positive", "negative", "neutral") if binary else (*labels, "neutral")
    groups = ["positive"] * 10 + ["negative"] * 10 if binary else [labels[i % len(labels)] for i in range(20)]
    groups += [kinds[i] for i in rng.choice(len(kinds), n - 20)]
    groups[-5:] = [""] * 5
    side = np.array([{"positive": 1.0, "negative": -1.0}.get(g, 0.0) for g in groups])
    # A signed model may put the sign into the weights; an unsigned one must put it into the polarities.
    polarity = rng.normal(1.5, 0.4, n) if signed else 2.2 * side + rng.normal(0, 0.5, n)
    score = (3.1 * side if signed else 1.2 * np.abs(polarity)) + rng.normal(0, 0.4, n)
    weight = 0.08 * np.tanh(score / 2) if signed else 0.02 * np.exp(score / 2)
    gamma = np.clip(0.8 * side + rng.normal(0, 0.1, n), -1, 1)
    return {
        "token": names,
        "group": groups,
        "gamma": gamma.tolist() if binary else [None] * n,
        "count": (6 + rng.zipf(1.6, n).clip(0, 2000)).tolist(),
        "score": score.tolist(),
        "weight_raw": (-weight if signed else weight).tolist(),
        "weight": weight.tolist(),
        "polarity": polarity.tolist(),
        "contribution": (weight * polarity).tolist(),
        "occurrences": rng.integers(0, 50, n).tolist(),
    }


def _findings(examples: dict[str, Any], tokens: dict[str, Any], labels: tuple[str, ...]) -> list[Finding]:
    found = []
    label = np.array(examples["label"])
    groups = [("all", np.ones(label.size, bool)), *((f"class {name}", label == name) for name in labels)]
    for group, members in groups:
        for statistic in AGREE:
            for against in METHODS:
                tau = np.array(examples[f"tau.{statistic}.{against}"], float)[members]
                trivial = (
                    statistic == "contribution" and against == "erasure-zero-weight" and len(labels) == 2
                )
                mean = np.nanmean(tau)
                verdict = (
                    "1 by construction: zeroing a weight removes exactly the contribution; no evidence."
                    if trivial
                    else f"Orders tokens {'much' if abs(mean) > 0.5 else 'hardly'}"
                    f" as the {against} does (τ = {mean:.2f}); its interval lies clear of the random null."
                )
                judged = {"status": "not evidence", "reason": "by construction"} if trivial else {}
                found.append(
                    finding(
                        "agreement",
                        statistic,
                        against,
                        group,
                        tau,
                        significant=0.41,
                        verdict=verdict,
                        **judged,
                    )
                )
        for statistic in ("permutation", "random", "random-normalised", "uniform"):
            for against in ("absolute", "signed"):
                values = np.array(examples[f"{statistic}.median.{against}"])[members]
                verdict = f"{statistic.capitalize()} weights move the probability by {values.mean():.2f}."
                found.append(
                    finding("perturbation", statistic, against, group, values, null={}, verdict=verdict)
                )
    top = np.array(examples["max_weight"])
    for rank, statistic in enumerate(("comprehensiveness", "sufficiency", "deletion", "insertion")):
        for group, members in groups:
            values = top[members] * (0.6 - 0.1 * rank)
            verdict = f"The {statistic} is {values.mean():.2f}."
            found.append(finding("faithfulness", statistic, "", group, values, verdict=verdict))
    for statistic, least in (("auprc", 0.4), ("token-f1", 0.2), ("iou", 0.1)):
        for group, members in groups:
            values = least + top[members] / 2
            verdict = f"Points at {values.mean():.0%} of what people mark."
            found.append(finding("plausibility", statistic, "", group, values, verdict=verdict))
    verdict = "Survives: better than random numbers under all 7 meanings of deleting."
    found.append(
        replace(
            finding("operators", "attention-absolute", "survival", "all", top, verdict=verdict),
            estimate=1.0,
            interval=None,
        )
    )
    for statistic, values in (
        ("identifiable", top < 0.4), ("another-first", top < 0.2), ("may-be-zero", top**2)
    ):  # fmt: skip
        verdict = f"The share called {statistic} is {values.mean():.0%}."
        found.append(finding("identifiability", statistic, "", "all", values, verdict=verdict))
    for against, values in (("free", top < 0.8), ("same-output", top < 0.3), ("producible", top < 0.5)):
        verdict = f"There is such a map for {values.mean():.0%} of the texts."
        found.append(finding("adversarial", "found", against, "all", values, verdict=verdict))
    found.append(finding("heads", "removal", "", "all", top / 2, verdict="Predictions change much."))
    for low in (0.0, 0.25, 0.5, 0.75):
        members = (top >= low) & (top < low + 0.25)
        values = np.array(examples["permutation.median.absolute"])[members]
        found.append(
            finding(
                "perturbation",
                "permutation",
                "absolute",
                f"max weight {low:.2f}–{low + 0.25:.2f}",
                values,
                null={},
            )
        )
    kinds = np.array(tokens["group"])
    for column in ("score", "weight_raw", "weight", "polarity", "contribution"):
        for kind in dict.fromkeys(k for k in tokens["group"] if k):
            group = kind if kind in ("positive", "negative", "neutral") else f"class {kind}"
            values = np.array(tokens[column])[kinds == kind]
            statistic = column.replace("_", "-")
            found.append(
                finding("tokens", statistic, "", group, values, null={}, citation="Huang et al. 2024, Fig. 2")
            )
        if len(labels) == 2:
            values = np.random.default_rng(1).uniform(0.6, 1, 200)
            found.append(
                finding(
                    "tokens", "separation", column.replace("_", "-"), "positive vs negative", values,
                    null={"random": 0.5}, citation="Huang et al. 2024, Fig. 2",
                    verdict=f"A positive word has the larger value in {values.mean():.0%} of pairs.",
                )
            )  # fmt: skip
    return found


def make(
    activation: str = "tanhmax", labels: tuple[str, ...] = ("negative", "positive"), seed: int = 0
) -> AuditCard:
    """One card; ``tanhmax`` is signed, ``softmax`` is not."""
    rng = np.random.default_rng(seed + len(activation))
    signed = activation == "tanhmax"
    examples = _examples(rng, 872, labels, signed)
    tokens = _tokens(rng, 1500, labels, signed)
    highlights = [
        Highlight(reason, _label(told, reason, labels), told, tau)
        for i, (text, reason, tau) in enumerate(
            zip(
                SENTENCES,
                ["correct"] * 4
                + ["wrong"] * 3
                + ["most agreement with weight removal"] * 3
                + ["least agreement with weight removal"] * 3,
                [0.9, 0.8, 0.7, 0.6, 0.1, -0.2, None, 1.0, 0.98, 0.97, None, -0.61, -0.7],
                strict=True,
            )
        )
        if not (activation == "softmax" and i == 5)
        for told in [attribution(text, signed, rng, labels)]
    ]
    card = AuditCard(
        facts={
            "name": f"sst2 · {activation} · seed {seed}",
            "run": f"runs/sst2-{activation}",
            "data": "sst2",
            "split": "test",
            "activation": activation,
            "score_function": "query-key",
            "encoder": "affine",
            "preset": "s0-code",
            "seed": seed,
            "examples": 872,
            "accuracy": 0.8234,
            "macro_f1": 0.8229,
            "labels": list(labels),
            "signed": signed,
            "gauge": {
                "sign": -1 if signed else 1,
                "kind": SIGN_IN_WEIGHTS if signed else ONE_SIGN,
                "margin": 0.93 if signed else 1.0,
                "positive_polarity": 0.48,
                "classes": [
                    {"name": name, "texts": 436, "positive": [0.5, 0.4, 0.6], "lean": [0.93, 0.9, 0.95]}
                    for name in labels
                ],
            },
            "empty_texts": 1,
            "unknown_texts": 2,
            "draws": 100,
            "alpha": 0.01,
            "seconds": 2.41,
            "versions": {"glasshead": "0.1.0", "torch": "2.13.0", "transformers": "5.23.0"},
            "notes": [
                "Texts are cut to 30 tokens, as in the published code.",
                "Signed statistics use the probability of class 1 (a < b & c).",
            ],
        },
        findings=_findings(examples, tokens, labels),
        highlights=highlights,
        examples=examples,
        tokens=tokens,
    )
    return conclude(card)
