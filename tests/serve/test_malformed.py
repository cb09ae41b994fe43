"""Whatever is sent, the answer to what cannot be answered is 4xx with one sentence."""

import json

import pytest
from served_models import served

from glasshead.serve.fields import MOST_LETTERS
from glasshead.serve.guard import MOST_BODY_BYTES
from hostile import NASTY

MODEL = {"model": "planted"}
EXPLAIN = MODEL | {"text": "the film was good"}
COMPARE = {"text": "the film", "first": MODEL, "second": MODEL}
GENERATE = {"model": "writer", "prompt": "the film", "tokens": 2}
LONG = "a" * (MOST_LETTERS + 1)
ODD_VALUES = (None, 1, -1, 1.5, 10**400, True, [], ["a"], {}, {"a": 1}, [[]], "", LONG[:300])


def without(question, name):
    return {key: value for key, value in question.items() if key != name}


def bodies():
    """Address and body of requests, none of which can be answered."""
    for path, question in (
        ("/api/explain", EXPLAIN), ("/save/explanation.json", EXPLAIN), ("/api/compare", COMPARE),
        ("/api/generate", GENERATE),
    ):  # fmt: skip
        for name in question:
            if name != "tokens":
                yield path, without(question, name)
        for odd in (*ODD_VALUES[:-2], "text", [question]):
            yield path, odd
        yield path, question | {"path": "/etc/passwd"}
        yield path, question | {"__proto__": {}}
    for odd in ODD_VALUES:
        for name in ("model", "method", "unit", "level"):
            yield "/api/explain", EXPLAIN | {name: odd}
    for odd in (1, 1.5, True, [], {}, LONG):
        for name in ("text", "pair"):
            yield "/api/explain", EXPLAIN | {name: odd}
        yield "/api/generate", GENERATE | {"prompt": odd}
        yield "/api/compare", COMPARE | {"other_text": odd}
    for odd in (-1, 99_999, 10**30, 1e308, 0.5, [], {}, "seventh"):
        for name in ("layer", "head"):
            yield "/api/explain", EXPLAIN | {"model": "pieces", name: odd}
    for odd in (
        "a",
        [1],
        [[1]],
        [[1, 2, 3]],
        [[0.5, 2]],
        [[-1, 1]],
        [[2, 2]],
        [[0, 10**9]],
        [["a", "b"]],
        {},
    ):
        yield "/api/explain", EXPLAIN | {"without": odd}
    for odd in (0, -1, 201, 10**30, 1.5, "many", None, []):
        yield "/api/generate", GENERATE | {"tokens": odd}
    for odd in (-1, 2**32, 1.5, "x", []):
        yield "/api/generate", GENERATE | {"seed": odd}
    for odd in (
        "",
        "temperature=x",
        "temperature=-1",
        "top-k=0",
        "beam=0",
        "beam=999999999",
        "nucleus=7",
        *NASTY,
    ):
        yield "/api/generate", GENERATE | {"strategy": odd}
    for nasty in (*NASTY, "\x00", "../../etc/passwd", "planted\x00", "PLANTED", "a" * 200):
        yield "/api/explain", EXPLAIN | {"model": nasty}
        yield "/api/explain", EXPLAIN | {"method": nasty}
        yield "/api/explain", EXPLAIN | {"target": nasty}
        yield "/api/explain", EXPLAIN | {"target_fn": nasty}
        yield "/api/explain", EXPLAIN | {"row": nasty}
        yield "/api/compare", COMPARE | {"second": {"model": nasty}}
    for nothing in ("", " ", "\n\t", "\u200b", "\ufeff"):
        yield "/api/explain", EXPLAIN | {"text": nothing}


