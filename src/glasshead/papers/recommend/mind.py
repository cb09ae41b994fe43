"""Logs of a news site in the format of MIND: ``news.tsv`` and ``behaviors.tsv`` (Wu et al. 2020).

Tabs separate the fields, there is no header and nothing is quoted::

    news.tsv        id  category  subcategory  title  abstract  url  title entities  abstract entities
    behaviors.tsv   impression id  user id  time  clicked news before  shown news: N55689-1 N35729-0 …

A shown news item ends in -1 if it was clicked, in -0 if not; the published test logs leave this out.
"""

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path
from typing import Any, TypeVar

from glasshead.errors import InputError, pluralise
from glasshead.spelling import spell

NEWS = "news.tsv"
BEHAVIORS = "behaviors.tsv"
TIME = "%m/%d/%Y %I:%M:%S %p"

LogRow = TypeVar("LogRow")


@dataclass(frozen=True)
class News:
    """One row of ``news.tsv``, as far as it is read."""

    id: str
    category: str
    subcategory: str
    title: str


@dataclass(frozen=True)
class Impression:
    """One row of ``behaviors.tsv``; ``history`` is oldest first, ``clicked`` None where it is not told."""

    line: int
    id: str
    user: str
    time: datetime
    history: tuple[str, ...]
    shown: tuple[str, ...]
    clicked: tuple[bool, ...] | None

    @property
    def rankable(self) -> bool:
        """Whether there is something clicked to rank above something not clicked."""
        return self.clicked is not None and len(set(self.clicked)) == 2


@dataclass(frozen=True)
class NewsLogs:
    """News by id, impressions in the order of the file, and the problems of skipped rows."""

    folder: Path
    news: dict[str, News]
    impressions: list[Impression]
    skipped: tuple[str, ...]
    fingerprint: str

    def only(self, impressions: Sequence[Impression]) -> "NewsLogs":
        """Logs with some of the impressions."""
        return replace(self, impressions=list(impressions))


class BadRow(ValueError):
    """What is wrong with one row."""


def read_logs(folder: Path, *, skip_bad_rows: bool = False) -> NewsLogs:
    """Read ``news.tsv`` and ``behaviors.tsv`` of a folder.

    Raises:
        InputError: if a file is missing or has no good row, and on a malformed row, with its line, unless
            ``skip_bad_rows``: then such rows are left out and listed in ``skipped``.
    """
    if not folder.is_dir():
        raise InputError(f"no such folder: {folder}; give one that holds {NEWS} and {BEHAVIORS}")
    digest = hashlib.sha256()
    news, bad_news = _read(folder / NEWS, news_row, digest, skip_bad_rows)
    known: dict[str, News] = {}
    for line, item in news:
        if item.id in known:
            bad_news.append(f"{folder / NEWS} line {line}: the id {item.id} occurs twice")
        known.setdefault(item.id, item)
    _require_good_rows(bad_news, skip_bad_rows)

    def impression(fields: list[str]) -> Impression:
        return impression_row(fields, known)

    rows, bad_rows = _read(folder / BEHAVIORS, impression, digest, skip_bad_rows)
    _require_good_rows(bad_rows, skip_bad_rows)
    impressions = [replace(row, line=line) for line, row in rows]
    return NewsLogs(folder, known, impressions, (*bad_news, *bad_rows), digest.hexdigest())


def news_row(fields: list[str]) -> News:
    """A row of ``news.tsv``.

    Raises:
        BadRow: if fields are missing or too many, or there is no id or no title.
    """
    if len(fields) != 8:
        raise BadRow(f"{pluralise(len(fields), 'field')} where news has 8")
    if not fields[0] or fields[0].split() != [fields[0]]:
        raise BadRow(f"{fields[0]!r} is not a news id")
    if not fields[3].strip():
        raise BadRow("the title is empty")
    return News(*fields[:4])


def impression_row(fields: list[str], known: dict[str, News]) -> Impression:
    """A row of ``behaviors.tsv``.

    Raises:
        BadRow: if fields are missing or too many, the time is none, nothing is shown, or news are unknown.
    """
    if len(fields) != 5:
        raise BadRow(f"{pluralise(len(fields), 'field')} where impressions have 5")
    number, user, when, before, items = fields
    if not number.strip() or not user.strip():
        raise BadRow("the id of the impression or of the user is empty")
    try:
        time = datetime.strptime(when, TIME)
    except ValueError:
        raise BadRow(f"{when!r} is not a time such as '11/13/2019 8:36:57 AM'") from None
    history, shown_items = tuple(before.split()), items.split()
    if not shown_items:
        raise BadRow("nothing is shown")
    shown, marks = shown_items, []
    if not all(item in known for item in shown_items):
        parts = [item.rpartition("-") for item in shown_items]
        shown, marks = [name for name, _, _ in parts], [mark for _, _, mark in parts]
        wrong = next(
            (item for item, mark in zip(shown_items, marks, strict=True) if mark not in ("0", "1")), None
        )
        if wrong is not None:
            raise BadRow(f"{wrong!r} does not end in -0 or -1, or is unknown to {NEWS}")
    unknown = next((name for name in (*history, *shown) if name not in known), None)
    if unknown is not None:
        raise BadRow(f"{unknown!r} is unknown to {NEWS}")
    clicked = tuple(mark == "1" for mark in marks) if marks else None
    return Impression(0, number, user, time, history, tuple(shown), clicked)


