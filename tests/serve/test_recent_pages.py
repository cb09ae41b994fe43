"""A page that was just made is not made again."""

import asyncio

import pytest
from pydantic import BaseModel
from starlette.responses import Response

from glasshead.serve.views import remembering


class Question(BaseModel):
    """What is asked."""

    text: str


def test_the_last_pages_are_kept_and_no_more():
    made = []

    @remembering(lambda question: question.text != "drawn", most=2)
    async def page(request, question):
        made.append(question.text)
        return Response(f"page of {question.text}")

    for text in ("a", "b", "a", "c", "a", "b", "drawn", "drawn", "b"):
        assert asyncio.run(page(None, Question(text=text))).body == f"page of {text}".encode()
    assert made == ["a", "b", "c", "b", "drawn", "drawn"]


def test_what_fails_is_asked_again():
    tries = []

    @remembering(lambda question: True)
    async def page(request, question):
        tries.append(1)
        if len(tries) == 1:
            raise ValueError("busy")
        return Response("page")

    with pytest.raises(ValueError, match="busy"):
        asyncio.run(page(None, Question(text="a")))
    assert asyncio.run(page(None, Question(text="a"))).body == b"page"


@pytest.mark.slow
def test_heads_are_looked_at_once_and_a_text_without_a_seed_is_drawn_again(client, monkeypatch):
    from glasshead.serve import views

    counted = []
    for name in ("inspect_heads", "write_answer"):
        whole = getattr(views, name)

        def count(*given, name=name, whole=whole):
            counted.append(name)
            return whole(*given)

        monkeypatch.setattr(views, name, count)
    heads = {"model": "pieces", "text": "a film"}
    first, second = (client.get("/view/heads", params=heads) for _ in range(2))
    assert first.status_code == 200
    assert first.text == second.text
    drawn = {"model": "writer", "prompt": "the film", "tokens": 3, "strategy": "sample"}
    for more in ({}, {}, {"seed": 3}, {"seed": 3}, {"strategy": "greedy"}, {"strategy": "greedy"}):
        assert client.get("/view/written", params=drawn | more).status_code == 200
    assert counted == ["inspect_heads", *["write_answer"] * 4]


def test_the_python_of_heads_and_of_what_is_written(client):
    heads = {"model": "pieces", "text": "a film\na plot", "lines": "true"}
    line = client.get("/api/python/heads", params=heads).json()["python"]
    assert line.startswith("glasshead.heads(")
    assert "[{'text': 'a film'}, {'text': 'a plot'}], texts=['a film']" in line
    pair = {"model": "pairs", "text": "a film", "pair": "a plot"}
    line = client.get("/api/python/heads", params=pair).json()["python"]
    assert line.endswith("[{'premise': 'a film', 'hypothesis': 'a plot'}], effects=False)")
    written = {"model": "writer", "prompt": "the film", "tokens": 3, "strategy": "sample", "seed": 7}
    line = client.get("/api/python/written", params=written).json()["python"]
    assert "tokens=3, strategy='sample', seed=7" in line
    assert client.get("/api/python/heads", params={"model": "none", "text": "a"}).status_code == 404
