"""The server: opened by `glasshead serve`, ended by Ctrl-C or SIGTERM."""

from __future__ import annotations

import asyncio
import math
import secrets
import signal
import socket
import threading
import webbrowser
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from types import FrameType
from typing import Any
from urllib.parse import quote

import h11
import uvicorn
from platformdirs import user_cache_path
from uvicorn.protocols.http.h11_impl import H11Protocol

import glasshead
from glasshead.data import load
from glasshead.errors import InputError, ParameterError
from glasshead.escaping import sendable
from glasshead.opening import is_run
from glasshead.serve.app import ANSWER_SECONDS, create_app
from glasshead.serve.audit_shelf import find_audits
from glasshead.serve.catalogue import Catalogue
from glasshead.serve.opened_model import OpenedModel, open_served_model, opener
from glasshead.serve.served_model import ServedModel
from glasshead.spelling import in_python, spell, use_spelling
from glasshead.training import TRAINING_PRESETS, train

LOOPBACK = ("127.0.0.1", "localhost", "::1")
GRACE_SECONDS = 1
LONGEST_HEAD = 256 * 1024
"""Bytes of an address with its headers: a text of 10,000 letters takes up to twelve bytes a letter there."""


@dataclass(frozen=True)
class ServeRequest:
    """What is served, and where.

    ``models`` are folders or Hub ids (none: those of the demo), ``audits`` a folder with audits.
    A ``host`` other than this computer, and names from elsewhere (``allow_hosts``, as behind a proxy), need
    a ``token``; a random one is made if you give none. Port 0 picks any free port. An answer may take at
    most ``seconds`` seconds.

    Raises:
        InputError: on an invalid port, on a model named twice, and as `find_audits`.
    """

    models: Sequence[str] = ()
    audits: Path | None = None
    host: str = LOOPBACK[0]
    port: int = 8765
    token: str | None = None
    seconds: float = ANSWER_SECONDS
    allow_hosts: Sequence[str] = ()

    def __post_init__(self) -> None:
        if not 0 <= self.port < 65536:
            raise ParameterError("port", f"must be between 0 (any that is free) and 65,535, not {self.port}")
        if not 0 < self.seconds < math.inf:
            raise ParameterError("seconds", f"must be a number above 0, not {self.seconds}")
        for name in self.allow_hosts:
            if not name or set(name) & set("/ @?#"):
                raise ParameterError("allow_host", f"must be a name such as example.org, not {name!r}")
        if self.token is not None and len(self.token) < 8:
            raise ParameterError("token", "must have at least 8 characters")

    @property
    def key(self) -> str | None:
        """The token that requests must carry; None if only this computer is served."""
        if self.token is not None or (self.host in LOOPBACK and not self.allow_hosts):
            return self.token
        return secrets.token_urlsafe(16)

    @property
    def hosts(self) -> frozenset[str] | None:
        """The host names of the server; any name is allowed on another address, where a token protects it."""
        if self.host not in LOOPBACK:
            return None
        names = {"127.0.0.1", "localhost", "[::1]"}
        own = frozenset(f"{name}:{self.port}" for name in names) | (names if self.port == 80 else set())
        foreign = {name.lower() for name in self.allow_hosts}
        return own | foreign | {f"{name}:{self.port}" for name in foreign}


def open_catalogue(request: ServeRequest, on_failure: Callable[[str], str] = str) -> Catalogue:
    """The catalogue of a request; models are opened when the server starts. ``on_failure`` is called with
    the reason why one cannot be opened, and returns the message on the page.

    Raises:
        InputError: if a folder that should hold audits has none.
    """
    audits = {} if request.audits is None else find_audits(request.audits)
    if not request.models:
        models = {
            name: ServedModel(name, open_it, DEMO_REMARK, source=name, on_failure=on_failure)
            for name, open_it in demo_openers().items()
        }
        return Catalogue(models, audits)
    names = served_names(request.models)
    return Catalogue(
        {
            name: ServedModel(name, opener(source), source=source, on_failure=on_failure)
            for name, source in names.items()
        },
        audits,
    )


def served_names(sources: Sequence[str]) -> dict[str, str]:
    """The last part of each folder or id, with as much before it as tells it from the others.

    Raises:
        InputError: if a model is named twice.
    """
    paths = {source: (Path(source).parts or Path.cwd().parts) for source in sources}  # "." has no parts
    if len({Path(source) for source in sources}) < len(sources):
        raise InputError("a model is named twice: name each only once")
    names = {}
    for source, parts in paths.items():
        size = 1
        while size < len(parts) and any(
            other[-size:] == parts[-size:] for name, other in paths.items() if name != source
        ):
            size += 1
        names[sendable("/".join(parts[-size:]))] = source
    return names


class Server(uvicorn.Server):
    """A server that leaves signals to those who called it, says when it answers, and when it ends: before it
    waits for its clients, which wait for models."""

    def __init__(
        self,
        config: uvicorn.Config,
        on_start: Callable[[], None],
        on_end: Callable[[], None],
        on_signal: Callable[[int], None],
    ) -> None:
        super().__init__(config)
        self.on_start, self.on_end, self.on_signal = on_start, on_end, on_signal

    async def startup(self, sockets: Any = None) -> None:
        await super().startup(sockets)
        if self.started:
            self.on_start()

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        self.on_signal(sig)
        super().handle_exit(sig, frame)

    async def shutdown(self, sockets: Any = None) -> None:
        self.on_end()
        await super().shutdown(sockets)


