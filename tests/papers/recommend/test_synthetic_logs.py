"""The generator of news logs: what was planted is there, and nothing else tells it."""

import numpy as np
import pytest

from glasshead.data.synthetic_vocabulary import NEUTRAL_WORDS
from glasshead.errors import InputError
from glasshead.papers.recommend.mind import read_logs
from glasshead.papers.recommend.synthetic_logs import (
    DISTRACTORS,
    FILLERS,
    HISTORY,
    NOISE_CLICKS,
    OTHERS,
    REPEAT_CLICKS,
    TOPICS,
    NewsLogOptions,
    draw_reader,
    news_logs,
)


def make(folder, **options):
    folder.mkdir()
    news_logs(folder, NewsLogOptions(**{"users": 60} | options))
    return read_logs(folder / "train"), read_logs(folder / "dev")


def standing_out(logs, impression):
    """The topics of the burst and of the thread, found again from the history alone."""
    topics = [logs.news[name].category for name in impression.history]
    places = {topic: [i for i, each in enumerate(topics) if each == topic] for topic in set(topics)}
    often = {topic: found for topic, found in places.items() if len(found) == REPEAT_CLICKS}
    burst = [topic for topic, found in often.items() if np.diff(found).max() == 1]
    (close,) = burst
    (far,) = set(often) - {close}
    return close, far, places


@pytest.mark.parametrize("interest", ["short", "long"])
def test_the_next_click_follows_the_planted_topic(tmp_path, interest):
    for logs in make(tmp_path / "logs", interest=interest):
        for impression in logs.impressions:
            close, far, places = standing_out(logs, impression)
            follows, ignores = (close, far) if interest == "short" else (far, close)
            topics = [logs.news[name].category for name in impression.shown]
            clicked = [topic for topic, click in zip(topics, impression.clicked, strict=True) if click]
            assert clicked == [follows]
            assert topics.count(ignores) == DISTRACTORS
            assert len(topics) == 1 + DISTRACTORS + OTHERS
            assert not set(impression.shown) & set(impression.history)
            assert len(set(impression.history)) == HISTORY == len(impression.history)
            assert sorted(map(len, places.values()))[:-2] == [NOISE_CLICKS] * (len(TOPICS) - 2)


def test_histories_are_drawn_alike(tmp_path):
    first, second = (make(tmp_path / interest, interest=interest)[0] for interest in ("short", "long"))
    histories = [[each.history for each in logs.impressions if each.user == "U1"] for logs in (first, second)]
    assert histories[0] == histories[1]


@pytest.mark.parametrize("burst", ["anywhere", "last"])
def test_burst_and_thread(burst):
    rng = np.random.default_rng(0)
    starts = set()
    for _ in range(300):
        reader = draw_reader(burst, rng)
        close = [i for i, topic in enumerate(reader.topics) if topic == reader.burst]
        far = [i for i, topic in enumerate(reader.topics) if topic == reader.thread]
        starts.add(close[0])
        assert close == list(range(close[0], close[0] + REPEAT_CLICKS))
        half = REPEAT_CLICKS // 2
        assert far[half - 1] < REPEAT_CLICKS
        assert far[half] >= HISTORY - REPEAT_CLICKS - (REPEAT_CLICKS if burst == "last" else 0)
        assert min(np.diff(far)) >= 2
        if burst == "last":
            assert close[-1] == HISTORY - 1
        else:
            assert far[0] < close[0]
            assert close[-1] < far[-1]
    assert len(starts) == (1 if burst == "last" else HISTORY - 3 * REPEAT_CLICKS + 1)


def test_mixed_logs_hold_both_kinds(tmp_path):
    logs, _ = make(tmp_path / "logs", interest="mixed", short_share=0.25, users=200, impressions=1)
    short = 0
    for impression in logs.impressions:
        clicked = impression.shown[impression.clicked.index(True)]
        short += logs.news[clicked].category == standing_out(logs, impression)[0]
    assert 30 <= short <= 70


def test_titles_are_words_of_their_topic_and_of_none(tmp_path):
    logs, _ = make(tmp_path / "logs")
    for news in logs.news.values():
        words = news.title.lower().split()
        assert sum(word in TOPICS[news.category] for word in words) == 4
        assert sum(word in NEUTRAL_WORDS[:FILLERS] for word in words) == 1
    assert len({word for words in TOPICS.values() for word in words}) == sum(map(len, TOPICS.values()))


def test_parts_share_news_but_no_reader(tmp_path):
    train, dev = make(tmp_path / "logs")
    test = read_logs(tmp_path / "logs" / "test")
    assert test.news == dev.news
    readers = [{each.user for each in logs.impressions} for logs in (train, dev, test)]
    assert [len(each) for each in readers] == [60, 15, 15]
    assert len(set.union(*readers)) == 90
    assert max(each.time for each in dev.impressions) < min(each.time for each in test.impressions)
    assert train.news == dev.news
    assert not {each.user for each in train.impressions} & {each.user for each in dev.impressions}
    assert max(each.time for each in train.impressions) < min(each.time for each in dev.impressions)
    times = [each.time for each in train.impressions]
    assert times == sorted(times)
    assert len({each.user for each in dev.impressions}) == 15


def test_same_seed_same_logs(tmp_path):
    prints = [make(tmp_path / str(i), seed=seed)[0].fingerprint for i, seed in enumerate((3, 3, 4))]
    assert prints[0] == prints[1] != prints[2]


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"interest": "none"}, "short, long or mixed"),
        ({"burst": "first"}, "anywhere or last"),
        ({"users": 3}, "at least 4"),
        ({"impressions": 0}, "at least 1"),
        ({"news": 20}, "`news` must be at least"),
        ({"short_share": 1.5}, "`short_share` must"),
        ({"seed": -1}, "seed"),
    ],
)
def test_refused(options, says):
    with pytest.raises(InputError, match=says):
        NewsLogOptions(**options)


def test_the_fewest_news_suffice(tmp_path):
    fewest = len(TOPICS) * (REPEAT_CLICKS + DISTRACTORS + 2)
    for logs in make(tmp_path / "logs", news=fewest, users=40):
        assert len(logs.news) == fewest
        assert logs.impressions
