"""Compare folders of one kind: audits, or runs and folders of repeats."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from glasshead.audits.compare_audits import finding_differences
from glasshead.audits.compare_runs import baseline_index, compare_runs, short_names
from glasshead.errors import InputError
from glasshead.results import AuditCard, Comparison, Difference
from glasshead.training import AUDIT, folder_kind


@dataclass(frozen=True)
class AuditComparison:
    """Several audits, the paired differences of their findings from one of them, and remarks."""

    cards: list[AuditCard]
    differences: list[Difference]
    remarks: list[str]


def compare_folders(
    folders: Sequence[Path], *, against: str | None = None, split: str | None = None, seed: int = 0
) -> AuditComparison | Comparison:
    """The comparison of folders of one kind; ``split`` is that of runs (None: test).

    Raises:
        InputError: on folders of different kinds, a split of audits, and as `compare_runs`.
    """
    first, *kinds = [folder_kind(folder) for folder in folders]
    for folder, kind in zip(folders[1:], kinds, strict=True):
        if kind != first:
            raise InputError(f"{folder} is not {first}, as {folders[0]} is, but {kind}: compare one kind")
    if first != AUDIT:
        return compare_runs(folders, against=against, split=split or "test", seed=seed)
    if split is not None:
        raise InputError("an audit has read one split already: leave `split` out")
    base = baseline_index(folders, short_names(folders), against)
    return compare_cards([AuditCard.load(folder) for folder in folders], base, seed)


def compare_cards(cards: list[AuditCard], base: int = 0, seed: int = 0) -> AuditComparison:
    """The findings of all audits minus those of the audit ``base``, text by text."""
    return AuditComparison(cards, *finding_differences(cards, base, seed))