def serve(
    request: ServeRequest,
    *,
    browser: bool = True,
    on_start: Callable[[str], None] = lambda address: None,
    on_failure: Callable[[str], str] = str,
    on_signal: Callable[[int], None] = lambda number: None,
) -> None:
    """Serve until Ctrl-C or SIGTERM. ``on_start`` gets the address, which a ``browser`` opens;
    ``on_failure`` gets the reason why a model cannot be opened, and returns the message on the page.
    ``on_signal`` gets the number of a signal at once, while the server waits for running work.

    Raises:
        InputError: as `open_catalogue`, and if the port is taken.
    """
    request = replace(request, port=check_port(request))
    catalogue, token = open_catalogue(request, on_failure), request.key
    app = create_app(catalogue, hosts=request.hosts, token=token, seconds=request.seconds)

    def address(host: str) -> str:
        shown = f"[{host}]" if ":" in host else host
        return f"http://{shown}:{request.port}/" + (f"?token={quote(token)}" if token is not None else "")

    def announce_start() -> None:
        on_start(address(own_address(request.host)))
        if browser:
            url = address({"0.0.0.0": "127.0.0.1", "::": "::1"}.get(request.host, request.host))
            threading.Thread(target=webbrowser.open, args=(url,), daemon=True).start()

    config = uvicorn.Config(
        app,
        host=request.host,
        port=request.port,
        log_level="error",
        timeout_graceful_shutdown=GRACE_SECONDS,
        h11_max_incomplete_event_size=LONGEST_HEAD,
        http=PatientProtocol,
        ws="none",
        server_header=False,
    )
    before = {number: signal.getsignal(number) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        with use_spelling(in_python):  # its clients do not type
            Server(config, announce_start, catalogue.stop, on_signal).run()
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def own_address(host: str) -> str:
    """An address that other computers can open; of "0.0.0.0" and "::", which stand for all that this one has,
    the one towards the network, else its name."""
    elsewhere = {"0.0.0.0": (socket.AF_INET, "192.0.2.1"), "::": (socket.AF_INET6, "2001:db8::1")}
    if host not in elsewhere:
        return host
    family, nobody = elsewhere[host]  # addresses for documentation, of no computer
    try:
        with socket.socket(family, socket.SOCK_DGRAM) as one:
            one.connect((nobody, 9))  # chooses the way there, and sends nothing
            return str(one.getsockname()[0])
    except OSError:
        return socket.gethostname()


def check_port(request: ServeRequest) -> int:
    """The port, or for 0 one that is free.

    Raises:
        InputError: if the address cannot be had.
    """
    try:
        family = socket.getaddrinfo(request.host, request.port, type=socket.SOCK_STREAM)[0][0]
        with socket.socket(family, socket.SOCK_STREAM) as one:
            one.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            one.bind((request.host, request.port))
            return int(one.getsockname()[1])
    except OSError as error:
        raise InputError(
            f"cannot listen at {request.host}, {spell('port')} {request.port}: {error.strerror or error}"
        ) from None
    except UnicodeError:  # of the encoding of internet names
        raise ParameterError("host", "is not an internet address") from None


DATA = "synthetic"
DEMO_MODELS = ("softmax", "tanhmax")
SENTENCE = "the film was very funny and lovely but the story was dull"
"""Its own texts are made up of words in no order: this one, of words that it knows, is offered first."""
DEMO_REMARK = "it is trained once on made-up reviews, which takes half a minute"


def demo_openers(cache: Path | None = None) -> dict[str, Callable[[], OpenedModel]]:
    """What opens each model of the demo, by its name; ``cache`` is where they are kept."""
    folder = cache or user_cache_path("glasshead") / "demo" / glasshead.__version__
    return {f"demo-{name}": opener_of(name, folder / name) for name in DEMO_MODELS}


def opener_of(activation: str, folder: Path) -> Callable[[], OpenedModel]:
    """Opens a model of the demo, which is trained before if it is not there."""

    def open_demo() -> OpenedModel:
        if not folder.is_dir():
            train_demo(activation, folder)
        opened = open_served_model(str(folder))
        return replace(opened, examples=(SENTENCE, *opened.examples))

    return open_demo


def train_demo(activation: str, folder: Path) -> None:
    """Train a model of the demo; what was begun goes on.

    Raises:
        InputError: if another process is at it.
    """
    folder.parent.mkdir(parents=True, exist_ok=True)
    config = TRAINING_PRESETS["s0-paper"].with_changes(attention=activation)
    source = {"source": DATA, "options": {}}
    train(load(DATA), config, folder, source=source, resume=is_run(folder))


REQUEST_SECONDS = 60.0
"""Within which a request must be there as a whole, from its first byte or the opening of its connection: an
image over a slow network takes as long."""


class PatientProtocol(H11Protocol):
    """HTTP as uvicorn speaks it, with a time limit for what is received."""

    seconds = REQUEST_SECONDS
    _limit: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self.await_request()

    def data_received(self, data: bytes) -> None:
        super().data_received(data)
        self.await_request()

    def connection_lost(self, exc: Exception | None) -> None:
        super().connection_lost(exc)
        self.stop_waiting()

    def await_request(self) -> None:
        """Start the clock where a request is not there as a whole, and stop it where it is."""
        if self.conn.their_state not in (h11.IDLE, h11.SEND_BODY):
            self.stop_waiting()
        elif self._limit is None:
            self._limit = self.loop.call_later(self.seconds, self.transport.close)

    def stop_waiting(self) -> None:
        """Stop the clock."""
        if self._limit is not None:
            self._limit.cancel()
        self._limit = None