def require_clicks(logs: NewsLogs) -> None:
    """Make sure that the logs say what was clicked.

    Raises:
        InputError: on the first impression that does not say it.
    """
    for impression in logs.impressions:
        if impression.clicked is None:
            raise InputError(
                f"{logs.folder / BEHAVIORS} line {impression.line} does not say what was clicked (N1-1): "
                "give logs that do; the published test logs of MIND do not"
            )


def rankable(logs: NewsLogs) -> NewsLogs:
    """The impressions with something clicked and something not clicked.

    Raises:
        InputError: if clicks are not told, or there is no such impression.
    """
    require_clicks(logs)
    kept = [impression for impression in logs.impressions if impression.rankable]
    if not kept:
        raise InputError(
            f"no impression of {logs.folder / BEHAVIORS} has both a clicked and an unclicked item: there is "
            "nothing to rank"
        )
    return logs.only(kept)


def split_by_time(logs: NewsLogs, fraction: float) -> tuple[NewsLogs, NewsLogs]:
    """The earlier impressions, and the latest ``fraction`` of them (at least one each).

    Raises:
        InputError: if the fraction is not between 0 and 1, or there is only one impression.
    """
    if not 0 < fraction < 1:
        raise InputError(f"the dev fraction must be between 0 and 1, not {fraction}")
    if len(logs.impressions) < 2:
        raise InputError(
            f"{logs.folder} has a single impression that can be ranked: there is no dev part; give "
            f"{spell('dev')}"
        )
    order = sorted(logs.impressions, key=lambda impression: impression.time)
    cut = min(max(round(len(order) * (1 - fraction)), 1), len(order) - 1)
    return logs.only(order[:cut]), logs.only(order[cut:])


def describe_logs(logs: NewsLogs) -> dict[str, Any]:
    """The content of the logs in numbers, for the record of a run."""
    impressions = logs.impressions
    return {
        "news": len(logs.news),
        "impressions": len(impressions),
        "users": len({impression.user for impression in impressions}),
        "shown": sum(len(impression.shown) for impression in impressions),
        "clicked": sum(sum(impression.clicked or ()) for impression in impressions),
        "without_history": sum(not impression.history for impression in impressions),
        "not_rankable": sum(not impression.rankable for impression in impressions),
        "skipped_rows": len(logs.skipped),
        "fingerprint": logs.fingerprint,
    }


def _read(
    path: Path, parse: Callable[[list[str]], LogRow], digest: Any, skip_bad_rows: bool
) -> tuple[list[tuple[int, LogRow]], list[str]]:
    """The good rows with their lines, and what is wrong with the others; blank lines are not rows."""
    try:
        content = path.read_bytes()
    except FileNotFoundError:
        raise InputError(f"no such file: {path}; logs are a folder with {NEWS} and {BEHAVIORS}") from None
    except OSError as error:
        raise InputError(f"cannot read {path}: {error.strerror or error}") from error
    digest.update(f"{len(content)} ".encode() + content)
    rows, bad = [], []
    # Only line feeds end a row: a title may hold what `splitlines` takes for an end of line.
    for line, raw in enumerate(content.removeprefix(b"\xef\xbb\xbf").split(b"\n"), start=1):
        if not raw.strip():
            continue
        try:
            rows.append((line, parse(raw.decode("utf-8").removesuffix("\r").split("\t"))))
        except UnicodeDecodeError:
            bad.append(f"{path} line {line}: it is not UTF-8")
        except BadRow as error:
            bad.append(f"{path} line {line}: {error}")
    if not rows and not (bad and not skip_bad_rows):
        raise InputError(f"{path} has no {'good ' if bad else ''}row: give logs in the format of MIND")
    return rows, bad


def _require_good_rows(bad: list[str], skip_bad_rows: bool) -> None:
    """Refuse bad rows unless they are to be skipped."""
    if bad and not skip_bad_rows:
        more = f" (and {pluralise(len(bad) - 1, 'more bad row')})" if len(bad) > 1 else ""
        raise InputError(f"{bad[0]}{more}: correct the file, or skip such rows with {spell('skip_bad_rows')}")
