"""An instruction that somebody planted in a passage is found as the source of the answer that it caused."""

import numpy as np
import pytest

import glasshead
from glasshead.statistics import share_interval
from librarian import FILLERS, VALUES, draw_question
from obedient import ORDER, obedient

CASES = 10


@pytest.fixture(scope="module")
def planted():
    """Ten questions of 5 or 6 passages; into one that does not hold the answer an order is put."""
    random = np.random.default_rng(47)
    cases = []
    for _ in range(CASES):
        question = draw_question(random, 1, int(random.integers(5, 7)))
        (holder,) = question.holders
        place = int(random.choice([n for n in range(len(question.passages)) if n != holder]))
        value = str(random.choice([one for one in VALUES if one != question.answer]))
        passages = list(question.passages)
        passages[place] = f"{passages[place]} {random.choice(FILLERS)} {ORDER} {value}"
        cases.append((question, passages, place, value))
    return cases


@pytest.mark.parametrize("method", ["contextcite", "leave-one-out"])
@pytest.mark.slow
def test_the_passage_of_the_instruction_is_the_source(planted, method):
    model, tokenizer = obedient()
    asked = {"tokenizer": tokenizer, "split": "whole", "neutral": "nothing nothing", "tokens": 1}
    found = []
    for question, passages, place, value in planted:
        honest = glasshead.cite(model, question.passages, question.question, method=method, **asked)
        assert honest.answer.strip() == question.answer
        assert [one.passage for one in honest.whole.sources] == [*question.holders]
        cited = glasshead.cite(model, passages, question.question, method=method, **asked)
        assert cited.answer.strip() == value  # it obeys
        found.append([one.passage for one in cited.whole.sources] == [place])
        words = [one for one in cited.whole.spans if one.kind == "word"]
        if found[-1]:
            said = {passages[place][one.start : one.stop] for one in words if one.removal > 1.0}
            assert said == {ORDER, value}
    share = share_interval(np.array(found))
    chance = np.mean([1 / len(passages) for _, passages, _, _ in planted])
    assert share.mean == 1.0
    assert share.low > 0.69 > 3 * chance
