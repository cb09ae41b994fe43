"""The audit of a recommender on planted truth: a model that rests on one clicked item and on one word."""

from dataclasses import replace

import numpy as np
import pytest
import torch
from mind_logs import write_logs
from torch import nn

from glasshead.data import train_tokenizer
from glasshead.errors import InputError
from glasshead.papers.models import NewsRecommender, NewsRecommenderConfig
from glasshead.papers.recommend import (
    NEWS_PRESETS,
    NewsLogOptions,
    audit_recommender,
    load_recommender,
    news_logs,
    read_logs,
    train_recommender,
)
from glasshead.papers.recommend.attention_tests import ERASURE, erasure_numbers
from glasshead.papers.recommend.findings import ImpressionColumn, column_findings
from glasshead.papers.recommend.run import RecommenderRun
from glasshead.results import AuditCard

FILLERS = [f"filler{number}" for number in range(20)]
TOPICS = ("goal", "chef")
TIME = "11/13/2019 8:36:57 AM"


@pytest.fixture(scope="module")
def logs(tmp_path_factory):
    """Sixty readers with six clicks, of which one is on a topic, as is what they click next."""
    rng = np.random.default_rng(0)
    titles = {}
    for number in range(40):
        words = rng.choice(FILLERS, 5, replace=False).tolist()
        if number < 20:
            words[rng.integers(5)] = TOPICS[number % 2]
        titles[f"N{number}"] = " ".join(words)
    rows = []
    for number in range(60):
        topic = number % 2
        history = rng.choice(np.arange(20, 40), 6, replace=False)
        same, other = (rng.choice(np.arange(each, 20, 2), 2, replace=False) for each in (topic, 1 - topic))
        history[rng.integers(6)] = same[0]
        left = rng.choice(sorted(set(range(20, 40)) - set(history.tolist())), 2, replace=False)
        shown = [f"N{same[1]}-1", *(f"N{news}-0" for news in (*other, *left))]
        clicks = " ".join(f"N{news}" for news in history)
        rows.append(f"{number}\tU{number}\t{TIME}\t{clicks}\t{' '.join(rng.permutation(shown))}")
    news = [f"{name}\tx\tx\t{title}\t\thttps://example.org\t[]\t[]" for name, title in titles.items()]
    return read_logs(write_logs(tmp_path_factory.mktemp("planted") / "logs", news, rows))


@pytest.fixture(scope="module")
def planted(logs, tmp_path_factory):
    """Vectors of words pass the layers unmixed; both poolings look for the dimensions of the topics."""
    torch.manual_seed(0)
    tokenizer = train_tokenizer([each.title for each in logs.news.values()], min_freq=1, max_length=30)
    config = NewsRecommenderConfig(
        vocab_size=len(tokenizer), hidden_size=16, num_attention_heads=1, attention="softmax",
        positions="none", intermediate_size=4, initializer_range=0.3,
    )  # fmt: skip
    model = NewsRecommender(config).eval()
    with torch.no_grad():
        for number, topic in enumerate(TOPICS):
            model.embedding.weight[:, number] = 0.0
            model.embedding.weight[tokenizer.convert_tokens_to_ids(topic)] = 6 * torch.eye(16)[number]
        for encoder in (model.words, model.clicks):
            (layer,) = encoder.layers
            silence(layer.attention)
            silence(layer.feed_forward[-1])
            summary = encoder.pooling.summary
            summary.key.weight.copy_(torch.eye(16))
            summary.key.bias.fill_(-2.0)
            summary.query.weight.zero_()
            summary.query.weight[0, :2] = 4.0
    return RecommenderRun(tmp_path_factory.mktemp("run"), model, tokenizer, {}, {})


def silence(module):
    for parameter in module.parameters():
        nn.init.zeros_(parameter)


@pytest.fixture(scope="module")
def card(planted, logs):
    return audit_recommender(planted, logs, draws=5)


@pytest.mark.parametrize("audit", ["clicks", "words"])
@pytest.mark.parametrize("name", ["attention.erasure", "heaviest.change", "strongest.fall"])
def test_the_planted_item_and_word_are_found(card, audit, name):
    found = card.finding(f"{audit}.{name}.all")
    assert found.over_null["random"].interval[0] > 0
    assert found.status == "evidence"
    assert found.n == 60


def test_the_ranking_needs_the_weights(card):
    assert card.finding("ranking.auc.all").interval[0] > 0.9
    assert card.finding("ranking.loss.uniform-news-level.all").interval[0] > 0
    shift = card.finding("ranking.shift.permuted-pooling.all")
    assert shift.interval[0] > 0.2
    assert "changes much" in shift.verdict


