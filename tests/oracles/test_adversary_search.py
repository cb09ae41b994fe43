"""The searches of the audit `adversarial` against other optimisers, and how what they find is printed."""

from dataclasses import replace

import numpy as np
import pytest
import torch
import transformers as hf
from scipy.optimize import minimize
from scipy.special import softmax

from glasshead.audits import audit, build_context
from glasshead.audits.adversary import Effort, Setting, free_distances, producible_distances
from glasshead.audits.adversary.producible import in_units, read_pooled_keys
from glasshead.cli.fail_under import check_threshold, finding_for_threshold
from glasshead.errors import InputError
from glasshead.opening import open_subject
from glasshead.report.claims import finding_claims
from planted_heads import tokenizer_of
from short_search import shorten_search
from small import WORDS, as_run, random_model, split

NAMES = ("negative", "positive", "mixed")


def drawn_texts(words, count, longest, seed):
    rng = np.random.default_rng(seed)
    return [" ".join(rng.choice(words, size=n)) for n in rng.integers(4, longest, count)]


def setting_of(model, texts, classes):
    labels = [row % classes for row in range(len(texts))]
    return Setting(
        build_context(open_subject(as_run(model, texts, labels)), split(texts, labels, NAMES[:classes]))
    )


def divergence(own, other):
    other = np.maximum(other, 1e-12)
    mean = (own + other) / 2
    return float((own * np.log(own / mean) + other * np.log(other / mean)).sum() / 2)


def by_slsqp(own, polarity, bias, epsilon, starts=10):
    """The farthest weights of the simplex whose prediction stays within ε, from several random starts."""
    prediction, n, best = softmax(own @ polarity + bias), len(own), 0.0
    rng = np.random.default_rng(0)

    def left(x):
        return epsilon - np.abs(softmax(x @ polarity + bias) - prediction).sum() / 2

    constraints = [{"type": "eq", "fun": lambda x: x.sum() - 1}, {"type": "ineq", "fun": left}]
    for _ in range(starts):
        solved = minimize(
            lambda x: -divergence(own, x),
            rng.dirichlet(np.full(n, 0.3)),
            bounds=[(0, 1)] * n,
            constraints=constraints,
            method="SLSQP",
        )
        other = np.clip(solved.x, 0, None)
        other /= other.sum()
        if left(other) >= -1e-6:
            best = max(best, divergence(own, other))
    return best


def test_of_three_classes_the_search_finds_what_slsqp_finds():
    texts = drawn_texts(WORDS, 8, 12, 3)
    setting = setting_of(random_model(classes=3), texts, 3)
    effort, readout = Effort(setting.search.steps), setting.context.readout
    found, _ = free_distances(setting, np.arange(len(texts)), 0, effort)
    expected = []
    for text, mask in enumerate(readout.mask.numpy()):
        own, polarity = (each[text].double().numpy()[mask] for each in (readout.weights, readout.polarity))
        expected.append(by_slsqp(own, polarity, readout.bias.double().numpy(), setting.search.epsilon))
    assert min(expected) > 0.1
    assert (found["own"] >= np.array(expected) - 0.01).all()
    assert found["own"].mean() >= np.mean(expected) - 0.002
    assert effort.converged


