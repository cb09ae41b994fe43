"""Histories whose every number is planted: four looks at two polar groups and neutral tokens."""

import numpy as np

from glasshead.papers.results import CURVES, PRODUCTS, History

STEPS = np.array([0, 10, 20, 40])
GROUPS = {"positive": 12, "negative": 12, "neutral": 13}
NASTY = "<b onclick=alert(1)>$x$🎬</b>"
SCORE, POLARITY = {"D": 1.0, "E": -0.25, "F": 0.5}, {"A": 0.25, "B": 2.0, "C": 1.0}
"""How much each term adds to a positive token until step 40."""
REST = 0.1
SIGN = {"positive": 1.0, "negative": -1.0, "neutral": 0.0}
TERMS = {
    "score": {name: f"words of {name}" for name in SCORE},
    "polarity": {name: f"words of {name}" for name in POLARITY},
}


def columns(names, rows):
    return {name: np.array([row[place] for row in rows]) for place, name in enumerate(names)}


def facts(**changes):
    return {
        "kind": "pooled", "form": "DP", "title": "a made-up form", "why_no_form": None, "exact": True,
        "why_not_exact": None, "score": "context", "encoder": "none", "activation": "softmax", "scale": 10.0,
        "optimizer": "sgd", "penalties": {}, "probe": 100, "labels": ["negative", "positive"],
        "groups": dict(GROUPS), "grouped_by": "truth", "terms": TERMS, "learning_rate": 1.0, "every": 10,
        "steps": 40, "best_step": 20,
    } | changes  # fmt: skip


def token_names():
    return [(f"{group}{i}", group) for group, n in GROUPS.items() for i in range(n)] + [(NASTY, "")]


def noise(rank):
    """How far a token is from its group, the same at every look."""
    return 0.01 * (rank - 1)


def history(steps=STEPS, **changes):
    """A positive token ends with score 1.25 + rest + noise, a negative one with minus that, others at 0."""
    told = facts(**changes)
    share = {step: step / 40 for step in STEPS.tolist()}
    curves, products, rows = [], [], []
    for step in np.asarray(steps).tolist():
        t = share[step]
        curves += [("loss", "", 0.7 - t / 2, np.nan, 100), ("accuracy", "", 0.5 + t / 2, np.nan, 100)]
        curves += [("entropy", "", 1 - t / 10, 0.01, 100), ("VᵀW", "", -t, np.nan, 1)]
        curves += [("‖V‖", "", 1.0, np.nan, 1), ("‖W‖", "", 1 + t, np.nan, 1)]
        curves = [(step, *row) if len(row) == 5 else row for row in curves]
        for group, n in GROUPS.items():
            for name, end in (("score", 1.25 + REST), ("polarity", 3.25 + REST)):
                curves.append((step, name, group, SIGN[group] * end * t, 0.01, n))
            curves.append((step, "weight", group, 0.1, 0.01, n))
            for quantity, ends in (("score", SCORE), ("polarity", POLARITY)):
                curves += [
                    (step, f"{quantity} {name}", group, SIGN[group] * end / 40, 0.001, n)
                    for name, end in ends.items()
                ]
        for first in GROUPS:
            for second in list(GROUPS)[list(GROUPS).index(first) :]:
                middle = 2 * SIGN[first] * SIGN[second] * t
                quartiles = [middle + shift for shift in (-1, -0.5, 0, 0.5, 1)]
                products.append((step, "e", f"{first} × {second}", *quartiles, middle, 9))
                for part, rate in (("A", 0.1), ("B", 1.9)):
                    rate *= SIGN[first] * SIGN[second] / 40
                    curves.append((step, f"Ω {part}", f"{first} × {second}", rate, np.nan, 9))
        for rank, (token, group) in enumerate(token_names()):
            sign = SIGN.get(group, 0.0)
            row = {"step": step, "token": token, "group": group, "count": 7 + rank}
            row |= {"score": sign * (1.25 + REST) * t + noise(rank % 3), "weight": 0.1}
            row |= {"polarity": sign * (3.25 + REST) * t}
            for quantity, ends in (("score", SCORE), ("polarity", POLARITY)):
                row |= {f"rate {quantity} {name}": sign * end / 40 for name, end in ends.items()}
                if told["exact"] and len(steps) > 1:
                    row |= {f"added {quantity} {name}": sign * end * t for name, end in ends.items()}
            rows.append(row)
    tokens = {name: np.array([row[name] for row in rows]) for name in rows[0]}
    return History(told, columns(CURVES, curves), columns(PRODUCTS, products), tokens)


def layered():
    """Entropy and residual of two layers, and agreement; no tokens."""
    curves = [
        (step, quantity, group, value - step / 100, 0.1, 8)
        for step in STEPS.tolist()
        for quantity, group, value in (
            ("entropy", "layer 0", 1.0), ("entropy", "layer 1", 0.9), ("residual", "layer 0", 0.5),
            ("residual", "layer 1", 0.4), ("agreement", "", 0.3),
        )
    ]  # fmt: skip
    told = facts(kind="layers", form=None, exact=False, terms={}, groups={}, why_no_form="several heads")
    return History(told, columns(CURVES, curves), columns(PRODUCTS, []), {})


def in_context(local=0.0, alone=2.0, flipped=0.0, signed=False):
    """The history with 40 tokens of either class and 100 neutral ones: classes stand out by ``local`` in
    their texts and by ``alone`` alone, and a share of the positive tokens has another sign of polarity
    there."""
    chance = np.random.default_rng(0)
    group = np.repeat(list(GROUPS), [40, 40, 100])
    names = [f"{name}{rank}" for rank, name in enumerate(group.tolist())]
    polar = group != "neutral"
    sign = np.array([SIGN[name] for name in group.tolist()])
    polarity = 5 * sign + chance.normal(size=len(group)) * 0.5
    turned = (group == "positive") & (np.arange(len(group)) < 40 * flipped)
    table = {
        "token": np.array([NASTY, *names[1:]]),
        "group": group,
        "count": np.full(len(group), 9),
        "local score": chance.normal(size=len(group)) + local * polar,
        "local polarity": polarity,
        "global score": chance.normal(size=len(group)) + alone * polar,
        "global polarity": np.where(turned, -polarity, polarity),
    }
    bare = history(encoder="lstm", signed=signed)
    return History(bare.facts, bare.curves, bare.products, bare.tokens, table)


def chosen(found, statistic, against, group):
    """The finding about one thing, if there is one."""
    return next((f for f in found if (f.statistic, f.against, f.group) == (statistic, against, group)), None)
