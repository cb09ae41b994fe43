"""Labels, texts and names of files that would steer a terminal go through every command, and nothing does."""

import shutil
from io import StringIO
from types import SimpleNamespace

import pytest
from rich.text import Text

from glasshead.cli.console import SafeConsole, errors, print_error, print_line
from glasshead.cli.training_bar import ProgressBar
from glasshead.escaping import visible
from typed import glasshead

HOSTILE = "\x1b[31m\x1b]0;x\x07\x9b2J\u202e\u2066\u200b\u200f\ufeff"


def shown(*arguments, code=0):
    """What a command writes, in which nothing steers."""
    result = glasshead(*arguments, code=code)
    for output in (result.stdout, result.stderr):
        assert visible(output) == output
    return result


@pytest.fixture(scope="module")
def made(tmp_path_factory):
    """Data, a run and an audit with names that steer."""
    folder = tmp_path_factory.mktemp("hostile")
    data, run, audit = (folder / name for name in (f"data{HOSTILE}.csv", f"run{HOSTILE}", f"audit{HOSTILE}"))
    rows = [
        f"a {adjective}{HOSTILE} film {HOSTILE} number {number},{label}{HOSTILE}"
        for number in range(20)
        for adjective, label in (("funny", "good"), ("dreary", "bad"))
    ]
    data.write_text("\n".join(["text,label", *rows]) + "\n", encoding="utf-8")
    shown("train", data, "--epochs", 2, "--out", run)
    shown("audit", run, data, "--split", "train", "--audits", "performance,agreement", "--out", audit)
    return SimpleNamespace(data=data, run=run, audit=audit, folder=folder)


def test_explain(made):
    text = f"a funny{HOSTILE} film"
    said = shown("explain", made.run, text).stdout
    assert "good␛[31m" in said
    for kind in ("json", "html"):
        shown("explain", made.run, text, "--format", kind)


def test_compare(made, tmp_path):
    for what, arguments in (("run", ("--split", "dev")), ("audit", ())):
        folders = getattr(made, what), shutil.copytree(getattr(made, what), tmp_path / f"b{HOSTILE}{what}")
        said = shown("compare", *folders, *arguments, "--out", tmp_path / f"{what}{HOSTILE}.html").stdout
        assert f"{what}␛[31m" in said


@pytest.mark.parametrize(
    "arguments",
    [
        ("list", HOSTILE), (HOSTILE,), ("train", HOSTILE, "--out", HOSTILE), ("explain", HOSTILE, HOSTILE),
        ("train", "synthetic", f"--{HOSTILE}"), ("train", "synthetic", "--out", "a", "--epochs", HOSTILE),
        ("train", "synthetic", "--out", "a", "--attention", HOSTILE), ("doctor", HOSTILE),
        ("train", "synthetic", "--out", "a", "--set", HOSTILE), ("plot", HOSTILE), ("dynamics", HOSTILE),
        ("audit", HOSTILE, "synthetic", "--out", "a"), ("compare", HOSTILE, HOSTILE),
        ("recommend", "evaluate", HOSTILE, HOSTILE),
        ("recommend", "audit", HOSTILE, HOSTILE, "--out", "a"),
        ("recommend", "explain", HOSTILE, HOSTILE),
        ("recommend", "rank", HOSTILE, HOSTILE, "--out", "prediction.txt"),
    ],
)  # fmt: skip
def test_what_is_refused(arguments, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert shown(*arguments, code=2).stderr.count("\n") == 1


def test_of_the_run(made, tmp_path):
    arguments = "audit", made.run, made.data, "--out", tmp_path / "a"
    assert "␛[31m" in shown(*arguments, "--split", HOSTILE, code=2).stderr
    assert r"\x1b[31m" in shown("explain", made.run, "film", "--target", HOSTILE, code=2).stderr
    assert "␛[31m" in shown("train", made.data, "--out", made.run, code=2).stderr


def test_a_terminal_keeps_the_styles_that_are_ours():
    stream = StringIO()
    terminal = SafeConsole(file=stream, force_terminal=True, color_system="standard")
    terminal.print(Text("a\x1b[2J\u202e", style="red"))
    assert stream.getvalue() == "\x1b[31ma␛[2J\ufffd\x1b[0m\n"


def test_one_line(capsys):
    print_line(f"a\n{HOSTILE}")
    print_error(f"a\n{HOSTILE}")
    captured = capsys.readouterr()
    assert captured.out == f"a↵{visible(HOSTILE)}\n"
    assert captured.err == f"error: a↵{visible(HOSTILE)}\n"


def test_a_progress_bar_shows_names_as_they_are(monkeypatch):
    """Names like that of a style, too, which would be taken for one."""
    bar = ProgressBar(f"[/]{HOSTILE}")
    bar.on_train_begin(None, SimpleNamespace(max_steps=2, global_step=0), None)
    bar.stop()
    with errors.capture() as captured:
        errors.print(bar.bar.get_renderable())
    assert "[/]␛[31m" in captured.get()
