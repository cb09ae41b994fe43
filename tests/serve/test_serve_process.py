"""`glasshead serve` as a process: it ends at once when it is told to, and goes on whatever else happens."""

import json
import re
import signal
import socket
import threading
import time
import urllib.parse
from contextlib import suppress
from http.client import HTTPException
from urllib.request import HTTPCookieProcessor, build_opener

import pytest
from playwright.sync_api import expect
from processes import PROGRAM, serving
from served_models import pieces
from watched_pages import link

pytestmark = pytest.mark.slow

ENDS = 2.0
"""Seconds within which a signal ends it."""
LONG = "a long film about nothing at all , with music . " * 200
READING = {"model": "large"}
SLOW = [
    ("/api/explain", READING | {"text": LONG, "method": "erasure"}),
    ("/api/explain", READING | {"text": LONG, "method": "attention-flow"}),
    ("/save/explanation.png", READING | {"text": LONG}),
]
# Opening a model takes a minute.
LOADS_SLOWLY = f"""
import time, glasshead.serve.server as server
server.opener = lambda source: lambda: time.sleep(60)
{PROGRAM}
"""
# A picture takes half a minute, and nothing tells the thread to stop.
DRAWS_SLOWLY = f"""
import time, glasshead.serve.views as views
views.as_file = lambda value, kind: time.sleep(30)
{PROGRAM}
"""
# So does the server itself, which answers nobody meanwhile.
HANGS = f"""
import time, glasshead.serve.pages as pages
pages.policy_of = lambda page: time.sleep(30)
{PROGRAM}
"""
SIGNALS = [(signal.SIGINT, 130), (signal.SIGTERM, 143)]


@pytest.fixture(scope="module")
def large(tmp_path_factory):
    """A model that takes seconds for a long question."""
    folder = tmp_path_factory.mktemp("large") / "large"
    model, words = pieces(layers=4, width=128)
    model.save_pretrained(folder)
    words.save_pretrained(folder)
    return folder


def ended(process, number, code, said=()):
    started = time.monotonic()
    process.send_signal(number)
    _, errors = process.communicate(timeout=60)
    seconds = time.monotonic() - started
    assert process.returncode == code, errors
    assert "Traceback" not in errors
    lines = errors.splitlines()
    assert sorted(lines[: len(said)]) == sorted(said)  # models are opened at the same time
    assert len(lines) <= len(said) + 1, errors
    assert seconds < ENDS


@pytest.mark.parametrize(
    ("leaves", "seconds"),
    [
        ("stays", None),
        ("closes", None),
        ("stays at work", 0.5),
        ("closes at work", 0.5),
        ("closes at work", 1.0),
    ],
)
def test_after_a_browser_has_used_heads(browser, large, leaves, seconds):
    lines = "\n".join(f"unaffordable and heartwarmingly bad, {word}" for word in "abcdefghijklmnopqrst")
    with serving(large) as server:
        server.wait_until_open()
        context = browser.new_context()
        page = context.new_page()
        text = {"text": lines, "lines": "true"} if seconds else {"text": "a bad film"}
        page.goto(server.address + link("heads", model="large", **text))
        if seconds:
            page.wait_for_timeout(1000 * seconds)
        else:
            frame = page.frame_locator("section[data-view=heads] iframe")
            expect(frame.locator("button[data-head]").first).to_be_visible(timeout=60_000)
        if "closes" in leaves:
            context.close()
        ended(server.process, signal.SIGINT, 130)
        if "stays" in leaves:
            context.close()


class TestSignals:
    """At rest: the last lines of the tests of sentences and of tokens, below."""

    def test_while_a_model_is_loading(self, models):
        with serving(models / "planted", program=LOADS_SLOWLY) as server:
            assert server.states() == {"planted": "loading"}
            ended(server.process, *SIGNALS[0])

    @pytest.mark.parametrize(
        ("number", "code", "path", "question"),
        [(*SIGNALS[place % 2], *asked) for place, asked in enumerate(SLOW)],
        ids=["explain", "flow", "save"],
    )
    def test_while_a_question_is_answered(self, large, number, code, path, question):
        with serving(large) as server:
            server.wait_until_open()
            asked = threading.Thread(target=self.ask_in_vain, args=(server, path, question))
            asked.start()
            time.sleep(0.4)
            assert asked.is_alive()  # it is being answered
            ended(server.process, number, code)
            asked.join(30)
            assert not asked.is_alive()

    @pytest.mark.parametrize(
        ("number", "code", "program", "path"),
        [
            (*SIGNALS[0], DRAWS_SLOWLY, "/save/explanation.png"),
            (*SIGNALS[1], HANGS, "/view/heads?model=planted&text=a"),
        ],
        ids=["draws", "hangs"],
    )
    def test_while_something_cannot_be_told_to_stop(self, models, number, code, program, path):
        question = {"model": "planted", "text": "the film was good"} if "save" in path else None
        with serving(models / "planted", program=program) as server:
            server.wait_until_open()

            def ask():
                with suppress(OSError, HTTPException):  # the connection was cut
                    server.ask(path, question)

            asked = threading.Thread(target=ask)
            asked.start()
            time.sleep(3.0)
            assert asked.is_alive()
            ended(server.process, number, code)
            asked.join(30)

    @staticmethod
    def ask_in_vain(server, path, question):
        try:
            status, _, _ = server.ask(path, question)
        except OSError:
            return  # the connection was cut
        assert status != 200

    def test_with_an_open_connection(self, models):
        with serving(models / "planted") as server:
            server.wait_until_open()
            where = urllib.parse.urlsplit(server.address)
            with socket.create_connection((where.hostname, where.port)) as idle:
                idle.sendall(b"GET /api/models HTTP/1.1\r\n")  # and no more
                ended(server.process, *SIGNALS[1])


