"""Names of what is served are short, tell models apart, and are never empty."""

import socket
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from glasshead.errors import InputError
from glasshead.serve.server import ServeRequest, check_port, own_address, served_names

PATHS = st.lists(st.sampled_from("abc"), min_size=1, max_size=4).map("/".join)


@given(sources=st.lists(PATHS, min_size=1, max_size=6, unique=True))
def test_each_has_its_own_name_which_ends_its_path(sources):
    names = served_names(sources)
    assert list(names.values()) == sources
    for name, source in names.items():
        assert source == name or source.endswith(f"/{name}")
        shorter = name.partition("/")[2]
        others = [other for other in sources if other != source]
        assert not shorter or any(other == shorter or other.endswith(f"/{shorter}") for other in others)


@pytest.mark.parametrize("twice", [("a", "a"), ("a", "a/"), ("a/b", "./a/b")])
def test_a_model_is_named_once(twice):
    with pytest.raises(InputError, match="named twice"):
        served_names(twice)


def test_the_folder_where_one_stands_has_a_name(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert served_names(["."]) == {tmp_path.name: "."}


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"port": 65536}, "port"), ({"port": -1}, "port"),
        ({"token": "short"}, "at least 8"), ({"token": ""}, "at least 8"),
        ({"seconds": 0}, "seconds"), ({"seconds": float("nan")}, "seconds"),
        ({"allow_hosts": ("http://a.b/",)}, "such as example.org"), ({"allow_hosts": ("",)}, "such as"),
    ],
)  # fmt: skip
def test_refusals(changes, message):
    with pytest.raises(InputError, match=message):
        ServeRequest(**changes)


def test_another_address_needs_a_token_which_is_drawn():
    here, there = ServeRequest(), ServeRequest(host="0.0.0.0")
    assert here.key is None
    assert len(there.key) >= 20
    assert ServeRequest(host="0.0.0.0").key != there.key
    assert ServeRequest(host="0.0.0.0", token="my own token").key == "my own token"
    assert ServeRequest(token="my own token").key == "my own token"
    assert "127.0.0.1:8765" in here.hosts
    assert all(name.endswith(":8765") for name in here.hosts)


def test_another_name_is_answered_to_and_needs_a_token():
    request = ServeRequest(allow_hosts=("Glasshead.Example.org",))
    assert {"glasshead.example.org", "glasshead.example.org:8765", "127.0.0.1:8765"} <= request.hosts
    assert len(request.key) >= 20
    assert ServeRequest(allow_hosts=("a.org",), token="my own token").key == "my own token"


def test_port_0_is_one_that_is_free():
    port = check_port(ServeRequest(port=0))
    assert port > 0
    assert check_port(ServeRequest(port=port)) == port


def test_an_address_that_is_shown_can_be_opened():
    for host in ("127.0.0.1", "::1", "192.168.0.2", "my-computer"):
        assert own_address(host) == host
    for host in ("0.0.0.0", "::"):
        shown = own_address(host)
        assert shown not in ("0.0.0.0", "::", "")
        family = socket.AF_INET6 if ":" in shown else socket.AF_INET
        with socket.socket(family, socket.SOCK_STREAM) as one:
            one.bind((shown, 0))  # it is an address of this computer


def test_a_model_that_is_not_there_is_not_opened_before_the_server_starts(tmp_path):
    assert list(served_names([str(tmp_path / "gone")])) == ["gone"]
    assert Path(served_names([str(tmp_path / "gone")])["gone"]) == tmp_path / "gone"
