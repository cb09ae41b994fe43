"""What every request passes: whose it is, how large it is, and what a browser may do with the answer."""

from __future__ import annotations

import hashlib
import hmac
from collections.abc import Awaitable, Callable, Mapping, MutableMapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import parse_qs

from starlette.datastructures import Headers, MutableHeaders
from starlette.exceptions import HTTPException
from starlette.requests import cookie_parser
from starlette.responses import RedirectResponse, Response

from glasshead.serve.refusals import refusal

Scope = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[MutableMapping[str, Any]]]
Send = Callable[[MutableMapping[str, Any]], Awaitable[None]]
App = Callable[[Scope, Receive, Send], Awaitable[None]]

MOST_BODY_BYTES = 64 * 1024
"""For a request's body."""
MOST_IMAGE_BYTES = 12 * 1024 * 1024
"""For one with an image, whose letters are a third more than its bytes."""
IMAGE_PATHS = ("/api/image",)
COOKIE = "glasshead-token"
OPEN_TO_LINKS = ("/",)
"""What a page elsewhere may link to; nothing is computed there."""
OWN_POLICY = "default-src 'self'; frame-ancestors 'self'; base-uri 'none'; form-action 'self'"
HEADERS = {
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
    "cross-origin-resource-policy": "same-origin",
    "cross-origin-opener-policy": "same-origin",
    "cache-control": "no-store",
    "content-security-policy": OWN_POLICY,
}


@dataclass(frozen=True)
class Guard:
    """Lets requests through that come from the page itself, or from a program on this computer.

    ``hosts`` are the names, with ports, by which the server is called (None: any, where a token protects
    it): a foreign name that leads here (DNS rebinding) is refused, and so is a request that a page elsewhere
    makes. Where a ``token`` is set it must come with every request, as a cookie, as ``Authorization:
    Bearer``, or once in the address of the page.
    """

    app: App
    hosts: frozenset[str] | None
    token: str | None = None

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            await self.app(scope, receive, send)
            return
        if scope["type"] != "http":  # a websocket: there is none
            await send({"type": "websocket.close"})
            return
        refused = self.find_refusal(scope, Headers(scope=scope))
        if refused is not None:
            await refused(scope, receive, with_headers(send))
            return
        limited = LimitedBody(receive, most_bytes(scope))
        await self.app(scope, limited, with_headers(send))

    def find_refusal(self, scope: Scope, headers: Mapping[str, str]) -> Response | None:
        """What is answered instead; None: the request may pass."""

        def problem(status: int, sentence: str) -> Response:
            return refusal(scope["path"], headers.get("accept", ""), status, sentence)

        host, origin = headers.get("host", "").lower(), headers.get("origin", "").lower()
        if self.hosts is not None and host not in self.hosts:
            return problem(421, "this server does not have that name: open the address that it printed")
        if origin and origin.partition("://")[2] != host:
            return problem(403, "requests from other pages are not allowed")
        site = headers.get("sec-fetch-site", "none")
        if site not in ("none", "same-origin") and scope["path"] not in OPEN_TO_LINKS:
            return problem(403, "requests from other pages are not allowed")
        length = headers.get("content-length", "0")
        most = most_bytes(scope)
        if not length.isdecimal() or int(length) > most:
            return problem(413, f"a request has at most {most // 1024:,} kB")
        return None if self.token is None else self.without_token(scope, headers, self.token)

    def without_token(self, scope: Scope, headers: Mapping[str, str], token: str) -> Response | None:
        """What is answered to whoever has no token, and once to who has it in the address."""
        key = hashlib.sha256(token.encode()).hexdigest()  # a cookie holds few letters, a token any
        cookie = f"{COOKIE}-{scope['server'][1]}"  # a browser sends it to all ports of a host
        typed = parse_qs(scope["query_string"].decode("latin-1")).get("token", [""])[0]
        if scope["path"] == "/" and same(typed, token):
            welcome = RedirectResponse("/", status_code=303)
            welcome.set_cookie(cookie, key, httponly=True, samesite="lax")
            return welcome
        bearer = headers.get("authorization", "").removeprefix("Bearer ")
        if same(bearer, token) or same(cookie_parser(headers.get("cookie", "")).get(cookie, ""), key):
            return None
        sentence = "open the address with the token, as the terminal shows it"
        return refusal(scope["path"], headers.get("accept", ""), 401, sentence)


def most_bytes(scope: Scope) -> int:
    """How large the body of a request may be."""
    return MOST_IMAGE_BYTES if scope["path"] in IMAGE_PATHS else MOST_BODY_BYTES


def same(value: str, token: str) -> bool:
    """Whether it is the token, in a time that does not tell how much of it is right."""
    return hmac.compare_digest(value.encode(), token.encode())


class BodyTooLargeError(HTTPException):
    """A body without an announced length went on too long."""

    def __init__(self) -> None:
        super().__init__(413)  # the kind that FastAPI lets through while it reads a body


class LimitedBody:
    """Receives a body as long as it is small enough."""

    def __init__(self, receive: Receive, most: int) -> None:
        self.receive, self.most, self.bytes = receive, most, 0

    async def __call__(self) -> MutableMapping[str, Any]:
        message = await self.receive()
        self.bytes += len(message.get("body", b""))
        if self.bytes > self.most:
            raise BodyTooLargeError
        return message


def with_headers(send: Send) -> Send:
    """Adds to every answer what a browser may do with it."""

    async def send_with_headers(message: MutableMapping[str, Any]) -> None:
        if message["type"] == "http.response.start":
            headers = MutableHeaders(scope=message)
            for name, value in HEADERS.items():
                headers.setdefault(name, value)
        await send(message)

    return send_with_headers
