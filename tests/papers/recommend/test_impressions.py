"""Impressions as tensors, and the negatives of an epoch."""

import numpy as np
import pytest
import torch
from mind_logs import write_logs

from glasshead.data import train_tokenizer
from glasshead.papers.models import NewsRecommender, NewsRecommenderConfig
from glasshead.papers.recommend.impressions import ClickRows, NewsTensors
from glasshead.papers.recommend.mind import read_logs
from glasshead.papers.recommend.scoring import click_scores


@pytest.fixture(scope="module")
def logs(tmp_path_factory):
    # The third impression is made wide, so that there is something to draw.
    wide = "3\tU1\t11/12/2019 12:00:00 AM\tN1 N3 N4\tN3-0 N2-1 N4-1 N1-0 N1-0 N3-0"
    rows = (
        "1\tU1\t11/13/2019 8:36:57 AM\tN1 N2\tN3-1 N4-0",
        "2\tU2\t11/11/2019 1:03:52 PM\t\tN1-0 N4-1",
        wide,
    )
    return read_logs(write_logs(tmp_path_factory.mktemp("rows") / "logs", behaviors=rows))


@pytest.fixture(scope="module")
def tokenizer(logs):
    return train_tokenizer([each.title for each in logs.news.values()], min_freq=1, max_length=30)


@pytest.fixture(scope="module")
def tensors(logs, tokenizer):
    return NewsTensors.of(logs, tokenizer, history_length=2)


def test_the_latest_clicks_oldest_first(tensors):
    assert tensors.history.tolist() == [[0, 1], [-1, -1], [2, 3]]
    assert [each.tolist() for each in tensors.shown] == [[2, 3], [0, 3], [2, 1, 3, 0, 0, 2]]
    assert tensors.clicked[0].tolist() == [True, False]


def test_one_example_for_each_click(tensors):
    rows = ClickRows(tensors, negatives=3, seed=0)
    assert rows.clicks == [(0, 0), (1, 1), (2, 1), (2, 2)]
    drawn = rows.candidates(2)
    assert drawn[0] == 1
    assert len(drawn) == 4
    assert set(drawn[1:].tolist()) <= {0, 2}
    assert rows.candidates(0).tolist() == [2, 3]  # only one negative is there


def test_negatives_are_anew_in_each_epoch_and_the_same_for_one_seed(tensors):
    def drawn(seed, epoch):
        rows = ClickRows(tensors, negatives=2, seed=seed)
        rows.epoch = epoch
        return [rows.candidates(index).tolist() for index in range(len(rows))]

    assert drawn(0, 3) == drawn(0, 3)
    assert len({str(drawn(0, epoch)) for epoch in range(8)}) > 1
    assert len({str(drawn(seed, 0)) for seed in range(8)}) > 1


def test_a_batch_holds_each_title_once(tensors):
    rows = ClickRows(tensors, negatives=4, seed=0)
    batch = rows.__getitems__([0, 1])
    assert batch["labels"].tolist() == [0, 0]
    # Impression 0 reads news 0, 1 and shows 2, 3; impression 1 has no history and shows 0, 3.
    assert batch["input_ids"].shape[0] == 4
    assert torch.equal(batch["input_ids"], tensors.ids[:, : batch["input_ids"].shape[1]])
    assert batch["history"].tolist() == [[0, 1], [-1, -1]]
    assert batch["candidates"].tolist() == [[2, 3, -1, -1, -1], [3, 0, -1, -1, -1]]
    alone = rows[1]
    assert alone["history"].tolist() == [[-1]]
    assert alone["candidates"].tolist() == [[1, 0, -1, -1, -1]]
    assert torch.equal(alone["input_ids"][1], tensors.ids[3, : alone["input_ids"].shape[1]])


def test_all_scores_are_those_of_single_calls(tensors, tokenizer):
    torch.manual_seed(0)
    config = NewsRecommenderConfig(
        vocab_size=len(tokenizer),
        hidden_size=8,
        num_attention_heads=2,
        intermediate_size=8,
        attention="distance-aware",
    )
    model = NewsRecommender(config).train()
    scores = click_scores(model, tensors, batch_size=2)
    assert not model.training
    for impression, shown in enumerate(tensors.shown):
        with torch.no_grad():
            slow = model(
                tensors.ids,
                tensors.history[impression : impression + 1],
                torch.tensor(shown)[None],
                attention_mask=tensors.mask,
            ).logits[0]
        assert np.allclose(scores[impression], slow.numpy(), atol=1e-5)
    assert scores[1].tolist() == [0, 0]
    assert scores[2][0] == scores[2][5]  # the same news twice ties exactly
