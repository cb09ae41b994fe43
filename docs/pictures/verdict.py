"""The picture at the head of the README: a sentence, its attention, and what an audit of the model says.

python docs/pictures/verdict.py sentence-transformers/all-MiniLM-L6-v2 sst2 my-minilm

The encoder is fine-tuned on 4,000 rows of sst2/train.csv, and 200 rows of sst2/test.csv are audited (three
and twenty minutes on one core). Model and audit stay in the last folder.
"""

import json
import sys
import textwrap
from pathlib import Path
from typing import Any

import matplotlib.pyplot as plt
from datasets import load_dataset
from transformers import (
    AutoModelForSequenceClassification,
    AutoTokenizer,
    DataCollatorWithPadding,
    Trainer,
    TrainingArguments,
    set_seed,
)

import glasshead

SENTENCE = "a warm, funny film"
IMAGES = Path(__file__).parents[1] / "images"
NAMES = ["negative", "positive"]
LIGHT = {
    "paper": "#ffffff",
    "ink": "#1f2328",
    "muted": "#59636e",
    "map": "#0b7c86",
    "yes": "#0b7c86",
    "no": "#c23f2c",
}
DARK = {
    "paper": "#0d1117",
    "ink": "#e6edf3",
    "muted": "#9198a1",
    "map": "#5cc8d0",
    "yes": "#5cc8d0",
    "no": "#ff8a75",
}


def fine_tune(encoder: str, reviews: Path, folder: Path) -> None:
    """Save a classifier of film reviews."""
    set_seed(0)
    rows = load_dataset("csv", data_files=str(reviews / "train.csv"), split="train")
    rows = rows.shuffle(seed=0).select(range(4000))
    tokenizer = AutoTokenizer.from_pretrained(encoder)
    model = AutoModelForSequenceClassification.from_pretrained(encoder, id2label=dict(enumerate(NAMES)))
    encoded = rows.map(
        lambda row: tokenizer(row["text"], truncation=True) | {"labels": NAMES.index(row["label"])},
        remove_columns=rows.column_names,
    )
    arguments = TrainingArguments(
        f"{folder}-training",
        num_train_epochs=1,
        learning_rate=1e-4,
        per_device_train_batch_size=16,
        save_strategy="no",
        report_to="none",
        dataloader_pin_memory=False,
    )
    Trainer(model, arguments, train_dataset=encoded, data_collator=DataCollatorWithPadding(tokenizer)).train()
    model.save_pretrained(folder)
    tokenizer.save_pretrained(folder)


def draw(folder: Path, card: dict[str, Any], colours: dict[str, str], file: Path) -> None:
    """The row of attention that the model reads, as bars, and the verdict side by side."""
    (own,) = glasshead.explain(str(folder), SENTENCE, method="attention")
    plt.rcParams |= {"font.family": "DejaVu Sans", "text.color": colours["ink"]}
    figure = plt.figure(figsize=(10, 6.9), dpi=120)
    axes = figure.add_axes((0.13, 0.2, 0.31, 0.64))
    places = range(len(own.tokens))
    axes.barh(places, own.scores, color=colours["map"], height=0.62)
    for place, score in zip(places, own.scores, strict=True):
        axes.text(score + 0.005, place, f"{score:.2f}", size=14, va="center", color=colours["muted"])
    axes.set_yticks(places, own.tokens, size=17)
    axes.invert_yaxis()
    axes.set_xticks([])
    axes.tick_params(length=0, labelcolor=colours["ink"])
    axes.spines[["top", "right", "bottom"]].set_visible(False)
    axes.spines["left"].set_color(colours["muted"])
    figure.text(0.02, 0.955, f"“{SENTENCE}”", size=21, weight="bold", va="top")
    read = f"what {own.tokens[0]} attends to: last layer, mean of heads\n"
    figure.text(
        0.02, 0.135, f"{read}predicted {own.predicted}, {own.prediction:.0%}",
        size=14, color=colours["muted"], va="top", linespacing=1.4,
    )  # fmt: skip
    figure.text(0.52, 0.955, "What its audit says", size=21, weight="bold", va="top")
    verdict, _, _ = card["verdict"].partition(". ")
    height = 0.88
    for mark, colour, sentence in [("", "ink", verdict + "."), *claims(card)]:
        lines = textwrap.wrap(sentence, 36 if mark else 39)
        figure.text(0.52, height, mark, size=19, color=colours[colour], weight="bold", va="top")
        weight = "bold" if sentence.endswith(":") else "normal"
        figure.text(
            0.55 if mark else 0.52, height, "\n".join(lines),
            size=17, va="top", linespacing=1.2, weight=weight,
        )  # fmt: skip
        height -= 0.0437 * len(lines) + (0.014 if weight == "bold" else 0.026)
    figure.savefig(file, transparent=True)
    plt.close(figure)


def claims(card: dict[str, Any]) -> list[tuple[str, str, str]]:
    """The first two sentences of the audit that you can claim, and the first two that you cannot."""
    lines = []
    for holds, mark, heading in (("yes", "✓", "You can claim:"), ("no", "✗", "Do not claim:")):
        sentences = [claim["says"] for claim in card["claims"] if claim["holds"] == holds][:2]
        lines += [("", "ink", heading), *((mark, holds, sentence) for sentence in sentences)]
    return lines


if __name__ == "__main__":
    encoder, reviews, folder = sys.argv[1], Path(sys.argv[2]), Path(sys.argv[3])
    if not folder.exists():
        fine_tune(encoder, reviews, folder)
    if not (folder / "card.json").exists():
        glasshead.audit(str(folder), str(reviews / "test.csv"), audits=("explanation",), limit=200).save(
            folder / "card.json"
        )
    card = json.loads((folder / "card.json").read_text(encoding="utf-8"))
    draw(folder, card, LIGHT, IMAGES / "verdict.png")
    draw(folder, card, DARK, IMAGES / "verdict-dark.png")
