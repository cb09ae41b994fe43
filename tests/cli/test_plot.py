"""``glasshead plot``: a whole picture of the kind its name asks for, or one clear line."""

import pytest

from glasshead import attention
from typed import glasshead, refusal

STARTS = {"png": b"\x89PNG", "svg": b"<?xml", "pdf": b"%PDF"}


@pytest.mark.parametrize("kind", list(STARTS))
def test_draws_each_kind_and_nothing_else(tmp_path, kind):
    out = tmp_path / "new" / f"distances.{kind}"
    said = glasshead("plot", "distance-aware", "--out", out).stdout
    assert str(out) in said.replace("\n", "")
    assert out.read_bytes().startswith(STARTS[kind])
    assert [path.name for path in out.parent.iterdir()] == [out.name]


@pytest.mark.slow
def test_the_same_command_gives_the_same_file(tmp_path):
    out = tmp_path / "distances.svg"
    glasshead("plot", "distance-aware", "--out", out)
    first = out.read_bytes()
    out.write_bytes(b"older")
    glasshead("plot", "distance-aware", "--out", out, "--overwrite")
    assert out.read_bytes() == first


@pytest.mark.slow
def test_options_reach_the_plot(tmp_path, monkeypatch):
    asked = []
    compute = attention.distance_coefficients
    monkeypatch.setattr(
        attention, "distance_coefficients", lambda *given: asked.append(given) or compute(*given)
    )
    out = tmp_path / "a.PNG"
    glasshead("plot", "distance-aware", "--out", out)
    options = ["--curves", "0,-.5", "--w", "-0.3,0.05,0", "--v", "-3,-3", "--tokens", "5", "--overwrite"]
    glasshead("plot", "distance-aware", "--out", out, *options)
    assert asked == [([-2, -1, 0, 1, 2], [1, -1], [-1, 1], 12), ([0, -0.5], [-0.3, 0.05, 0], [-3], 5)]
    assert out.read_bytes().startswith(b"\x89PNG")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["distance", "--out", "a.png"], "did you mean 'distance-aware'"),
        (["distance-aware", "--out", "a.jpg"], "must end in .png, .svg or .pdf"),
        (["distance-aware", "--out", "a"], "must end in .png, .svg or .pdf"),
        (["distance-aware", "--out", "a.png", "--w", "1,x"], "--w takes 1 to 4 numbers"),
        (["distance-aware", "--out", "a.png", "--v", "nan"], "--v takes 1 to 4 numbers"),
        (["distance-aware", "--out", "a.png", "--v", "1,2,3,4,5"], "--v takes 1 to 4 numbers"),
        (["distance-aware", "--out", "a.png", "--curves", ""], "--curves takes 1 to 9 numbers"),
        (["distance-aware", "--out", "a.png", "--curves", "50"], "v must be between −20 and 20, not 50"),
    ],
)
def test_bad_input_is_refused(tmp_path, monkeypatch, arguments, message):
    monkeypatch.chdir(tmp_path)
    assert message in refusal(tmp_path, "plot", *arguments)


def test_an_existing_file_stays(tmp_path):
    out = tmp_path / "a.png"
    out.write_bytes(b"mine")
    assert "pass --overwrite" in refusal(tmp_path, "plot", "distance-aware", "--out", out)
