"""Whoever does not say in time what they want is not waited for; whoever waits for an answer is."""

import asyncio
import socket
import threading
import time

import pytest
import uvicorn
from processes import free_port

from glasshead.serve.server import PatientProtocol

SECONDS = 30
HEAD = b"GET / HTTP/1.1\r\nHost: a\r\n"


class Hasty(PatientProtocol):
    seconds = 0.3


async def slow(scope, receive, send):
    """Answers after longer than a request may take to come in."""
    if scope["type"] != "http":
        return
    while (await receive()).get("more_body"):
        pass
    await asyncio.sleep(0.6)
    await send({"type": "http.response.start", "status": 200, "headers": [(b"content-length", b"2")]})
    await send({"type": "http.response.body", "body": b"ok"})


@pytest.fixture(scope="module")
def port():
    config = uvicorn.Config(
        slow, port=free_port(), http=Hasty, log_level="critical", lifespan="off", ws="none"
    )
    server = uvicorn.Server(config)
    thread = threading.Thread(target=server.run)
    thread.start()
    end = time.monotonic() + SECONDS
    while not server.started:
        assert time.monotonic() < end
        time.sleep(0.01)
    yield config.port
    server.should_exit = True
    thread.join(SECONDS)
    assert not thread.is_alive()


def heard(connection):
    """All that is answered until the connection is closed, or enough."""
    said = b""
    while not said.endswith(b"ok") and (part := connection.recv(1000)):
        said += part
    return said


@pytest.mark.parametrize("begin", [b"", HEAD, b"POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 9\r\n\r\nabc"])
def test_half_a_request_is_not_waited_for(port, begin):
    with socket.create_connection(("127.0.0.1", port), timeout=SECONDS) as connection:
        connection.sendall(begin)
        assert b"ok" not in heard(connection)


def test_letters_one_by_one_do_not_prolong_it(port):
    with socket.create_connection(("127.0.0.1", port), timeout=SECONDS) as connection:
        started = time.monotonic()
        connection.settimeout(0.05)
        said = None
        while said is None and time.monotonic() < started + SECONDS:
            try:
                connection.sendall(b"G")
                said = connection.recv(100)
            except TimeoutError:
                continue
            except OSError:  # it was closed while a letter was on its way
                said = b""
        assert said == b""


def test_an_answer_may_take_longer_and_another_request_may_follow(port):
    with socket.create_connection(("127.0.0.1", port), timeout=SECONDS) as connection:
        for _ in range(2):
            connection.sendall(HEAD)
            time.sleep(0.1)
            connection.sendall(b"\r\n")
            assert heard(connection).startswith(b"HTTP/1.1 200")
        connection.sendall(HEAD)
        assert b"ok" not in heard(connection)
