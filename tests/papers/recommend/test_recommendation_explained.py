"""What a recommendation is made of: parts that add up to the score, and scores without a part."""

from dataclasses import replace
from types import SimpleNamespace

import pytest
import torch
from mind_logs import write_logs

from glasshead.data import train_tokenizer
from glasshead.errors import InputError
from glasshead.papers.models import NewsRecommender, NewsRecommenderConfig
from glasshead.papers.recommend import explain_recommendation
from glasshead.papers.recommend.mind import read_logs
from glasshead.papers.recommend.run import RecommenderRun

ROW = "1\tU1\t11/13/2019 8:36:57 AM\tN1 N2 N3 N1\tN3 N4 N2"


@pytest.fixture(scope="module")
def logs(tmp_path_factory):
    return read_logs(write_logs(tmp_path_factory.mktemp("explained") / "logs", behaviors=(ROW,)))


@pytest.fixture(scope="module")
def run(logs, tmp_path_factory):
    torch.manual_seed(0)
    tokenizer = train_tokenizer([each.title for each in logs.news.values()], min_freq=1, max_length=30)
    config = NewsRecommenderConfig(
        vocab_size=len(tokenizer), hidden_size=8, num_attention_heads=2, head_dim=4, intermediate_size=16,
        attention="distance-aware", history_length=4, dropout=0.3,
    )  # fmt: skip
    model = NewsRecommender(config).eval()
    return RecommenderRun(tmp_path_factory.mktemp("run"), model, tokenizer, {}, {})


@pytest.fixture(scope="module")
def score(run):
    """The click score of a shown item, by the path that ranks."""
    return lambda logs, place: run.scores(logs)[0][place]


def with_history(logs, *names):
    return logs.only([replace(logs.impressions[0], history=names)])


def with_title(logs, name, title):
    return replace(logs, news=logs.news | {name: replace(logs.news[name], title=title)})


def test_contributions_add_up_to_the_score(run, logs, score):
    for place, name in enumerate(("N3", "N4", "N2")):
        history, candidate, *titles = explain_recommendation(run, logs, candidate=name)
        assert sum(history.contributions) == pytest.approx(score(logs, place), abs=1e-5)
        assert sum(candidate.contributions) == pytest.approx(score(logs, place), abs=1e-5)
        assert sum(history.scores) == pytest.approx(1)
        assert sum(candidate.scores) == pytest.approx(1)
        strongest = sorted(history.contributions, key=abs, reverse=True)
        assert [sum(each.contributions) for each in titles] == pytest.approx(strongest)
        assert candidate.text == logs.news[name].title
        assert f"click score {score(logs, place):+.3f}" in history.reading


def test_titles_stand_where_their_offsets_say(run, logs):
    history = explain_recommendation(run, logs)[0]
    assert [history.text[start:end] for start, end in history.offsets] == list(history.tokens)
    assert history.tokens == tuple(logs.news[name].title for name in ("N1", "N2", "N3", "N1"))


def test_the_prediction_is_the_share_of_the_click(run, logs):
    shares = [explain_recommendation(run, logs, candidate=name)[0] for name in ("N3", "N4", "N2")]
    assert sum(each.prediction for each in shares) == pytest.approx(1)
    best = max(shares, key=lambda each: each.prediction)
    assert explain_recommendation(run, logs)[0].target == best.target == best.predicted
    assert "rank 1 of 3" in best.reading


def test_erasure_is_the_score_of_logs_without_the_part(run, logs, score):
    whole = score(logs, 1)
    history, candidate, *titles = explain_recommendation(run, logs, candidate="N4", method="erasure")
    names = ("N1", "N2", "N3", "N1")
    without = [whole - score(with_history(logs, *names[:i], *names[i + 1 :]), 1) for i in range(4)]
    assert history.scores == pytest.approx(without, abs=1e-5)
    assert history.contributions is None
    words = logs.news["N4"].title.split()
    shorter = [" ".join(words[:i] + words[i + 1 :]) for i in range(len(words))]
    expected = [whole - score(with_title(logs, "N4", title), 1) for title in shorter]
    assert candidate.scores == pytest.approx(expected, abs=1e-5)
    (soup,) = (each for each in titles if each.text == logs.news["N2"].title)  # a "simple" soup: clicked once
    tokens = [soup.text[start:end] for start, end in soup.offsets]
    position = tokens.index("soup")
    cut = logs.news["N2"].title.replace(" soup", "")
    assert soup.scores[position] == pytest.approx(whole - score(with_title(logs, "N2", cut), 1), abs=1e-5)


def test_the_only_click_and_the_only_word(run, logs, score):
    short = with_title(with_history(logs, "N1"), "N4", "bakery")
    history, candidate, _ = explain_recommendation(run, short, candidate="N4", method="erasure")
    assert history.scores == pytest.approx([score(short, 1)], abs=1e-5)
    assert candidate.scores == pytest.approx([score(short, 1)], abs=1e-5)


def test_only_the_latest_clicks(run, logs):
    long = with_history(logs, "N4", "N1", "N2", "N3", "N1")
    explained = explain_recommendation(run, long, candidate="N3")
    assert explained.remarks[-1] == "only the latest 4 of 5 clicks are read"
    assert explained[0].scores == pytest.approx(explain_recommendation(run, logs, candidate="N3")[0].scores)


def test_the_run_is_left_as_it_was(run, logs):
    before = {name: value.clone() for name, value in run.model.state_dict().items()}
    explain_recommendation(run, logs)
    assert not run.model.words.pooling._forward_pre_hooks
    after = run.model.state_dict()
    assert all(
        after[name].dtype == value.dtype and bool((after[name] == value).all())
        for name, value in before.items()
    )


def test_refusals(run, logs):
    for options, words in (
        ({"method": "lime"}, "`method`"), ({"titles": -1}, "`titles`"),
        ({"candidate": "N1"}, "does not show 'N1'"),
        ({"impression": "2"}, "no impression '2'"),
    ):  # fmt: skip
        with pytest.raises(InputError, match=words):
            explain_recommendation(run, logs, **options)
    with pytest.raises(InputError, match=r"no impression of .* has a history"):
        explain_recommendation(run, with_history(logs))
    mean = SimpleNamespace(pooling="mean", history_length=4)
    other = replace(run, model=SimpleNamespace(config=mean))
    with pytest.raises(InputError, match="no weights to read"):
        explain_recommendation(other, logs)
