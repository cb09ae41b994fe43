"""What heads do, which nobody computed, with names that must be escaped."""

from base64 import b64encode
from io import BytesIO

import numpy as np
from PIL import Image

from glasshead.results import (
    HEADS,
    Difference,
    Finding,
    HeadAgreement,
    HeadLayer,
    HeadRelation,
    HeadReport,
    HeadSummary,
    HeadText,
)

HOSTILE = "</script><i>\x1b[31mmine\u202e"
PAIR = ("[CLS]", "it", "un", "##known", "[SEP]", "nobody", HOSTILE, "[SEP]")
WORDS = (-1, 0, 1, 1, -1, 2, 3, -1)
SIDES = (0, 0, 0, 0, 0, 1, 1, 1)


def finding(statistic: str, estimate: float, against: str = "", width: float = 0.125) -> Finding:
    """One number with its interval."""
    return Finding(
        audit=HEADS,
        statistic=statistic,
        against=against,
        group="all",
        estimate=estimate,
        std=0.1,
        interval=(estimate - width, estimate + width),
        null={"uniform": 0.125},
        n=40,
        undefined={},
        significant_fraction=None,
        citation="somebody",
        verdict=f"a verdict {HOSTILE}",
        status="evidence",
    )


def softmax_maps(heads: int, queries: int, keys: int, spread: float = 6.0, phase: float = 0.0):
    """Weights of a closed formula: softmax of sines, other ones for each head."""
    head, row, column = np.ogrid[:heads, :queries, :keys]
    scores = spread * np.sin(1.0 + phase + 0.7 * row + 1.3 * column * (head + 1) + 0.011 * row * column)
    exponentials = np.exp(scores)
    return exponentials / exponentials.sum(axis=-1, keepdims=True)


def pair_text(layers: int = 2, heads: int = 3, signed: bool = False) -> HeadText:
    """A pair of texts with queries and keys; in layer 1 nobody looks ahead."""
    n = len(PAIR)
    weights = {layer: softmax_maps(heads, n, n, phase=layer) for layer in range(layers)}
    if signed:
        weights[0] = weights[0] * np.where(np.arange(n) % 2, -1.0, 1.0)
    if layers > 1:
        weights[1] = np.where(np.tri(n, dtype=bool), weights[1], np.nan)
    vectors = {
        layer: np.sin(np.arange(heads * n * 4).reshape(heads, n, 4) + layer) for layer in range(layers)
    }
    return HeadText(
        f"it unknown nobody {HOSTILE}", PAIR, WORDS, SIDES, weights, vectors, {**vectors, 0: vectors[0][:1]}
    )


def long_text(layers: int = 2, heads: int = 3, n: int = 512) -> HeadText:
    """A text of so many words, each a token of its own."""
    weights = {layer: softmax_maps(heads, n, n, 3.0, layer).astype(np.float32) for layer in range(layers)}
    return HeadText("long", [f"word{i}" for i in range(n)], range(n), [0] * n, weights)


def image_text(layers: int = 2, heads: int = 3) -> HeadText:
    """Two rows of three patches behind a class token, on an image of one white pixel."""
    names = ["[class]", *(f"row {row}, column {column}" for row in (1, 2) for column in (1, 2, 3))]
    boxes = [
        None,
        *((3 * column, 4 * row, 3 * column + 3, 4 * row + 4) for row in (0, 1) for column in range(3)),
    ]
    file = BytesIO()
    Image.new("RGB", (9, 8), (255, 255, 255)).save(file, "PNG")
    uri = f"data:image/png;base64,{b64encode(file.getvalue()).decode()}"
    weights = {layer: softmax_maps(heads, 7, 7, phase=layer) for layer in range(layers)}
    return HeadText(f"cat.png {HOSTILE}", names, range(-1, 6), [0] * 7, weights, image=uri, boxes=boxes)


def agreement(heads: int) -> HeadAgreement:
    """Heads 0 and 1 are alike, the last one was never compared, and all others stay undecided."""
    divergence = np.full((heads, heads), 0.5)
    divergence[:1, 1:2] = divergence[1:2, :1] = 0.25
    np.fill_diagonal(divergence, 0.0)
    divergence[-1, :-1] = divergence[:-1, -1] = np.nan
    over_null = np.stack([divergence - 0.6, divergence - 0.4])
    return HeadAgreement(
        divergence,
        np.stack([divergence - 0.1, divergence + 0.1]),
        np.where(divergence > 0, 0.5, divergence),
        over_null,
    )


def make(*texts: HeadText, layers: int = 2, heads: int = 3) -> HeadReport:
    """Heads of which the second of layer 0 matters most."""
    kinds = ["encoder", "causal", "cross", "pooled"]
    summaries = [
        HeadSummary(
            layer,
            head,
            [
                finding("removal-size", 0.5 if (layer, head) == (0, 1) else 0.03125),
                finding("share", 0.25, HOSTILE),
            ],
            "previous token" if head == 1 else HOSTILE if head == 2 else "",
            [0.25, 0.5, 0.25],
        )
        for layer in range(layers)
        for head in range(heads)
    ]
    return HeadReport(
        facts={
            "name": f"model {HOSTILE}",
            "data": "reviews.csv",
            "examples": 40,
            "versions": {"glasshead": "0.1"},
            "notes": ["a note"],
        },
        layers=[
            HeadLayer(
                layer, f"layer.{layer}", kinds[layer % 2], "softmax", heads, [finding("share", 0.5, "[SEP]")]
            )  # type: ignore[arg-type]
            for layer in range(layers)
        ],
        heads=summaries,
        agreement=agreement(len(summaries)),
        findings=[finding("agreement", 0.5)],
        relations=[
            HeadRelation(
                HOSTILE, "to the head", "0-1", finding("accuracy", 0.75), -1, finding("accuracy", 0.5),
                Difference("accuracy", 0, 1, 0.25, (0.125, 0.375), 40, "better"),
            )
        ],
        conclusion=["One head looks back.", f"Nothing else {HOSTILE} matters."],
        remarks=[f"{HOSTILE} is odd."],
        texts=texts or (pair_text(layers, heads),),
    )  # fmt: skip
