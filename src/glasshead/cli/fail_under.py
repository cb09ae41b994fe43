"""Gates: ``--fail-under NAME=VALUE`` fails where the interval of a finding starts below the value."""

from collections.abc import Callable
from typing import TYPE_CHECKING

from glasshead.cli.console import print_error, print_line
from glasshead.cli.parsing import parse_numbers
from glasshead.errors import InputError

if TYPE_CHECKING:
    from glasshead.results import AuditCard, Finding


def read_thresholds(given: list[str] | None) -> dict[str, float]:
    """The bars by finding; a misspelt finding is refused before the work begins, as far as its first word
    says."""
    from glasshead.audits import AUDITS

    thresholds = parse_numbers(given or [])
    for name in thresholds:
        AUDITS[name.partition(".")[0]]
    return thresholds


def finding_for_threshold(card: "AuditCard", name: str) -> "Finding":
    """The finding that a threshold is about; ``.all`` may be left out.

    Raises:
        InputError: on a name that no finding has, on errors, which are better low, and on numbers that are
            not evidence.
    """
    from glasshead.results import CONSTRUCTED

    finding = card.find(name)
    if card.quantity(finding.name).low_is_good:
        raise InputError(
            f"--fail-under {name}: low is good here, so a lower threshold makes no sense: leave it out"
        )
    if finding.bound == "upper":
        raise InputError(
            f"--fail-under {name}: this is an upper bound, so it cannot be shown to be above a threshold: "
            "leave it out"
        )
    if finding.reason in ("raw sign", *CONSTRUCTED):
        raise InputError(
            f"--fail-under {name}: this cannot have a threshold ({finding.verdict}): leave it out"
        )
    return finding


def check_thresholds(
    thresholds: "list[tuple[Finding, float]]", say: Callable[[str], None] = print_line
) -> bool:
    """Whether every interval starts at or above its threshold, and a line on each."""
    met = [check_threshold(finding, threshold, say) for finding, threshold in thresholds]
    return all(met)


def check_threshold(finding: "Finding", threshold: float, say: Callable[[str], None] = print_line) -> bool:
    """Whether the interval of a finding starts at or above a threshold, and a line on it."""
    name = finding.name.removesuffix(".all")
    low = finding.limit if finding.interval is None else finding.interval[0]
    if finding.status != "evidence":
        print_error(f"{name}: {finding.verdict}")
        return False
    if low is not None and low >= threshold:
        what = "the mean is at least" if finding.bound else "the interval starts at"
        say(f"{name}: {what} {low:.3f}, not below {threshold}")
        return True
    if finding.bound and low is not None:
        print_error(f"{name}: the search shows no more than {low:.3f}, below {threshold}")
        return False
    start = "is undefined" if low is None else f"starts at {low:.3f}, below {threshold}"
    print_error(f"{name}: the interval {start}")
    return False
