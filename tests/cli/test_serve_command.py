"""What `glasshead serve` refuses before it serves: one line, exit code 2."""

import socket

import pytest

from typed import glasshead, refusal


@pytest.fixture
def taken():
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        one.listen()
        yield one.getsockname()[1]


def test_a_taken_port(tmp_path, taken):
    said = refusal(tmp_path, "serve", tmp_path / "model", "--port", taken, "--no-browser")
    assert f"{taken}" in said
    assert "--port" in said


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (["--port", "-1"], "--port must be between 0 (any that is free) and 65,535"),
        (["--seconds", "0"], "--seconds must be a number above 0"),
        (["--allow-host", "http://example.org/"], "--allow-host must be a name such as example.org"),
        (["--port", "65536"], "--port must be between"),
        (["--token", "short"], "--token must have at least 8 characters"),
        (["--audits", "gone"], "--audits"),
        (["--host", "no.such.host.invalid"], "cannot listen at no.such.host.invalid"),
    ],
)
def test_options(tmp_path, options, message):
    assert message in refusal(tmp_path, "serve", "model", "--no-browser", *options)


def test_an_empty_folder_of_audits(tmp_path):
    said = refusal(tmp_path, "serve", "model", "--audits", tmp_path, "--no-browser")
    assert "has no audit: 'glasshead audit' writes one" in said


def test_a_model_that_is_named_twice(tmp_path):
    assert "a model is named twice" in refusal(tmp_path, "serve", "a", "./a", "--no-browser")


def test_a_port_that_is_no_number():
    assert "--port" in glasshead("serve", "model", "--port", "many", code=2).stderr


def test_the_token_may_stand_in_the_environment(tmp_path, monkeypatch):
    monkeypatch.setenv("GLASSHEAD_TOKEN", "short")
    assert "--token must have at least 8 characters" in refusal(tmp_path, "serve", "model", "--no-browser")
