"""Compare audits, or runs and folders of repeats: `glasshead.compare`."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

from glasshead.audits.comparing.compare_audits import finding_differences
from glasshead.audits.comparing.folder_names import baseline_index, short_names
from glasshead.audits.judging.conclude import conclude
from glasshead.errors import InputError
from glasshead.files import check_readable
from glasshead.results import CARD_FILE, AuditCard, AuditComparison, Comparison, with_common_names
from glasshead.spelling import spell

if TYPE_CHECKING:
    from glasshead.opening import Run

Comparable: TypeAlias = "AuditCard | Run | str | Path"
AN_AUDIT = "an audit"


def compare(
    *compared: Comparable, against: Comparable | None = None, split: str | None = None, seed: int = 0
) -> Comparison:
    """Compare audits, or runs: how do they differ, and could that be chance?

    ``compared`` are two or more of one kind: audits (what `glasshead.audit` gives, or folders), or runs and
    folders of repeats. All are compared with the first, or with ``against``: another of them, or its name.
    ``split`` is the split of runs (None: test), ``seed`` the seed of the bootstrap.

    Raises:
        InputError: on fewer than two, on different kinds, on a split of audits, and as `compare_runs`.
    """
    if len(compared) < 2:
        raise InputError("a comparison needs two or more: give audits, or runs")
    sources = [load_compared(source) for source in compared]
    names = source_names(sources)
    first, *kinds = [kind_of(source) for source in sources]
    for name, kind in zip(names[1:], kinds, strict=True):
        if kind != first:
            raise InputError(f"{names[0]} is {first}, but {name} is {kind}: compare things of one kind")
    base = baseline_rank(None if against is None else load_compared(against), sources, names)
    if first != AN_AUDIT:
        from glasshead.audits.comparing.run_differences import compare_runs

        folders = [source for source in sources if isinstance(source, Path)]
        return compare_runs(folders, against=str(folders[base]), split=split or "test", seed=seed)
    if split is not None:
        raise InputError(f"an audit is about one split: leave {spell('split')} out")
    loaded = [source if isinstance(source, AuditCard) else AuditCard.load(source) for source in sources]
    # Under a common name the same is said of "the audited method".
    cards = [
        card if card is own else conclude(card)
        for card, own in zip(with_common_names(loaded), loaded, strict=True)
    ]
    return AuditComparison(cards, *finding_differences(cards, base, seed))


def kind_of(source: AuditCard | Path) -> str:
    """What is compared, in words. An audit is told without what trains models.

    Raises:
        InputError: on a folder that could not be compared.
    """
    if isinstance(source, AuditCard):
        return AN_AUDIT
    check_readable(source)
    if (source / CARD_FILE).is_file():
        return AN_AUDIT
    from glasshead.training import folder_kind

    return folder_kind(source)


def load_compared(compared: Comparable) -> AuditCard | Path:
    """A card, or a folder.

    Raises:
        InputError: if it is neither.
    """
    if isinstance(compared, AuditCard):
        return compared
    if isinstance(compared, str | Path):
        return Path(compared)
    from glasshead.opening import Run

    if isinstance(compared, Run):
        return compared.folder
    raise InputError(f"only audits, runs, or their folders can be compared, not {ascii(compared)[:60]}")


def source_names(sources: Sequence[AuditCard | Path]) -> list[str]:
    """The names of the cards, and of the folders as much of their paths as tells them apart.

    Raises:
        InputError: if one is given twice.
    """
    if len({id(source) for source in sources if isinstance(source, AuditCard)}) < sum(
        isinstance(source, AuditCard) for source in sources
    ):
        raise InputError("the same audit is given twice: a comparison needs two")
    folders = iter(short_names([source for source in sources if isinstance(source, Path)]))
    return [
        str(source.facts.get("name") or "audit") if isinstance(source, AuditCard) else next(folders)
        for source in sources
    ]


def baseline_rank(
    against: AuditCard | Path | None, sources: Sequence[AuditCard | Path], names: Sequence[str]
) -> int:
    """The index of the source with which the others are compared.

    Raises:
        InputError: if it is none of them.
    """
    if isinstance(against, AuditCard):
        ranks = [rank for rank, source in enumerate(sources) if source is against]
        if not ranks:
            raise InputError(
                f"{spell('against')} is an audit that is not compared: give it among the others, too"
            )
        return ranks[0]
    folders = [
        Path(name) if isinstance(source, AuditCard) else source
        for source, name in zip(sources, names, strict=True)
    ]
    return baseline_index(folders, names, None if against is None else str(against))
