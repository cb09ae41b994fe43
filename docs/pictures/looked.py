"""The picture of images with text in the README: two questions about one image, the maps of two methods, and
what an audit says of each.

    python docs/pictures/looked.py my-folder

The model is that of docs/tutorials/where-did-it-look.md, trained by the code of that page (a minute on two
cores); the image is the first of its test set. Maps and audits stay in the folder.
"""

import json
import re
import sys
import textwrap
from pathlib import Path
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
from verdict import DARK, IMAGES, LIGHT

import glasshead

PAGE = Path(__file__).parents[1] / "tutorials" / "where-did-it-look.md"
METHODS = {"gradient": {"method": "gradient-l2"}, "attention,\nlast layer": {"method": "attention"}}
COVER = "#59636e"
FINDING = "image-map.fall.other-question.all"


def trained() -> dict[str, Any]:
    """What the cells of the page define, up to the model's first answer."""
    text = PAGE.read_text(encoding="utf-8").split("\n## Ask\n")[0]
    cells: dict[str, Any] = {}
    for cell in re.findall(r"^```\{code-cell\}[^\n]*\n(.*?)^```$", text, re.DOTALL | re.MULTILINE):
        exec(re.sub(r"^:tags:.*\n", "", cell), cells)
    return cells


def measure() -> dict[str, Any]:
    """Maps by both methods for both questions about the first image, and the verdicts on each method."""
    cells = trained()
    model, processor, rows = cells["model"], cells["processor"], cells["test_rows"]
    prompts = [{"image": row["image"], "text": row["question"]} for row in rows[:2]]
    found: dict[str, Any] = {"image": np.asarray(rows[0]["image"]).tolist(), "maps": {}, "verdicts": {}}
    found["questions"] = [row["question"] for row in rows[:2]]
    for name, options in METHODS.items():
        explained = glasshead.explain(model, prompts, tokenizer=processor, **options)
        found["maps"][name] = [
            [[*box, score] for box, score in zip(one.boxes, one.scores, strict=True) if box is not None]
            for one in explained
        ]
        found["answers"] = [[one.predicted, one.prediction] for one in explained]
        card = glasshead.audit(model, rows, tokenizer=processor, audits=["image-map"], **options)
        finding = card.find(FINDING)
        found["verdicts"][name] = [finding.verdict, finding.status, finding.interval[0]]
    return found


def draw(found: dict[str, Any], colours: dict[str, str], file: Path) -> None:
    """The image under its maps, method by method, and the verdicts: what matters less is covered more."""
    plt.rcParams |= {"font.family": "DejaVu Sans", "text.color": colours["ink"]}
    figure = plt.figure(figsize=(10, 4.9), dpi=120)
    image = np.array(found["image"])
    side = image.shape[0]
    for number, question in enumerate(found["questions"]):
        answer, probability = found["answers"][number]
        left = 0.15 + 0.27 * number
        figure.text(left, 0.99, "\n".join(textwrap.wrap(question, 21)), size=14, va="top", linespacing=1.25)
        figure.text(left, 0.865, f"→ {answer}, {probability:.0%}", size=14, weight="bold", va="top")
    for row, (name, maps) in enumerate(found["maps"].items()):
        bottom = 0.42 - 0.415 * row
        figure.text(0.01, bottom + 0.195, name, size=15, va="center", linespacing=1.25)
        for number, parts in enumerate(maps):
            axes = figure.add_axes((0.15 + 0.27 * number, bottom, 0.191, 0.39))
            axes.imshow(image, extent=(0, side, side, 0))
            most = max(part[4] for part in parts)
            for x, y, right, below, score in parts:
                cover = plt.Rectangle((x, y), right - x, below - y, color=COVER, lw=0)
                cover.set_alpha(0.85 * (1 - score / most))
                axes.add_patch(cover)
            axes.set_axis_off()
        verdict, status, low = found["verdicts"][name]
        mark = "muted" if status != "evidence" else "yes" if low > 0 else "no"
        figure.text(
            0.68, bottom + 0.32, {"yes": "✓", "no": "✗", "muted": "?"}[mark],
            size=19, weight="bold", va="top", color=colours[mark],
        )  # fmt: skip
        lines = textwrap.wrap(verdict, 26)
        figure.text(0.715, bottom + 0.32, "\n".join(lines), size=14, va="top", linespacing=1.25)
    figure.savefig(file, transparent=True)
    plt.close(figure)


if __name__ == "__main__":
    folder = Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    if not (folder / "looked.json").exists():
        (folder / "looked.json").write_text(json.dumps(measure()), encoding="utf-8")
    found = json.loads((folder / "looked.json").read_text(encoding="utf-8"))
    draw(found, LIGHT, IMAGES / "looked.png")
    draw(found, DARK, IMAGES / "looked-dark.png")
