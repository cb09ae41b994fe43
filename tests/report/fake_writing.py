"""Written texts made by hand: nothing of them needs a model."""

import math
from base64 import b64encode
from dataclasses import replace
from io import BytesIO

from PIL import Image

from glasshead.results import Alternative, OtherAnswer, Written, WrittenMap, WrittenToken

NASTY = "<img src=x onerror=alert(1)>"


def place(probabilities, chosen, chances):
    names = ["“ good”", "“ bad”", f"“{NASTY}”"]
    others = [
        Alternative(name, 10 + number, probability, None if chances is None else chances[number])
        for number, (name, probability) in enumerate(zip(names, probabilities, strict=True))
    ]
    return WrittenToken(
        math.log(probabilities[chosen]), chosen + 1, others[chosen].chance, 1.0, tuple(others)
    )


def writing(*, beams=False):
    """A prompt of three tokens, one of them special, and an answer of three, one of them half a character."""
    prompt, answer = f"film {NASTY}", " good 🙂"
    end = len(prompt)
    chances = [None] * 3 if beams else [[0.7, 0.3, 0.0], [1.0, 0.0, 0.0], [0.6, 0.4, 0.0]]
    rows = ((0.5, 0.25, 0.25), (0.1, 0.2, 0.3, 0.4), (0.1, 0.1, 0.1, 0.1, 0.6))
    changes = ((0.0, -2.0, 1.0), (0.5, 0.5, -0.5, 4.0), (0.0, 0.0, 0.0, 0.0, 0.0))
    maps = [
        WrittenMap("attention", tuple(tuple(v / (1 + layer + (h or 0)) for v in row) for row in rows), False,
                   layer=layer, head="mean" if h is None else h, reading=f"layer {layer}, head {h}")
        for layer in (0, 1) for h in (None, 0, 1)
    ]  # fmt: skip
    maps.append(WrittenMap("erasure", changes, True, "log-probability", (-0.5, -1.0, -2.0), settings="mean"))
    maps.append(WrittenMap("erasure", ((1.0, 1.0, 1.0, 1.0, 1.0),), True, "sum", (-3.5,), whole=True))
    return Written(
        prompt=prompt,
        answer=answer,
        tokens=("[BOS]", "film", NASTY, " good", " 🙂", " 🙂"),
        ids=(0, 5, 6, 10, 11, 10),
        words=(-1, 0, 1, 2, 3, 3),
        offsets=((0, 0), (0, 4), (5, end), (end, end + 5), (end + 5, end + 7), (end + 5, end + 7)),
        start=3,
        answer_tokens=tuple(
            place(own, chosen, chance)
            for own, chosen, chance in zip(
                [(0.6, 0.3, 0.1), (0.5, 0.4, 0.1), (0.5, 0.3, 0.2)], (0, 0, 1), chances, strict=True
            )
        ),
        strategy="beam=3" if beams else "nucleus=0.8",
        seed=None if beams else 7,
        stop="3 tokens, the requested number",
        model=f"gpt {NASTY}",
        other_answers=(OtherAnswer(" bad", -4.0), OtherAnswer(NASTY, -5.0)) if beams else (),
        maps=tuple(maps),
    )


def writing_of_image():
    """The same behind an image of two parts, one beside the other, and one token of text."""
    head, end = writing(), len(writing().prompt)
    file = BytesIO()
    Image.new("RGB", (80, 40), (200, 30, 30)).save(file, "PNG")
    return replace(
        head,
        tokens=("row 1, column 1", "row 1, column 2", *head.tokens[2:]),
        words=(0, 1, 2, 3, 4, 4),
        offsets=((0, 0), (0, 0), (0, end), *head.offsets[3:]),
        images=(f"data:image/png;base64,{b64encode(file.getvalue()).decode()}",),
        boxes=((0, 0, 40, 40), (40, 0, 80, 40), None, None, None, None),
    )
