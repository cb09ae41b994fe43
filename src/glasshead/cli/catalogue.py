"""What there is to choose from, straight from the registries."""

import inspect
from collections.abc import Callable, Mapping
from typing import Any

from glasshead.attention import ACTIVATIONS, KERNELS, MECHANISM_PRESETS, POSITIONS, parse, to_name
from glasshead.audits import AUDITS
from glasshead.data import DATASETS, IMAGE_SETS
from glasshead.explainers import EXPLAINERS, REMOVALS
from glasshead.generation import STRATEGIES
from glasshead.models import IMAGE_MODELS, MODELS
from glasshead.training import PENALTIES, TRAINING_PRESETS

CatalogueTable = tuple[list[str], list[list[str]]]
"""Column heads and rows."""


def sentence(documented: object) -> str:
    """The sentence with which a docstring begins; nothing if there is none."""
    return " ".join(inspect.cleandoc(documented.__doc__ or "").partition("\n\n")[0].split())


def tick(holds: bool) -> str:
    return "✓" if holds else ""


def activations() -> CatalogueTable:
    """The facts of Huang et al. 2024, Table 3, and two more."""
    facts = {
        "monotone": "mono-\ntone",
        "log_nonlinear": "log-\nnon-\nlinear",
        "normalised": "norma-\nlised",
        "origin_symmetric": "origin-\nsymm.",
        "signed": "signed",
        "rows_sum_to_one": "rows\nsum\nto 1",
    }
    rows = [
        [name, *(tick(getattr(entry, fact)) for fact in facts), entry.paper]
        for name, entry in ACTIVATIONS.items()
    ]
    return ["name", *facts.values(), "paper"], rows


def positions() -> CatalogueTable:
    """The scores of each, whether parameters come with it, and whether its scores are dot products."""
    rows = [
        [name, sentence(entry), tick(entry.learned), tick(entry.is_dot_product), entry.paper or "–"]
        for name, entry in POSITIONS.items()
    ]
    return ["name", "what", "learned", "dot\nproducts", "paper"], rows


def mechanisms() -> CatalogueTable:
    """Every word; an activation and a position are joined by a plus."""
    rows = [[name, "activation", name, "none", entry.paper] for name, entry in ACTIVATIONS.items()]
    rows += [
        [name, "position", "softmax", name, entry.paper]
        for name, entry in POSITIONS.items()
        if name != parse({})["position"]["name"]
    ]
    for name, spec in MECHANISM_PRESETS.items():
        full = parse(spec)
        papers = [ACTIVATIONS[full["activation"]["name"]].paper, POSITIONS[full["position"]["name"]].paper]
        rows.append(
            [
                name,
                "preset",
                format_options(full["activation"]),
                format_options(full["position"]),
                papers[1] or papers[0],
            ]
        )
    return ["name", "kind", "activation", "position", "paper"], rows


def format_options(options: Mapping[str, Any]) -> str:
    """A name with its options."""
    return ", ".join(value if key == "name" else f"{key} {value}" for key, value in options.items())


def kernels() -> CatalogueTable:
    rows = [[name, sentence(entry), tick(entry.linear_memory)] for name, entry in KERNELS.items()]
    return ["name", "what", "linear\nmemory"], rows


def explainers() -> CatalogueTable:
    rows = [[name, entry.description, entry.citation] for name, entry in EXPLAINERS.items()]
    return ["name", "what", "source"], rows


def removals() -> CatalogueTable:
    """What each does to a word."""
    return ["name", "what", "source"], [[n, e.description, e.citation] for n, e in REMOVALS.items()]


def audits() -> CatalogueTable:
    return ["name", "question", "source"], [[n, e.question, e.citation] for n, e in AUDITS.items()]


def datasets() -> CatalogueTable:
    texts = [[name, entry.description] for name, entry in DATASETS.items()]
    return ["name", "what"], texts + [[name, entry.description] for name, entry in IMAGE_SETS.items()]


def models() -> CatalogueTable:
    return ["name", "what"], [
        [name, sentence(entry)] for name, entry in (*MODELS.items(), *IMAGE_MODELS.items())
    ]


def presets() -> CatalogueTable:
    """What each trains, and how."""
    rows = [
        [
            name,
            config.model or "a folder",
            to_name(config.attention) if config.attention else "its own",
            f"{config.optimizer} {config.learning_rate:g}",
            f"{config.batch_size} × {config.epochs}",
        ]
        for name, config in TRAINING_PRESETS.items()
    ]
    return ["name", "model", "attention", "optimizer", "batch ×\nepochs"], rows


def penalties() -> CatalogueTable:
    """What each makes small, next to the loss."""
    return ["name", "what", "source"], [[n, sentence(type(e)), e.source] for n, e in PENALTIES.items()]


def strategies() -> CatalogueTable:
    """How each chooses the next token, from the model's probabilities p."""
    rows = [
        [name if entry.usual is None else f"{name}={entry.usual:g}", entry.description, entry.citation]
        for name, entry in STRATEGIES.items()
    ]
    return ["name", "what", "source"], rows


def plots() -> CatalogueTable:
    """What each shows, and what draws it; those of one command or page stand together, in their order."""
    from glasshead.report import PLOTS

    def place(item: tuple[str, Any]) -> Any:
        name, entry = item
        several = bool(entry.sections)  # of one value: behind the others, by value and section
        return several, entry.of.__name__ if several else "", entry.sections, entry.order, name

    rows = [
        [name, sentence(entry.draw), entry.drawn_by or f"plot {name}"]
        for name, entry in sorted(PLOTS.items(), key=place)
    ]
    return ["name", "what", "drawn by"], rows


TABLES: dict[str, Callable[[], CatalogueTable]] = {
    "activations": activations,
    "audits": audits,
    "datasets": datasets,
    "explainers": explainers,
    "kernels": kernels,
    "mechanisms": mechanisms,
    "models": models,
    "penalties": penalties,
    "plots": plots,
    "positions": positions,
    "presets": presets,
    "removals": removals,
    "strategies": strategies,
}


def catalogue(kind: str) -> CatalogueTable:
    """Column heads and rows of one kind, one of `glasshead.cli.listing.LISTED_KINDS`."""
    return TABLES[kind]()