def test_attention_that_tells_nothing_apart_is_not_called_an_explanation(planted, logs):
    flat = RecommenderRun(
        planted.folder, NewsRecommender(planted.model.config).eval(), planted.tokenizer, {}, {}
    )
    flat.model.load_state_dict(planted.model.state_dict())
    with torch.no_grad():
        for encoder in (flat.model.words, flat.model.clicks):
            encoder.pooling.summary.query.weight.zero_()
    card = audit_recommender(flat, logs, draws=5)
    agreement = card.finding("clicks.attention.erasure.all")
    assert agreement.n == 0
    assert agreement.undefined == {"fewer than two units, or all weights or all changes are equal": 60}
    heaviest = card.finding("clicks.heaviest.change.all")
    assert heaviest.estimate == pytest.approx(heaviest.null["random"])
    for edit in ("shift.permuted-pooling", "shift.uniform-pooling", "loss.uniform-news-level"):
        assert card.finding(f"ranking.{edit}.all").estimate == pytest.approx(0, abs=1e-9)
    assert "hardly changes" in card.finding("ranking.shift.permuted-pooling.all").verdict


def test_a_random_explainer_fails():
    alarms = 0
    for seed in range(10):
        rng = np.random.default_rng(seed)
        rows = [
            erasure_numbers(rng.random(8), rng.uniform(-1, 1, 8), rng.uniform(-1, 1, 8), 5, rng)
            for _ in range(100)
        ]
        columns = []
        for name, judge in ERASURE.items():
            values, null = np.array([row[name] for row in rows]).T
            columns.append(ImpressionColumn("clicks", *name.split("."), values, judge, "", {"random": null}))
        alarms += sum(found.over_null["random"].interval[0] > 0 for found in column_findings(columns, seed))
    assert alarms <= 6  # of 40, where 1 in 40 is expected to lie above by chance


def test_the_same_seed_gives_the_same_card_and_a_limit_draws(planted, logs):
    first, again = (audit_recommender(planted, logs, limit=25, draws=3, seed=4) for _ in range(2))
    assert first.examples["impression"] == again.examples["impression"]
    assert len(first.examples["impression"]) == first.facts["examples"] == 25
    for one, other in zip(first.findings, again.findings, strict=True):
        assert one.estimate == pytest.approx(other.estimate)
        assert one.interval == pytest.approx(other.interval)


def test_few_impressions_decide_nothing(planted, logs):
    few = audit_recommender(planted, logs.only(logs.impressions[:10]), draws=3)
    assert {found.status for found in few.findings} == {"undecided"}


def test_the_card_is_kept(card, tmp_path):
    card.save(tmp_path / "card")
    assert AuditCard.load(tmp_path / "card").finding("clicks.attention.erasure.all").n == 60
    reasons = [one.reason for one in card.highlights]
    assert reasons == [*["least agreement with erasure"] * 2, *["most agreement with erasure"] * 2] * 2


def test_impressions_that_cannot_be_audited_are_counted(planted, logs):
    short = replace(logs.impressions[0], history=logs.impressions[0].history[:1])
    card = audit_recommender(planted, logs.only([short, *logs.impressions[1:30]]), draws=3)
    assert card.facts["examples"] == 29
    assert any("1 impression left out" in note for note in card.facts["notes"])


def test_titles_of_one_word_or_none_say_nothing_of_words(planted, logs):
    short = {
        name: replace(news, title="goal" if name in ("N0", "N2") else "\u200b")
        for name, news in logs.news.items()
    }
    card = audit_recommender(planted, replace(logs, news=short, impressions=logs.impressions[:30]), draws=3)
    for name in ERASURE:
        assert card.finding(f"words.{name}.all").n == 0
    assert card.finding("ranking.shift.uniform-pooling.all").n == 30


def test_a_model_that_reads_one_click_has_nothing_to_weigh(planted, logs):
    config = NewsRecommenderConfig.from_dict(planted.model.config.to_dict() | {"history_length": 1})
    with pytest.raises(InputError, match="reads the latest 1"):
        audit_recommender(replace(planted, model=NewsRecommender(config)), logs)


@pytest.mark.slow
def test_a_trained_model_needs_the_distances_that_were_planted(tmp_path):
    """Counting topics gives an AUC of at most 0.75: what is above rests on attention at the news level."""
    (tmp_path / "logs").mkdir()
    news_logs(tmp_path / "logs", NewsLogOptions("long", users=600, seed=1))
    train, dev, test = (read_logs(tmp_path / "logs" / part) for part in ("train", "dev", "test"))
    config = NEWS_PRESETS["small"].with_settings({"num_attention_heads": 1, "epochs": 12})
    run = load_recommender(train_recommender(train, config, tmp_path / "run", dev=dev))
    card = audit_recommender(run, test)
    assert card.finding("ranking.auc.all").estimate > 0.75
    assert card.finding("ranking.loss.uniform-news-level.all").interval[0] > 0
    assert card.finding("clicks.contribution.erasure.all").over_null["random"].interval[0] > 0.2
