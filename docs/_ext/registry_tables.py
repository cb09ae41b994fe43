"""Tables of the reference that come from the registries: what is added there is listed here."""

from collections.abc import Iterable, Sequence

import torch

from formulas import equation_of, tex
from glasshead.attention import (
    ACTIVATIONS,
    AUTOMATIC,
    KERNELS,
    MECHANISM_PRESETS,
    POSITIONS,
    AttentionInputs,
    Mechanism,
    mechanism,
)

# Of these no package exports any: the reference is the only one that lists mappings, asks a kernel what it
# serves on any machine, and shows the tables of `glasshead list` as Markdown.
from glasshead.attention.kernels import flex, triton
from glasshead.attention.positions.distance_mappings import MAPPINGS
from glasshead.cli.catalogue import TABLES, catalogue, sentence

ACTIVATION_FACTS = {
    "monotone": "monotone",
    "log_nonlinear": "log-nonlinear",
    "normalised": "normalised",
    "origin_symmetric": "symmetric",
    "signed": "signed",
    "rows_sum_to_one": "sums to one",
}
POSITION_FACTS = {
    "is_dot_product": "dot products",
    "nonnegative_scores": "scores ≥ 0",
    "changes_output": "adds to values",
}
MAPPING_FACTS = {
    "one_at_zero": "f(0) = 1",
    "vanishes": "f(−∞) = 0",
    "bounded": "bounded",
    "tunable": "tunable",
    "monotone": "monotone",
}
# What these refuse on every machine; they also refuse where a machine lacks what they need.
ANYWHERE = {"flex": flex.reason_against_flex, "triton": triton.reason_against_triton}
HEADS = {"num_heads": 8, "head_dim": 64}


def tables() -> dict[str, str]:
    """Markdown by name."""
    markdown = {
        kind: rows([" ".join(head.replace("-\n", "").split()) for head in heads], body)
        for kind in TABLES
        for heads, body in [catalogue(kind)]
    }
    return markdown | {
        "activations": activations(),
        "positions": positions(),
        "mechanism-presets": presets(),
        "mappings": mappings(),
        "kernels": kernels(),
    }


def rows(heads: Sequence[str], body: Iterable[Sequence[str]]) -> str:
    lines = ["| " + " | ".join(heads) + " |", "|---" * len(heads) + "|"]
    for name, *cells in body:
        lines.append("| " + " | ".join([f"`{name}`", *(cell.replace("|", r"\|") for cell in cells)]) + " |")
    return "\n".join(lines) + "\n"


def facts_of(thing: object, facts: dict[str, str]) -> str:
    return ", ".join(word for fact, word in facts.items() if getattr(thing, fact)) or "–"


def formula(docstring: str | None) -> str:
    return f"${tex(equation_of(docstring or ''))}$"


def activations() -> str:
    heads = ("name", "equation", "facts", "kernels", "paper")
    return rows(
        heads,
        [
            [
                name,
                formula(e.__doc__),
                facts_of(e, ACTIVATION_FACTS),
                ", ".join(serving(mechanism(name))),
                e.paper,
            ]
            for name, e in ACTIVATIONS.items()
        ],
    )


def positions() -> str:
    heads = ("name", "equation", "facts", "cost", "kernels", "paper")
    body = []
    for name, entry in POSITIONS.items():
        built = mechanism(name, **HEADS)
        body.append(
            [
                name,
                formula(entry.__doc__),
                facts_of(built.position, POSITION_FACTS),
                cost(built),
                ", ".join(serving(built)),
                built.position.paper,
            ]
        )
    return rows(heads, body)


def presets() -> str:
    heads = ("name", "is", "cost", "kernels")
    body = []
    for name, spec in MECHANISM_PRESETS.items():
        built = mechanism(name, **HEADS)
        body.append(
            [name, f"`{spec['activation']}+{spec['position']}`", cost(built), ", ".join(serving(built))]
        )
    return rows(heads, body)


def cost(entry: Mechanism) -> str:
    """Time in the number of tokens n, and parameters for eight heads of 64."""
    time = "$n$" if "linear" in serving(entry) else "$n^2$"
    parameters = sum(parameter.numel() for parameter in entry.parameters())
    return f"{time}, {parameters:,} parameters" if parameters else time


def serving(entry: Mechanism) -> list[str]:
    """The kernels that can serve a mechanism with padding and under a causal mask, on whatever they need."""
    q, k, v = torch.zeros(3, 2, 8, 96, 64)
    padding = torch.arange(96) < torch.tensor([[96], [60]])
    names = []
    for name, kernel in KERNELS.items():
        calls = [
            AttentionInputs.of(entry, q, k, v, mask=padding),
            AttentionInputs.of(entry, q, k, v, is_causal=True),
        ]
        with torch.no_grad():
            reason = ANYWHERE.get(name, kernel.unsupported_reason)
            if all(reason(call) is None for call in calls):
                names.append(name)
    return names


def mappings() -> str:
    body = [
        [name, formula(e.function.__doc__), *("yes" if getattr(e, fact) else "no" for fact in MAPPING_FACTS)]
        for name, e in MAPPINGS.items()
    ]
    return rows(("mapping", "f(R)", *MAPPING_FACTS.values()), body)


def kernels() -> str:
    body = [[n, sentence(e), "$n$" if e.linear_memory else "$n^2$"] for n, e in KERNELS.items()]
    order = ", ".join(f"`{name}`" for name in AUTOMATIC)
    return (
        rows(("kernel", "what it serves", "memory"), body)
        + f'\n`kernel="auto"` tries them in the order {order}.\n'
    )
