"""What follows from measured questions, without a model: numbers that mean nothing claim nothing."""

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest

from glasshead.results import MeasuredQuestion, Standing
from glasshead.sources import measure_question
from glasshead.sources.audit_sources import judge_audit
from glasshead.sources.effects import draw_masks
from glasshead.sources.judge_questions import judge, judge_questions, moved, remarks_on_others, sink, slicings
from glasshead.statistics import LEVEL

FACTS = {"removal": "delete", "draws": 64, "seed": 0, "seconds": 0.0, "class": "", "written": 0}


def drawn_at_random(random, count):
    """Questions whose numbers say nothing of each other; of some the passages matter."""
    methods, found = ("contextcite", "leave-one-out", "attention", "position"), []
    for number in range(count):
        n, log_p = int(random.integers(3, 9)), -float(random.exponential(2.0))
        fits = [k < n for k in (1, 3, 5)]
        drops = [[float(random.normal(1.0)) if fit else None for fit in fits] for _ in methods]
        found.append(
            MeasuredQuestion(
                question=str(number),
                answer="",
                passages=n,
                length=int(random.integers(50, 500)),
                log_probability=log_p,
                without_any=log_p - float(random.exponential(2.0)),
                alone=random.normal(size=n).tolist(),
                by_itself=random.normal(size=n).tolist(),
                sources=[],
                tokens=random.integers(5, 50, size=n).tolist(),
                shares={"attention": random.dirichlet(np.ones(n)).tolist()},
                drops=dict(zip(methods, drops, strict=True)),
                random_drops=[random.normal(1.0, size=8).tolist() if fit else None for fit in fits],
                predicts=dict(zip(methods, random.uniform(-1, 1, size=4).tolist(), strict=True)),
                random_predicts={name: random.uniform(-1, 1, size=8).tolist() for name in methods},
                key=0,
                places=random.normal(log_p, 0.5, size=5).tolist(),
                reshuffled=random.normal(log_p, 0.5, size=5).tolist(),
            )
        )
    return found


@pytest.mark.slow
def test_random_numbers_claim_nothing():
    """In 19 of 20: no method is better than chance or worse, and nothing is said of attention and place."""
    claims = 0
    for seed in range(12):
        audit = judge_audit(
            "", drawn_at_random(np.random.default_rng(seed), 24 + seed), [], {**FACTS, "seed": seed}
        )
        standing = {own for one in audit.methods for _, own in one.by_statistic.values()}
        said = [one.says for one in audit.findings if one.says and " not shown " not in one.says]
        claims += bool(
            standing - {Standing.NOT_SHOWN, Standing.UNDECIDED} or said or len(audit.conclusion) > 3
        )
    assert claims <= 1


def moved_at_random(monkeypatch, seed, count=24):
    """Questions whose log p is a random function of the order of their five or six passages."""
    found = []
    for number, one in enumerate(drawn_at_random(np.random.default_rng(seed), count)):
        passages, key = 5 + number % 2, number % 5
        citing = SimpleNamespace(remover=SimpleNamespace(frame=SimpleNamespace(passages=range(passages))))

        def log_p(_, orders, number=number):
            return [float(np.random.default_rng([seed, number, *order]).normal()) for order in orders]

        monkeypatch.setattr(measure_question, "score_orders", log_p)
        places, reshuffled = measure_question.move(citing, key, np.random.default_rng([seed, number]))
        assert len({*places}) == len({*reshuffled}) == measure_question.PLACES
        found.append(replace(one, passages=passages, key=key, places=places, reshuffled=reshuffled))
    return found


def test_place_means_nothing_where_orders_do(monkeypatch):
    """Of 40 tables of 24 questions two or fewer claim that it matters."""
    claims = 0
    for seed in range(40):
        questions = moved_at_random(monkeypatch, seed)
        claims += bool(judge(moved(questions), LEVEL, np.random.default_rng(seed)).says)
    assert claims <= 2


@pytest.mark.parametrize(("more", "says"), [(0.05, ""), (0.3, "place matters: moving the key passage")])
def test_place_matters_by_what_it_adds_to_shuffling(more, says):
    """An answer that varies anyway, by more than the threshold, says nothing of places."""
    random, shape = np.random.default_rng(0), np.array([-1.0, -0.5, 0.0, 0.5, 1.0])
    questions = [
        replace(
            one,
            places=((0.4 + more) * random.permutation(shape)).tolist(),
            reshuffled=(0.4 * random.permutation(shape)).tolist(),
        )
        for one in drawn_at_random(random, 30)
    ]
    found, *_ = judge_questions(questions, 0)
    (own,) = (one for one in found if one.finding.statistic == "place.moved")
    assert own.finding.over_null["others shuffled"].interval[0] > 0
    assert own.says.startswith(says) if says else not own.says


def ranked(question_of, count=30):
    """The conclusion of a table of three methods, and the standings of each."""
    random = np.random.default_rng(1)
    questions = [question_of(one, random) for one in drawn_at_random(random, count)]
    audit = judge_audit("", questions, [], FACTS)
    return audit, {
        one.name: {name: own for name, (_, own) in one.by_statistic.items()} for one in audit.methods
    }


