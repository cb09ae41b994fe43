"""What there is to choose from, straight from the registries."""

from collections.abc import Callable

from glasshead.attention import ACTIVATIONS
from glasshead.audit import AUDITS
from glasshead.data import DATASETS
from glasshead.errors import InputError
from glasshead.explain import EXPLAINERS
from glasshead.models import MODELS
from glasshead.registry import nearest

Table = tuple[list[str], list[list[str]]]


def first_line(documented: object) -> str:
    """The sentence with which a docstring begins."""
    return (documented.__doc__ or "").strip().splitlines()[0]


def activations() -> Table:
    """The facts of Huang et al. 2024, Table 3, and two more."""
    facts = {
        "monotone": "mono-\ntone",
        "log_nonlinear": "log-non-\nlinear",
        "normalised": "norma-\nlised",
        "origin_symmetric": "origin-\nsymm.",
        "signed": "signed",
        "rows_sum_to_one": "rows\nsum to 1",
    }
    rows = [
        [name, *("✓" if getattr(entry, fact) else "" for fact in facts), entry.paper]
        for name, entry in ACTIVATIONS.items()
    ]
    return ["name", *facts.values(), "paper"], rows


def explainers() -> Table:
    rows = [[name, entry.description, entry.citation] for name, entry in EXPLAINERS.items()]
    return ["name", "what", "source"], rows


def audits() -> Table:
    return ["name", "question", "source"], [[n, e.question, e.citation] for n, e in AUDITS.items()]


def datasets() -> Table:
    return ["name", "what"], [[name, entry.description] for name, entry in DATASETS.items()]


def models() -> Table:
    return ["name", "what"], [[name, first_line(entry)] for name, entry in MODELS.items()]


KINDS: dict[str, Callable[[], Table]] = {
    "activations": activations,
    "audits": audits,
    "datasets": datasets,
    "explainers": explainers,
    "models": models,
}


def catalogue(kind: str) -> Table:
    """Column heads and rows of one kind.

    Raises:
        InputError: on an unknown kind.
    """
    if kind not in KINDS:
        raise InputError(f"nothing to list under {kind!r}: {nearest(kind, KINDS)}")
    return KINDS[kind]()