RAW = [
    b"", b"{", b"[]", b"null", b"NaN", b"{'a': 1}", b'{"model": "planted", "text": "a"', b"\xff\xfe", b"\x00",
    b'{"model": "planted", "text": "\\ud800"}', b'{"model": "planted", "text": "a\\udfffb"}',
    b'{"model": "\\ud800", "text": "a"}', b'{"model": "planted", "method": "\\udc00", "text": "a"}',
    b'{"model": "planted", "target": "\\ud800", "text": "a"}', b'{"\\ud800": 1}',
    b'{"model": "planted", "text": "a", "layer": 1e999}', b'{"model": "planted", "text": "a", "layer": NaN}',
    b'{"model": "planted", "text": "a", "layer": ' + b"9" * 5000 + b"}", b"[" * 5000, b'{"a":' * 5000,
    b'{"model": "planted", "text": "a\xff"}', b"model=planted&text=a", b"<xml/>",
]  # fmt: skip
ADDRESSES = [
    "/nothing", "/api/nothing", "/page/nothing.js", "/view/", "/save/explanation.exe",
    "/api/audits/texts", "/api/audits/texts?audit=%00", "/api/audits/texts?audit=..%2f..", "/api/runs/ledger",
    "/api/audits/texts?audit=tanhmax&first=-1", "/api/audits/texts?audit=tanhmax&first=x",
    "/api/runs/ledger?run=watched&of=%ff&quantity=score", "/api/runs/ledger?run=watched&of=a&quantity=x",
    "/api/runs/ledger?run=watched&of=nothing", "/api/runs/ledger?run=watched&of=positive&group=perhaps",
    "/api/runs/ledger?run=planted&of=a", "/%00", "/%ff", "/" + "a" * 5000, "/api/models/../explain/..;/x",
]  # fmt: skip
METHODS = [
    ("DELETE", "/api/explain"), ("PUT", "/api/explain"), ("GET", "/api/explain"), ("GET", "/api/generate"),
    ("POST", "/api/models"), ("POST", "/"), ("TRACE", "/"), ("PATCH", "/api/audits"), ("BREW", "/api/models"),
    ("GET", "/save/explanation.html"), ("POST", "/view/heads"), ("POST", "/page/main.js"),
]  # fmt: skip


def refused(answer):
    """Exactly one sentence."""
    assert 400 <= answer.status_code < 500, (answer.status_code, answer.text[:300])
    body = answer.json()
    assert list(body) == ["error"], body
    assert body["error"].strip()
    assert len(body["error"].splitlines()) == 1
    assert len(body["error"]) <= 300
    assert "constrained-" not in body["error"]
    assert "Traceback" not in body["error"]
    assert "/site-packages/" not in body["error"]


@pytest.fixture(scope="module")
def asked(models, audits):
    with served([models / name for name in ("planted", "pieces", "writer", "watched")], audits) as client:
        yield client


@pytest.mark.parametrize(("path", "body"), list(bodies()))
def test_a_question_that_is_none(asked, path, body):
    refused(asked.post(path, content=json.dumps(body), headers={"content-type": "application/json"}))


@pytest.mark.parametrize("body", RAW)
@pytest.mark.parametrize("path", ["/api/explain", "/api/generate"])
def test_a_body_that_is_no_question(asked, path, body):
    refused(asked.post(path, content=body, headers={"content-type": "application/json"}))


@pytest.mark.parametrize(
    "kind", ["text/plain", "application/x-www-form-urlencoded", "multipart/form-data; boundary=x", "", "x/y"]
)
def test_only_json_is_read(asked, kind):
    """A form of a page elsewhere can send these without asking."""
    refused(asked.post("/api/explain", content=json.dumps(EXPLAIN), headers={"content-type": kind}))


@pytest.mark.parametrize("path", ADDRESSES)
def test_an_address_that_is_none(asked, path):
    found = asked.get(path)
    if path.startswith("/view"):
        assert found.status_code == 404
    else:
        refused(found)


@pytest.mark.parametrize(("method", "path"), METHODS)
def test_a_method_that_is_none(asked, method, path):
    found = asked.request(method, path)
    assert found.status_code == 405
    if not path.startswith("/view"):
        refused(found)


@pytest.mark.parametrize("announced", [True, False])
def test_a_body_that_is_too_large(asked, announced):
    body = json.dumps(EXPLAIN | {"text": "a" * MOST_BODY_BYTES}).encode()
    content = body if announced else (body[place : place + 9_999] for place in range(0, len(body), 9_999))
    found = asked.post("/api/explain", content=content, headers={"content-type": "application/json"})
    refused(found)
    assert found.status_code == 413
    assert "64 kB" in found.json()["error"]


def test_the_largest_text_is_read(asked):
    text = "good " * (MOST_LETTERS // 5)
    assert asked.post("/api/explain", json=MODEL | {"text": text}).status_code == 200
    assert (
        asked.get("/view/heads", params={"model": "planted", "text": "x" * (MOST_LETTERS + 1)}).status_code
        == 422
    )


def test_afterwards_all_is_well(asked):
    assert asked.post("/api/explain", json=EXPLAIN).status_code == 200
    assert {one["state"] for one in asked.get("/api/models").json()} == {"ready"}