def test_a_client_that_leaves_frees_the_model(large):
    with serving(large) as server:
        server.wait_until_open()
        question = {"model": "large", "text": LONG, "method": "erasure"}
        body = json.dumps(question).encode()
        where = urllib.parse.urlsplit(server.address)
        with socket.create_connection((where.hostname, where.port)) as leaving:
            head = f"POST /api/explain HTTP/1.1\r\nHost: {where.netloc}\r\nContent-Type: application/json\r\n"
            leaving.sendall(f"{head}Content-Length: {len(body)}\r\n\r\n".encode() + body)
            time.sleep(1.0)
        started = time.monotonic()
        server.json("/api/explain", {"model": "large", "text": "a film"})
        waited = time.monotonic() - started
        # The same question takes much longer, if one waits for it.
        started = time.monotonic()
        status, _, _ = server.ask("/api/explain", question)
        assert status in (200, 504)
        assert waited < 0.5 * (time.monotonic() - started)


def test_a_model_that_is_not_there_is_a_sentence_and_the_others_answer(models, tmp_path):
    (tmp_path / "empty").mkdir()
    sources = [tmp_path / "empty", models / "damaged", models / "planted", "nosuch/gone"]
    with serving(*sources) as server:
        server.wait_until_open()
        facts = {one["name"]: one for one in server.json("/api/models")}
        assert {name: one["state"] for name, one in facts.items()} == {
            "empty": "failed", "damaged": "failed", "planted": "ready", "gone": "failed",
        }  # fmt: skip
        assert facts["gone"]["source"] == "nosuch/gone"
        assert facts["gone"]["message"].startswith("there is no folder nosuch/gone")
        # As on the command line: no call of Python, and the same words in the terminal.
        assert "'glasshead train DATA --out RUN'" in facts["empty"]["message"]
        assert not any("`" in one["message"] for one in facts.values())
        said = [f"error: {facts[name]['message']}" for name in ("empty", "damaged", "gone")]
        assert server.json("/api/explain", {"model": "planted", "text": "the film was good"})
        status, _, body = server.ask("/api/explain", {"model": "gone", "text": "a"})
        assert status == 503
        assert facts["gone"]["message"] in json.loads(body)["error"]
        ended(server.process, signal.SIGINT, 130, said)


@pytest.mark.parametrize("token", [["--token", "a token & more"], []])
def test_on_another_address_it_asks_for_the_token_that_it_prints(models, token):
    with serving(models / "planted", "--host", "0.0.0.0", *token) as server:
        where = urllib.parse.urlsplit(re.search(r"http://\S+", server.line)[0])
        (printed,) = urllib.parse.parse_qs(where.query)["token"]
        assert [printed] == token[1:] or (not token and len(printed) >= 20)
        assert where.hostname != "0.0.0.0"
        server.address = f"http://{where.netloc}"
        assert server.ask("/")[0] == 401  # it can be reached there
        server.address = f"http://127.0.0.1:{where.port}"
        for path in ("/", "/api/models", "/view/heads?model=planted&text=a", f"/api/models?{where.query}"):
            status, _, body = server.ask(path)
            assert status == 401
            assert b"open the address with the token" in body
        browser = build_opener(HTTPCookieProcessor())
        with browser.open(f"{server.address}/?{where.query}", timeout=60) as page:
            assert b"<title>Glasshead" in page.read()
            assert page.url == f"{server.address}/"
        with browser.open(f"{server.address}/api/models", timeout=60) as answer:
            assert answer.status == 200
        ended(server.process, signal.SIGTERM, 143)
