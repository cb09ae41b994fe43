"""Methods that draw leave the random numbers of the process as they were."""

import random
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
import torch

import glasshead
from small import as_run, planted_model, planted_texts


@pytest.mark.parametrize("method", ["captum:lime", "captum:kernel-shap"])
def test_random_numbers_go_on_as_if_nothing_had_been_explained(method, request):
    pytest.importorskip("captum")
    texts, labels = planted_texts(4)
    run = as_run(planted_model("softmax"), texts, labels)

    def following():
        random.seed(3)
        np.random.seed(3)  # noqa: NPY002
        torch.manual_seed(3)
        scores = [glasshead.explain(run, texts[:1], method=method)[0].scores] if explains else []
        return scores, random.random(), np.random.random(), float(torch.rand(1))  # noqa: NPY002

    explains = False
    expected = following()[1:]
    explains = True
    (first, *rest), again = following(), following()
    checked = request.config.getoption("jaxtyping_packages") is not None  # the checker draws from `random`
    assert tuple(rest)[checked:] == expected[checked:]
    random.seed(4)
    assert first == again[0]


@pytest.mark.parametrize("method", ["captum:lime", "captum:kernel-shap"])
def test_threads_draw_what_each_would_alone(method, request):
    """They share the generators of the process."""
    pytest.importorskip("captum")
    texts, labels = planted_texts(4)
    run = as_run(planted_model("softmax"), texts, labels)

    def scores(text):
        return tuple(glasshead.explain(run, text, method=method)[0].scores)

    expected = [scores(text) for text in texts[:2]]
    random.seed(3)
    state = random.getstate()
    with ThreadPoolExecutor(4) as threads:
        found = list(threads.map(scores, texts[:2] * 4))
    assert found == expected * 4
    if request.config.getoption("jaxtyping_packages") is None:  # the checker draws from `random`
        assert random.getstate() == state
