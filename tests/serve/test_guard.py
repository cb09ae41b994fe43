"""Requests from elsewhere, without a token, or too large are refused; answers say what a browser may do."""

import base64
import hashlib
import re

import pytest
from starlette.testclient import TestClient
from starlette.websockets import WebSocketDisconnect

from glasshead.report import page_part
from glasshead.serve.guard import COOKIE, MOST_BODY_BYTES, Guard
from glasshead.serve.refusals import policy_of
from pages import Page

HOSTS = frozenset({"127.0.0.1:8765", "localhost:8765", "[::1]:8765"})
TOKEN = "a-token-of-many-letters"


async def echo(scope, receive, send):
    """Reads all of the body and answers with its size."""
    size, more = 0, True
    while more:
        message = await receive()
        size, more = size + len(message.get("body", b"")), message.get("more_body", False)
    await send({"type": "http.response.start", "status": 200, "headers": []})
    await send({"type": "http.response.body", "body": str(size).encode()})


def client(token=None):
    return TestClient(Guard(echo, HOSTS, token), base_url="http://127.0.0.1:8765", follow_redirects=False)


def sentence(answer):
    body = answer.json()
    assert list(body) == ["error"]
    return body["error"]


@pytest.mark.parametrize("host", ["127.0.0.1:8765", "localhost:8765", "LOCALHOST:8765", "[::1]:8765"])
def test_its_own_names_are_answered(host):
    assert client().get("/api/models", headers={"host": host}).status_code == 200


@pytest.mark.parametrize(
    "host",
    [
        "evil.example:8765", "evil.example", "127.0.0.1", "127.0.0.1:80", "127.0.0.1:8765.evil.example",
        "localhost.evil.example:8765", "", "127.0.0.1:8765@evil.example",
    ],
)  # fmt: skip
def test_a_foreign_name_that_leads_here_is_refused(host):
    answer = client().get("/", headers={"host": host})
    assert answer.status_code == 421
    assert "does not have that name" in sentence(answer)


@pytest.mark.parametrize(
    ("origin", "status"),
    [
        ("http://127.0.0.1:8765", 200), ("http://localhost:8765", 403), ("null", 403),
        ("http://evil.example", 403), ("http://127.0.0.1:9999", 403), ("http://evil.example:8765", 403),
        ("http://127.0.0.1:8765.evil.example", 403),
    ],
)  # fmt: skip
@pytest.mark.parametrize("method", ["GET", "POST"])
def test_a_page_elsewhere_may_not_ask(method, origin, status):
    answer = client().request(method, "/api/explain", headers={"origin": origin})
    assert answer.status_code == status


@pytest.mark.parametrize("site", ["cross-site", "same-site"])
def test_a_page_elsewhere_may_link_to_the_page_and_to_nothing_else(site):
    headers = {"sec-fetch-site": site}
    assert client().get("/", headers=headers).status_code == 200
    for path in ("/api/models", "/view/heads", "/page/main.js", "/save/explanation.html"):
        assert client().get(path, headers=headers).status_code == 403, path
        assert client().get(path, headers={"sec-fetch-site": "same-origin"}).status_code == 200


def test_a_body_may_be_64_kB():
    assert client().post("/", content=b"x" * MOST_BODY_BYTES).text == str(MOST_BODY_BYTES)
    answer = client().post("/", content=b"x" * (MOST_BODY_BYTES + 1))
    assert answer.status_code == 413
    assert "64 kB" in sentence(answer)


@pytest.mark.parametrize("length", ["-1", "1e3", "a", "9" * 40])
def test_a_length_that_is_none_is_refused(length):
    assert client().post("/", headers={"content-length": length}).status_code == 413


