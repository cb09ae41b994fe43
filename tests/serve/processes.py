"""`glasshead serve` in a process of its own, as a person starts it."""

import json
import os
import re
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from urllib.error import HTTPError
from urllib.request import Request, urlopen

PROGRAM = "from glasshead.cli import main; main()"
STARTS = 120
"""Seconds until a server answers, on a busy machine."""


def free_port() -> int:
    """A port that nobody has."""
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return int(one.getsockname()[1])


@dataclass
class Served:
    """A process that serves, where, and the line that says so."""

    process: subprocess.Popen[str]
    address: str
    line: str

    def ask(self, path: str, question: object = None, timeout: float = 120) -> tuple[int, dict, bytes]:
        """Status, headers and body of an answer."""
        body = None if question is None else json.dumps(question).encode()
        asked = Request(self.address + path, body, {"Content-Type": "application/json"})
        try:
            with urlopen(asked, timeout=timeout) as answer:
                return answer.status, dict(answer.headers), answer.read()
        except HTTPError as refused:
            with refused:
                return refused.code, dict(refused.headers), refused.read()

    def json(self, path: str, question: object = None) -> object:
        """What is answered, which is to go well."""
        status, _, body = self.ask(path, question)
        assert status == 200, body
        return json.loads(body)

    def states(self) -> dict[str, str]:
        """How each model stands."""
        return {one["name"]: one["state"] for one in self.json("/api/models")}

    def wait_until_open(self) -> None:
        """Until no model is loading."""
        end = time.monotonic() + STARTS
        while "loading" in self.states().values():
            assert time.monotonic() < end
            time.sleep(0.1)


@contextmanager
def serving(
    *arguments: object, env: dict[str, str] | None = None, program: str = PROGRAM
) -> Iterator[Served]:
    """A server that answers; at the end it is killed, if it lives."""
    words = ["serve", *map(str, arguments), "--no-browser", "--port", str(free_port())]
    process = subprocess.Popen(
        [sys.executable, "-c", program, *words],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=os.environ | {"COLUMNS": "200"},
    )  # fmt: skip
    try:
        giving_up = threading.Timer(STARTS, process.kill)
        giving_up.start()
        assert process.stdout is not None
        line = process.stdout.readline()
        giving_up.cancel()
        found = re.search(r"http://\S+?(?=/)", line)
        assert found, (line, process.communicate(timeout=STARTS))
        yield Served(process, found[0], line)
    finally:
        if process.poll() is None:
            process.kill()
        process.communicate(timeout=STARTS)