def test_of_a_query_of_two_numbers_the_search_finds_what_a_grid_finds():
    """A plain polar grid over all queries; its truth lies far above what a few random starts reach."""
    texts = drawn_texts(WORDS, 6, 14, 0)
    setting = setting_of(random_model(score="additive", head_dim=2), texts, 2)
    readout, every = setting.context.readout, torch.arange(len(texts))
    found = producible_distances(setting, every.numpy(), 0, Effort(setting.search.steps))["own"]
    angles = torch.linspace(0, 2 * np.pi, 241, dtype=torch.float64)[:-1]
    directions = torch.stack([angles.cos(), angles.sin()], dim=1)
    sizes = torch.logspace(-1.5, 3.5, 600, dtype=torch.float64)
    best = np.zeros(len(texts))
    for places, keys in read_pooled_keys(setting.context, every):
        keys = in_units(keys.to(readout.scores), readout.mask[places]).double()
        for place, text in enumerate(places.tolist()):
            mask = readout.mask[text]
            own, polarity = readout.weights[text, mask].double(), readout.polarity[text, mask, 0].double()
            steps = directions @ keys[place, mask].T
            weights = (readout.scores[text, mask].double() + sizes[:, None, None] * steps).softmax(dim=-1)
            answer, answers = (torch.sigmoid(rows @ polarity + readout.bias[0]) for rows in (own, weights))
            change = (answers - answer).abs()
            feasible = weights[change <= setting.search.epsilon].numpy()
            best[text] = max((divergence(own.numpy(), row) for row in feasible), default=0.0)
    few = replace(setting.search, candidates=4, starts=4, doublings=0)
    short = producible_distances(replace(setting, search=few), every.numpy(), 0, Effort(few.steps))["own"]
    assert short.mean() < 0.95 * best.mean()
    assert (found >= 0.99 * best).all()


def small_bert():
    torch.manual_seed(0)
    config = hf.BertConfig(
        vocab_size=40, hidden_size=32, num_attention_heads=2, num_hidden_layers=2, intermediate_size=32,
        max_position_embeddings=32, num_labels=2, initializer_range=0.5,
        id2label=dict(enumerate(NAMES[:2])),
    )  # fmt: skip
    words = [f"w{number}" for number in range(30)]
    texts = drawn_texts(words, 20, 10, 0)
    data = split(texts, [row % 2 for row in range(len(texts))])
    return hf.BertForSequenceClassification(config).eval(), data, tokenizer_of(words)


def audited():
    model, data, tokenizer = small_bert()
    return audit(model, data, tokenizer=tokenizer, audits=["adversarial"])


@pytest.fixture(scope="module")
def card():
    """Of one short search, which is not repeated with more starts."""
    with pytest.MonkeyPatch.context() as patch:
        shorten_search(patch)
        return audited()


@pytest.mark.slow
def test_a_bert_whose_heads_can_draw_other_maps_is_said_to_have_them():
    """Four starts of eighty steps found them for one text of eight."""
    card = audited()
    found = card.finding("adversarial.found.producible.all")
    assert found.estimate >= 0.9
    assert found.verdict.startswith("a very different map of another query exists for at least")


def test_what_a_search_found_is_a_lower_bound_without_an_interval(card, tmp_path):
    searched = [
        finding
        for finding in card.findings
        if finding.statistic in ("jsd", "found") and finding.group == "all"
    ]
    assert {finding.against for finding in searched} == {"free", "same-output", "producible"}
    for finding in searched:
        assert (finding.bound, finding.interval, finding.over_null) == ("lower", None, {})
        assert finding.limit <= finding.estimate
    for name in ("adversarial.flat.all", "adversarial.bound.same-output.all"):
        assert (card.finding(name).bound, card.finding(name).interval) == ("upper", None)
    assert "starts of" in card.facts["adversarial"]["free"]
    card.save(tmp_path / "card.html")
    page = (tmp_path / "card.html").read_text()
    assert "≥\u00a0" in page
    assert "lower bound" in page
    (claim,) = (one for one in finding_claims(card) if one.finding == "adversarial.found.free.all")
    assert claim.numbers.startswith("≥\u00a0")


def test_a_bar_under_a_bound_rests_on_what_was_found(card):
    lines = []
    finding = finding_for_threshold(card, "adversarial.found.free")
    assert check_threshold(finding, 0.1, lines.append)
    assert "the mean is at least" in lines[0]
    assert not check_threshold(finding, 1.1)
    with pytest.raises(InputError, match="upper bound"):
        finding_for_threshold(card, "adversarial.flat")
