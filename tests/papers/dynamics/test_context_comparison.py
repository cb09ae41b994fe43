"""Tokens in their texts and alone as a table of a history: by loops, and findings of planted ones."""

from pathlib import Path

import fake_histories
import numpy as np
import pytest
import torch
from fake_histories import chosen, in_context

from glasshead.data import encode
from glasshead.models import ENCODERS
from glasshead.opening import Run
from glasshead.papers.dynamics import context_comparison as contexts
from glasshead.papers.dynamics.context_comparison import (
    CONTEXTUAL,
    context_findings,
    reads_context,
    with_contexts,
)
from glasshead.papers.dynamics.context_scores import global_scores, local_scores
from glasshead.papers.results import History
from glasshead.results import NO_SIGN
from small import TEXTS, random_model, tokenizer


def run_of(model, classes):
    """A run whose token e is seen with class e mod K most."""
    counts = np.eye(classes, dtype=np.int64)[:, np.arange(len(tokenizer())) % classes]
    return Run(Path("run"), model, tokenizer(), {}, counts)


def followed(groups, encoder="lstm"):
    """A history of two looks in which tokens of these groups were followed."""
    size = len(groups)
    tokens = {
        "step": np.repeat([0, 5], size),
        "token": np.tile(np.array(list(groups)), 2),
        "group": np.tile(np.array(list(groups.values())), 2),
        "count": np.tile(np.arange(size)[::-1], 2),
    }
    names = [name for name in dict.fromkeys(groups.values()) if name]
    facts = {"encoder": encoder, "groups": dict.fromkeys(names, 1)}
    return History(facts, {"step": np.array([0, 5])}, {}, tokens)


def words():
    return [
        name for name in dict.fromkeys(" ".join(TEXTS).lower().split()) if name in tokenizer().get_vocab()
    ]


def by_loops(model, texts, token):
    """Mean score and polarities of a token over its places, one text after the other."""
    place = tokenizer().get_vocab()[token]
    found = []
    for text in texts:
        ids = tokenizer()(text)["input_ids"]
        if place in ids:
            seen = model(input_ids=torch.tensor([ids]), output_attentions=True)
            found += [
                [seen.scores[0, at].item(), *seen.polarity[0, at].tolist()]
                for at, each in enumerate(ids)
                if each == place
            ]
    mean = np.mean(found, axis=0)
    return len(found), mean[0], mean[1:]


@pytest.mark.parametrize("classes", [2, 3])
def test_the_table_by_loops(classes):
    model = random_model(encoder="lstm", classes=classes).double()
    named = words()[:6]
    groups = dict(zip(named, ["positive", "neutral", "", "neutral", "positive", "negative"], strict=True))
    history = with_contexts(followed(groups), run_of(model, classes), encode(tokenizer(), TEXTS))
    table = history.contexts
    assert dict(zip(table["token"], table["group"], strict=True)) == {
        token: group for token, group in groups.items() if group
    }
    assert history.facts["signed"] is False
    for row, token in enumerate(table["token"].tolist()):
        own = tokenizer().get_vocab()[token] % classes
        for where, texts in (("local", TEXTS), ("global", [token])):
            count, score, polarity = by_loops(model, texts, token)
            towards = polarity[0] if classes == 2 else polarity[own] - polarity.mean()
            assert table[f"{where} score"][row] == pytest.approx(score, rel=1e-10)
            assert table[f"{where} polarity"][row] == pytest.approx(towards, rel=1e-10)
            assert where == "global" or table["count"][row] == count


def test_the_most_frequent_of_every_group(monkeypatch):
    monkeypatch.setattr(contexts, "TOKENS_COMPARED", 2)
    model = random_model(encoder="lstm")
    groups = dict(zip(words()[:6], ["neutral"] * 4 + ["positive"] * 2, strict=True))
    table = with_contexts(followed(groups), run_of(model, 2), encode(tokenizer(), TEXTS)).contexts
    assert set(table["token"].tolist()) == {*words()[:2], *words()[4:6]}  # counts fall from first to last


def test_tokens_that_are_not_there():
    model = random_model(encoder="lstm")
    history = followed({words()[0]: "neutral"})
    assert with_contexts(history, run_of(model, 2), encode(tokenizer(), [""])).contexts == {}
    ungrouped = followed({words()[0]: ""})
    assert with_contexts(ungrouped, run_of(model, 2), encode(tokenizer(), TEXTS)).contexts == {}


@pytest.mark.parametrize("encoder", list(ENCODERS))
def test_which_encoders_read_context(encoder):
    model = random_model(encoder=encoder).double()
    local = local_scores(model, encode(tokenizer(), TEXTS))
    differs = np.abs(local.score - global_scores(model, local.ids).score).max() > 1e-6
    assert differs == (encoder in CONTEXTUAL) == reads_context(followed({"a": "x"}, encoder))


class TestFindings:
    def found(self, **options):
        return context_findings(in_context(**options))

    def test_no_contexts(self):
        assert context_findings(fake_histories.history()) == []

    def test_more_alone(self):
        found = self.found(local=0.0, alone=3.0)
        for group in ("polar", "positive", "negative"):
            gain = chosen(found, "prominence", "gain", f"{group} vs neutral")
            assert gain.verdict == f"alone, {group} tokens stand out more than in their texts"
            assert gain.interval[0] > 0.2
            assert gain.n == (180 if group == "polar" else 140)
        alone = chosen(found, "prominence", "alone", "polar vs neutral")
        assert alone.verdict == "alone, polar tokens get higher attention scores than neutral ones"
        local = chosen(found, "prominence", "local", "polar vs neutral")
        assert local.interval[0] < 0.5 < local.interval[1]
        assert local.verdict == NO_SIGN.words

    def test_less_alone_and_lower(self):
        found = self.found(local=0.0, alone=-3.0)
        verdicts = {f.against: f.verdict for f in found if f.group == "polar vs neutral"}
        assert verdicts["gain"] == "alone, polar tokens stand out less than in their texts"
        assert verdicts["alone"] == "alone, polar tokens get lower attention scores than neutral ones"

    def test_order_and_signs(self):
        found = self.found(local=1.0, alone=1.0, flipped=0.25)
        assert chosen(found, "order", "score", "neutral").n == 100
        assert chosen(found, "flipped", "score", "all") is None  # softmax: the sign of a score means nothing
        assert chosen(found, "flipped", "polarity", "positive").estimate == 0.25
        assert chosen(found, "flipped", "polarity", "neutral").estimate == 0
        assert chosen(found, "order", "polarity", "neutral").estimate == pytest.approx(1)
        assert chosen(found, "order", "polarity", "positive").interval[1] < 1

    def test_of_signed_scores_the_size_counts(self):
        found = self.found(local=0.0, alone=-9.0, signed=True)
        verdicts = {f.against: f.verdict for f in found if f.group == "polar vs neutral"}
        assert verdicts["alone"] == "alone, polar tokens get larger attention scores than neutral ones"
        assert chosen(found, "flipped", "score", "all") is not None

    def test_nothing_neutral(self):
        history = in_context(local=0.0, alone=1.0)
        here = history.contexts["group"] == "positive"
        table = {name: column[here] for name, column in history.contexts.items()}
        found = context_findings(
            History(history.facts, history.curves, history.products, history.tokens, table)
        )
        assert {f.statistic for f in found} == {"order", "flipped"}
