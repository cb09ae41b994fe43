"""Two hundred questions of fifty clients at once: each is answered rightly, or told when to come again."""

import json
import time
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import psutil
import pytest
from processes import serving

import glasshead
from glasshead.serve.served_model import MOST_WAITING
from tolerances import ALL_LAYERS

pytestmark = pytest.mark.slow

CLIENTS, QUESTIONS, SECONDS = 50, 200, 120
WORDS = ("unaffordable", "heartwarmingly", "good", "bad", "film", "acting", "plot", "music")


def text_of(number):
    """Texts of other lengths, so that answers cannot be mixed up."""
    return " ".join(WORDS[(number + place) % len(WORDS)] for place in range(1 + number % 12))


def round_of_questions(server):
    """Status, headers and body of every answer, by text."""
    questions = [{"model": "pieces", "text": text_of(number)} for number in range(QUESTIONS)]
    started = time.monotonic()
    with ThreadPoolExecutor(CLIENTS) as clients:
        answers = list(clients.map(lambda question: server.ask("/api/explain", question), questions))
    assert time.monotonic() - started < SECONDS
    return [(question["text"], *answer) for question, answer in zip(questions, answers, strict=True)]


def test_none_is_lost_and_memory_is_steady(models):
    texts = sorted({text_of(number) for number in range(QUESTIONS)})
    own = {one.text: one for one in glasshead.explain(str(models / "pieces"), texts)}
    with serving(models / "pieces") as server:
        server.wait_until_open()
        process = psutil.Process(server.process.pid)
        resident = []
        for _ in range(3):
            answers = round_of_questions(server)
            resident.append(process.memory_info().rss)
            answered = [(text, json.loads(body)) for text, status, _, body in answers if status == 200]
            for text, answer in answered:
                (found,) = answer["attributions"]
                assert found["text"] == text
                np.testing.assert_allclose(found["scores"], own[text].scores, **ALL_LAYERS)
                np.testing.assert_allclose(found["prediction"], own[text].prediction, **ALL_LAYERS)
            for _, status, headers, body in answers:
                if status != 200:
                    assert status == 503
                    assert int(headers["retry-after"]) > 0
                    assert list(json.loads(body)) == ["error"]
            assert len(answered) > MOST_WAITING
        # The first round fills caches; what each round would leave behind is seen between the later ones.
        assert resident[2] - resident[1] < 0.05 * resident[1], resident
        # Afterwards it is as quick and right as before.
        assert server.json("/api/explain", {"model": "pieces", "text": texts[0]})["text"] == texts[0]


def test_clients_that_come_again_are_all_answered(models):
    with serving(models / "pieces") as server:
        server.wait_until_open()

        def patient(number):
            question = {"model": "pieces", "text": text_of(number)}
            end = time.monotonic() + SECONDS
            while True:
                status, headers, body = server.ask("/api/explain", question)
                if status == 200:
                    return json.loads(body)["text"]
                assert (status, time.monotonic() < end) == (503, True), body
                time.sleep(int(headers["retry-after"]))

        with ThreadPoolExecutor(CLIENTS) as clients:
            answers = list(clients.map(patient, range(QUESTIONS)))
        assert answers == [text_of(number) for number in range(QUESTIONS)]