class TestToken:
    def test_without_one_nothing_is_told(self):
        for path in ("/", "/api/models", "/view/heads", "/page/main.js"):
            answer = client(TOKEN).get(path)
            assert answer.status_code == 401
            assert "open the address with the token" in answer.text
            assert "models" not in answer.text

    def test_a_browser_without_one_is_shown_a_sentence(self):
        answer = client(TOKEN).get("/", headers={"accept": "text/html,application/xhtml+xml,*/*;q=0.8"})
        assert answer.status_code == 401
        assert answer.headers["content-type"].startswith("text/html")
        assert answer.headers["content-security-policy"].startswith("default-src 'none'; script-src 'none'")
        (alert,) = [one for one in Page(answer.text).elements if one.attributes.get("role") == "alert"]
        assert alert.text == "open the address with the token, as the terminal shows it"

    @pytest.mark.parametrize("given", ["", "b", TOKEN[:-1], TOKEN + "x", TOKEN.upper(), "ä\u2028", "%00"])
    def test_a_wrong_one_is_none(self, given):
        asks = client(TOKEN)
        assert asks.get("/", params={"token": given}).status_code == 401
        assert asks.get("/", headers={"authorization": b"Bearer " + given.encode()}).status_code == 401
        assert asks.get("/", headers={"cookie": f"{COOKIE}-8765={given}".encode()}).status_code == 401

    def test_a_program_brings_it_along(self):
        headers = {"authorization": f"Bearer {TOKEN}"}
        assert client(TOKEN).get("/api/models", headers=headers).status_code == 200

    def test_in_the_address_of_the_page_it_becomes_a_cookie_that_scripts_cannot_read(self):
        asks = client(TOKEN)
        welcome = asks.get("/", params={"token": TOKEN})
        assert welcome.status_code == 303
        assert welcome.headers["location"] == "/"  # the token stays in no history
        cookie = welcome.headers["set-cookie"]
        assert "HttpOnly" in cookie
        assert "samesite=lax" in cookie.lower()  # a link in a chat opens for those who are in
        assert asks.get("/api/models").status_code == 200
        assert TestClient(asks.app, base_url="http://localhost:8765").get("/api/models").status_code == 401

    @pytest.mark.parametrize(
        "token", ["two words, and; more=", 'a "quoted" one', "schlüssel-für-alle", "a&b#c%20d"]
    )
    def test_it_may_have_any_letters(self, token):
        asks = client(token)
        assert asks.get("/", params={"token": token}).status_code == 303
        assert asks.get("/api/models").status_code == 200

    def test_in_another_address_it_opens_nothing(self):
        assert client(TOKEN).get("/api/models", params={"token": TOKEN}).status_code == 401

    @pytest.mark.parametrize("before", ["a@b=1; ", "a(b)=1; ", "{}=1; ", 'x="; ', "=; ", ";;; "])
    def test_cookies_of_other_servers_on_this_computer_do_not_hurt(self, before):
        asks = client(TOKEN)
        welcome = asks.get("/", params={"token": TOKEN}).headers["set-cookie"].partition(";")[0]
        asks.cookies.clear()
        answer = asks.get("/", headers={"cookie": f"{before}{COOKIE}-8766=x; {welcome}"})
        assert answer.status_code == 200
        assert client(TOKEN).get("/", headers={"cookie": before}).status_code == 401
        assert welcome.startswith(f"{COOKIE}-8765=")  # another port of this computer has one of its own


def test_every_answer_says_what_a_browser_may_do():
    for answer in (client().get("/"), client(TOKEN).get("/"), client().get("/", headers={"host": "evil"})):
        policy = answer.headers["content-security-policy"]
        assert policy.startswith("default-src 'self';")
        assert "unsafe" not in policy
        assert "frame-ancestors 'self'" in policy
        assert answer.headers["x-content-type-options"] == "nosniff"
        assert answer.headers["referrer-policy"] == "no-referrer"
        assert answer.headers["cross-origin-resource-policy"] == "same-origin"
        assert answer.headers["cache-control"] == "no-store"


def test_a_page_with_a_policy_of_its_own_keeps_it():
    async def own(scope, receive, send):
        headers = [(b"content-security-policy", b"default-src 'none'")]
        await send({"type": "http.response.start", "status": 200, "headers": headers})
        await send({"type": "http.response.body"})

    answer = TestClient(Guard(own, HOSTS), base_url="http://127.0.0.1:8765").get("/")
    assert answer.headers.get_list("content-security-policy") == ["default-src 'none'"]


def test_a_websocket_is_not_answered():
    with pytest.raises(WebSocketDisconnect), client().websocket_connect("/"):
        pass


def test_the_policy_of_a_report_allows_its_own_scripts_and_no_other():
    own = f"\n{page_part('keys.js')}let a = 'é';\n"
    page = f"<p>x</p><script>{own}</script></body>"
    policy = policy_of(page)
    digest = base64.b64encode(hashlib.sha256(own.encode()).digest()).decode()
    assert re.search(r"script-src ([^;]*);", policy)[1] == f"'sha256-{digest}'"
    assert policy_of(page.replace("let a", "let b")) != policy
    for injected in ("<script>b()</script>", f"<script>{own}b()</script>", "<script>"):
        assert policy_of(injected + page) == policy
    assert "script-src 'none'" in policy_of("<p>no script</p>")
    assert "script-src 'none'" in policy_of("<script>b()</script>")
    assert "default-src 'none'" in policy
