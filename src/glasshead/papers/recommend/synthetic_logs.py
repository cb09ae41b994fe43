"""Logs in the format of MIND with planted interests: what a reader clicks next is known by construction.

Every history holds two topics that were clicked equally often. Clicks of the *burst* are neighbours, those of
the *thread* stand at both ends of the history; all other topics are rarer. In short-term logs the next
click follows the burst, in long-term logs the thread. The histories of both kinds are drawn alike, so counts
do not tell the two topics apart, only the distances between clicks do. Some news are more popular than
others: they are clicked more often because they are shown more often.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path
from typing import Literal

import numpy as np

from glasshead.data import NEUTRAL_WORDS, split_words
from glasshead.errors import InputError, ParameterError
from glasshead.papers.recommend.mind import BEHAVIORS, NEWS

Interest = Literal["short", "long", "mixed"]
Burst = Literal["anywhere", "last"]
SHORT_SHARE = {"short": 1.0, "long": 0.0}
REPEAT_CLICKS = 4  # clicks on the topic of the burst, and on that of the thread
NOISE_CLICKS = 2  # clicks on each other topic
DISTRACTORS = 4  # shown news of the topic that the reader does not follow
OTHERS = 4  # shown news of topics that are neither
TITLE = 5, 4  # words of a title, of which so many belong to the topic
FILLERS = 60  # words that belong to no topic
FACTS_FILE = "logs.json"  # beside train, dev and test: the options that made them
FIRST_DAY = datetime(2019, 10, 12)
MOST_LOGS = 10_000_000
DAYS = {"train": (0, 28), "dev": (28, 35), "test": (35, 42)}

TOPICS = {
    "sports": split_words("goal striker penalty playoff coach tournament referee league defender halftime"),
    "weather": split_words(
        "storm blizzard forecast flood tornado drought heatwave snowfall thunder humidity"
    ),
    "finance": split_words("stocks inflation dividend investor shares mortgage broker currency bonds audit"),
    "health": split_words(
        "vaccine nutrition surgery cholesterol therapy allergy virus fitness sleep diagnosis"
    ),
    "travel": split_words("airline passport resort luggage cruise itinerary hostel sightseeing runway visa"),
    "food": split_words("recipe dessert grill casserole chef bakery spices vegan brunch noodles"),
    "science": split_words(
        "telescope fossil molecule experiment physicist genome laser neutron comet microscope"
    ),
    "politics": split_words(
        "senate ballot governor impeachment lobbyist caucus treaty parliament veto diplomat"
    ),
}
HISTORY = 2 * REPEAT_CLICKS + NOISE_CLICKS * (len(TOPICS) - 2)


@dataclass(frozen=True)
class NewsLogOptions:
    """Options of `news_logs`.

    ``interest`` is short, long, or mixed: then ``short_share`` of the readers follow their burst; they look
    like the others. The ``burst`` is anywhere in the history, or at its end.
    """

    interest: Interest = "short"
    users: int = 1000
    news: int = 200
    impressions: int = 2
    burst: Burst = "anywhere"
    short_share: float = 0.5
    seed: int = 0

    def __post_init__(self) -> None:
        if self.interest not in (*SHORT_SHARE, "mixed"):
            raise ParameterError("interest", f"must be short, long or mixed, not {self.interest!r}")
        if self.burst not in ("anywhere", "last"):
            raise InputError(f"the burst must be anywhere or last, not {self.burst!r}")
        if self.users < 4:
            raise ParameterError(
                "users", f"must be at least 4, not {self.users}: dev and test have a quarter as many"
            )
        if self.impressions < 1:
            raise ParameterError("impressions", f"must be at least 1, not {self.impressions}")
        fewest = len(TOPICS) * (REPEAT_CLICKS + DISTRACTORS + 2)
        if self.news < fewest:
            raise ParameterError(
                "news", f"must be at least {fewest}, not {self.news}: no reader sees one twice"
            )
        for name in ("users", "impressions", "news"):
            if getattr(self, name) > MOST_LOGS:
                raise ParameterError(name, f"must be at most {MOST_LOGS:,}, not {getattr(self, name)}")
        if not 0 <= self.short_share <= 1:
            raise ParameterError("short_share", f"must be in [0, 1], not {self.short_share}")
        if not 0 <= self.seed < 2**32:
            raise ParameterError("seed", f"must be in [0, 2**32), not {self.seed}")


@dataclass(frozen=True)
class Pool:
    """News of all topics: the topic of each, its title, and how often it is shown among news of its topic."""

    topic: np.ndarray
    titles: list[str]
    popularity: np.ndarray

    @classmethod
    def draw(cls, size: int, rng: np.random.Generator) -> "Pool":
        """Titles of topic words and neutral words in any order; log popularity is standard normal."""
        topic = np.arange(size) % len(TOPICS)
        words, own = TITLE
        vocabularies = list(TOPICS.values())
        titles = []
        for number in topic:
            chosen = [
                *rng.choice(vocabularies[number], own, replace=False),
                *rng.choice(NEUTRAL_WORDS[:FILLERS], words - own, replace=False),
            ]
            titles.append(" ".join(rng.permutation(chosen)).capitalize())
        return cls(topic, titles, np.exp(rng.standard_normal(size)))

    def draw_news(self, topic: int, count: int, taken: set[int], rng: np.random.Generator) -> list[int]:
        """Different news of a topic, the popular ones more often; afterwards they are taken."""
        free = np.array([news for news in np.flatnonzero(self.topic == topic) if news not in taken])
        weights = self.popularity[free]
        drawn = rng.choice(free, count, replace=False, p=weights / weights.sum()).tolist()
        taken.update(drawn)
        return drawn


@dataclass(frozen=True)
class Reader:
    """The topics of a history, oldest first, and the two that stand out."""

    topics: list[int]
    burst: int
    thread: int


def news_logs(out: Path, options: NewsLogOptions) -> None:
    """Write ``train``, ``dev`` and ``test`` below a folder, each with ``news.tsv`` and ``behaviors.tsv``.

    Train has four weeks, dev the next and test the one after, both with a quarter as many readers; each
    reader is in one of them.
    """
    rng = np.random.default_rng(options.seed)
    pool = Pool.draw(options.news, rng)
    first = 1
    fewer = options.users // 4
    for split, users in (("train", options.users), ("dev", fewer), ("test", fewer)):
        folder = out / split
        folder.mkdir()
        (folder / NEWS).write_text("".join(_news(pool)), encoding="utf-8")
        rows = sorted(_impressions(pool, options, first, users, DAYS[split], rng))
        lines = [f"{number}\t{row}\n" for number, (_, row) in enumerate(rows, start=1)]
        (folder / BEHAVIORS).write_text("".join(lines), encoding="utf-8")
        first += users


def draw_reader(burst: Burst, rng: np.random.Generator) -> Reader:
    """A history of `HISTORY` topics: `REPEAT_CLICKS` neighbours of one, another at both ends, the rest
    between.

    The thread has half of its clicks among the first `REPEAT_CLICKS` places and half among the last, none of
    them neighbours; the burst begins anywhere between, or is last, after the thread.
    """
    order = rng.permutation(len(TOPICS)).tolist()
    close, far, others = order[0], order[1], order[2:]
    noise = rng.permutation(np.repeat(others, NOISE_CLICKS)).tolist()
    free = HISTORY - REPEAT_CLICKS
    pairs = [(0, 2), (0, 3), (1, 3)]
    head, tail = pairs[rng.integers(3)], pairs[rng.integers(3)]
    places = {*head, *(free - 1 - place for place in tail)}
    topics = [far if place in places else noise.pop() for place in range(free)]
    start = free if burst == "last" else int(rng.integers(REPEAT_CLICKS, free - REPEAT_CLICKS + 1))
    return Reader([*topics[:start], *[close] * REPEAT_CLICKS, *topics[start:]], close, far)


def _news(pool: Pool) -> Iterator[str]:
    """The rows of ``news.tsv``."""
    names = list(TOPICS)
    for number, (topic, title) in enumerate(zip(pool.topic, pool.titles, strict=True), start=1):
        name = names[topic]
        yield f"N{number}\t{name}\t{name}\t{title}\t\thttps://example.org/N{number}\t[]\t[]\n"


def _impressions(
    pool: Pool,
    options: NewsLogOptions,
    first: int,
    users: int,
    days: tuple[int, int],
    rng: np.random.Generator,
) -> Iterator[tuple[datetime, str]]:
    """The rows of ``behaviors.tsv`` without their numbers, and their times."""
    share = SHORT_SHARE.get(options.interest, options.short_share)
    for user in range(first, first + users):
        reader = draw_reader(options.burst, rng)
        follows, ignores = reader.burst, reader.thread
        if rng.random() >= share:
            follows, ignores = ignores, follows
        rest = sorted(set(range(len(TOPICS))) - {follows, ignores})
        read: set[int] = set()
        history = [pool.draw_news(topic, 1, read, rng)[0] for topic in reader.topics]
        for _ in range(options.impressions):
            taken = set(read)
            clicked = pool.draw_news(follows, 1, taken, rng)
            passed = pool.draw_news(ignores, DISTRACTORS, taken, rng)
            for topic in rng.choice(rest, OTHERS, replace=False):
                passed += pool.draw_news(topic, 1, taken, rng)
            items = [f"N{news + 1}-1" for news in clicked] + [f"N{news + 1}-0" for news in passed]
            seconds = rng.integers(days[0] * 86400, days[1] * 86400)
            time = FIRST_DAY + timedelta(seconds=int(seconds))
            before = " ".join(f"N{news + 1}" for news in history)
            yield time, f"U{user}\t{format_time(time)}\t{before}\t{' '.join(rng.permutation(items))}"


def format_time(time: datetime) -> str:
    """11/13/2019 8:36:57 AM."""
    return f"{time:%m/%d/%Y} {time.hour % 12 or 12}:{time:%M:%S %p}"