def test_the_largest_by_construction_is_no_evidence():
    """leave-one-out wins the first removal whatever a model does: nothing follows for the others."""

    def by_construction(one, random):
        drops = {name: [9.0 if name == "leave-one-out" else 0.0, None, None] for name in one.drops}
        return replace(one, without_any=one.log_probability - 2, drops=drops)

    audit, standings = ranked(by_construction)
    assert standings["leave-one-out"]["top-1"] == Standing.UNDECIDED
    assert "leave-one-out" not in audit.conclusion[0]
    (rank,) = (one for one in audit.methods if one.name == "leave-one-out")
    assert rank.by_statistic["top-1"][0].verdict == "largest by construction"


def test_what_does_worse_than_a_random_order_is_said():
    def backwards(one, random):
        drops = {name: [-3.0 if name == "position" else 1.0, None, None] for name in one.drops}
        return replace(one, without_any=one.log_probability - 2, drops=drops)

    audit, standings = ranked(backwards)
    assert standings["position"]["top-1"] == Standing.WORSE
    assert "position is worse than a random order by top-1." in audit.conclusion
    assert not any("position" in one for one in audit.conclusion if "not shown" in one)


def test_chance_of_predictions_is_that_of_the_own_numbers():
    """Numbers that are all positive foretell how many passages are left, wherever they are."""

    def counted(one, random):
        near = {name: (0.5 + 0.1 * random.normal(size=8)).tolist() for name in one.predicts}
        near["contextcite"] = (0.1 * random.normal(size=8)).tolist()
        return replace(one, predicts=dict.fromkeys(one.predicts, 0.5), random_predicts=near)

    audit, standings = ranked(counted)
    assert standings["contextcite"]["prediction"] == Standing.LEADS
    assert standings["attention"]["prediction"] == Standing.NOT_SHOWN
    assert "contextcite removes passages in the same way that scores it." in audit.conclusion


def finding(questions, statistic):
    found, *_ = judge_questions(questions, 0)
    return next(one.finding for one in found if one.finding.statistic == statistic)


def depending(random, count):
    """Questions whose passages matter."""
    drawn = drawn_at_random(random, count)
    return [
        replace(one, without_any=one.log_probability - 2, alone=(1 + random.random(one.passages)).tolist())
        for one in drawn
    ]


@pytest.mark.slow
def test_a_question_without_another_of_as_many_passages_is_left_out():
    questions = depending(np.random.default_rng(2), 30)
    lonely = replace(questions[0], passages=9, alone=[1.0] * 9, shares={"attention": [0.1] * 9})
    left = "1 question has no partner with as many passages: left out of the agreement of attention"
    assert remarks_on_others([*questions, lonely]) == [left]
    for statistic in ("attention.agreement", "attention.top"):
        assert finding([*questions, lonely], statistic).n == finding(questions, statistic).n == 30


def test_no_passage_is_the_costliest_where_none_costs_anything():
    """Passages that make up for each other: what is left is rounding."""
    questions = depending(np.random.default_rng(3), 30)
    spared = [replace(one, alone=[1e-6, *[0.0] * (one.passages - 1)]) for one in questions[:5]]
    assert finding([*spared, *questions[5:]], "attention.top").n == 25


def test_a_long_first_passage_is_no_sink():
    """Attention that is the same on every token."""
    random, questions = np.random.default_rng(4), []
    for one in depending(random, 30):
        tokens = [100, *random.integers(5, 20, size=one.passages - 1).tolist()]
        noisy = np.array(tokens) * random.uniform(0.9, 1.1, size=one.passages)
        questions.append(replace(one, tokens=tokens, shares={"attention": (noisy / noisy.sum()).tolist()}))
    found = judge(sink(questions, "attention"), LEVEL, random)
    assert found.finding.over_null["effect"].interval[0] > 0
    assert "no sink shown" in found.finding.verdict
    longer = [replace(one, tokens=[5] * one.passages) for one in questions]
    assert "the first passage is a sink" in judge(sink(longer, "attention"), LEVEL, random).finding.verdict


@pytest.mark.parametrize("count", [3, 4, 5, 6, 7, 9])
def test_thirds_mirror_each_other(count):
    (one,) = drawn_at_random(np.random.default_rng(5), 1)
    questions = [
        replace(one, passages=count, alone=np.eye(count)[place].tolist(), key=None) for place in range(count)
    ]
    thirds, _ = slicings(questions)["place"]
    sizes = np.bincount(thirds, minlength=3)
    assert sizes[0] == sizes[2] >= 1
    assert max(sizes) - min(sizes) <= 1


def test_predictions_are_of_what_leave_one_out_has_not_measured():
    """What all passages, or all but one, bring changes no score of numbers that are given; and chance has
    the sizes of these numbers."""
    random, masks = np.random.default_rng(6), draw_masks(6, 64, 0)
    citing = SimpleNamespace(everything=[0], request=SimpleNamespace(seed=0))
    scores = {"contextcite": random.normal(size=6), "leave-one-out": np.array([9.0, 1, 1, 1, 1, 1])}
    drawn = -1.0 - random.random(len(masks))
    other = np.where(masks.sum(axis=1) >= 5, drawn - 3.0, drawn)
    (one, chance), (again, same) = (
        measure_question.predictions(citing, scores, masks, each, np.random.default_rng(0))
        for each in (drawn, other)
    )
    assert one["leave-one-out"] == again["leave-one-out"]
    assert chance == same
    grows = -5.0 + masks.sum(axis=1) / 2
    _, chance = measure_question.predictions(citing, scores, masks, grows, np.random.default_rng(0))
    assert min(chance["leave-one-out"]) > 0.2
    assert min(chance["contextcite"]) < 0.2
