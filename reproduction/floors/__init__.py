"""What needs no attention: unigrams on sets of our tables, of pairs on the second text."""

from collections.abc import Iterator
from functools import partial

from reproduction.floors.measure import SETS, unigrams
from reproduction.markdown import markdown
from reproduction.study import Study, measure_missing, read_numbers


def measure_unigrams(processes: int = 1) -> None:
    """Every set."""
    measure_missing("floors", "unigrams", {name: partial(unigrams, *read) for name, read in SETS.items()})


def page() -> Iterator[str]:
    """A part of transformers.md."""
    percent = ("accuracy", "macro-F1", "commonest")
    rows = []
    for name, numbers in read_numbers("floors", "unigrams").items():
        accuracy, f1, commonest = (f"{100 * numbers[each]:.1f}" for each in percent)
        rows.append([name, accuracy, f1, f"{numbers['C']:g}", commonest])
    heads = ["unigram logistic regression", "accuracy %", "macro-F1 %", "C", "commonest class of train %"]
    yield markdown(heads, rows, rule="---")


STUDY = Study("floors", {"unigrams": measure_unigrams}, {"floors": page})
