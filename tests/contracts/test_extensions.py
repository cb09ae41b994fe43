"""Packages add to Glasshead by entry points: what is there is attached once, what is broken is left out."""

import shlex
import shutil
import subprocess
import sys
from importlib.metadata import EntryPoint
from pathlib import Path

import pytest

import glasshead.extensions as extensions
from fake_models import write_model
from glasshead.registry import Registry
from glasshead.results import AuditCard

EXAMPLE = Path(__file__).parents[2] / "docs" / "examples" / "extension"


@pytest.fixture
def installed(monkeypatch):
    """Say which entry points are installed; nothing has been attached yet."""

    def install(*pairs):
        entries = [EntryPoint(kind, module, extensions.ENTRY_POINTS) for kind, module in pairs]
        monkeypatch.setattr(extensions, "entry_points", lambda group: entries)
        monkeypatch.setattr(extensions, "_attached", set())
        extensions.extensions.cache_clear()

    yield install
    extensions.extensions.cache_clear()


@pytest.fixture
def module(tmp_path, monkeypatch):
    """Write a module that can be imported in this test."""
    monkeypatch.syspath_prepend(tmp_path)

    def write(name, source):
        (tmp_path / f"{name}.py").write_text(source)
        return name

    yield write
    for path in tmp_path.glob("*.py"):
        sys.modules.pop(path.stem, None)


def test_a_registry_attaches_what_is_missing_once_and_when_looked_through(installed, module, monkeypatch):
    registry = Registry("plot", "plots")
    registry.register("ours")("ours")
    monkeypatch.setattr(extensions, "registry_of_test", registry, raising=False)
    name = module(
        "adds_a_plot",
        "from glasshead import extensions\nextensions.registry_of_test.register('theirs')('theirs')\n",
    )
    installed(("plots", name))
    assert registry["ours"] == "ours"
    assert name not in sys.modules  # what is known needs no other package
    assert "theirs" in registry
    assert list(registry) == ["ours", "theirs"]
    assert registry["theirs"] == "theirs"


def test_kinds_are_attached_apart(installed, module):
    names = [module(f"adds_{kind}", "") for kind in ("audits", "plots")]
    installed(("audits", names[0]), ("plots", names[1]))
    extensions.attach_extensions("plots")
    assert [name in sys.modules for name in names] == [False, True]


@pytest.mark.parametrize(
    ("source", "reason"),
    [
        ("raise RuntimeError('no\\nluck')", "RuntimeError: no luck"),
        ("import not_there", "not_there"),
        ("import broken", "broken"),  # the name of another module begins as its own
    ],
)
def test_what_is_broken_is_left_out_with_a_warning(installed, module, source, reason):
    broken, whole = module("broken_extension", source), module("whole_extension", "")
    installed(("plots", broken), ("plots", whole))
    with pytest.warns(UserWarning, match=f"broken_extension .* is left out: .*{reason}"):
        extensions.attach_extensions("plots")
    assert whole in sys.modules


def test_a_package_that_is_gone_says_nothing(installed):
    installed(("plots", "gone_package.plots"), ("audits", "glasshead.gone.audits"))
    extensions.attach_extensions("plots")
    extensions.attach_extensions("audits")


def test_an_unknown_kind_is_named(installed):
    installed(("plotz", "some_package"))
    with pytest.warns(UserWarning, match="some_package .* adds 'plotz'; the kinds are activations, "):
        extensions.extensions()


@pytest.mark.slow
def test_the_example_is_installed_and_runs(tmp_path):
    source, site = tmp_path / "extension", tmp_path / "site"
    shutil.copytree(EXAMPLE, source)
    install = ["install", "--quiet", "--no-deps", "--no-build-isolation", "--target", site, source]
    subprocess.run([sys.executable, "-m", "pip", *install], check=True, capture_output=True)
    write_model(tmp_path / "runs" / "tanhmax", "pooled")

    def glasshead(*arguments):
        starts = f"import sys; sys.path.insert(0, {str(site)!r}); from glasshead.cli import main; main()"
        done = subprocess.run(
            [sys.executable, "-c", starts, *arguments],
            cwd=tmp_path,
            capture_output=True,
            text=True,
            timeout=120,
        )
        assert done.returncode == 0, done.stderr
        assert "warning" not in done.stderr
        return done.stdout

    assert "word-lengths" in glasshead("--help")
    assert "word-length" in glasshead("list", "explainers")
    assert "word-lengths" in glasshead("list", "plots")
    assert "word-length" in glasshead("list", "audits")
    for line in (EXAMPLE / "use.sh").read_text(encoding="utf-8").splitlines():
        program, *arguments = shlex.split(line)
        assert program == "glasshead"
        glasshead(*arguments)
    card = AuditCard.load(tmp_path / "runs" / "lengths")
    assert card.quantities["word-length.independence"].title in (
        tmp_path / "runs" / "lengths" / "report.html"
    ).read_text(encoding="utf-8")
    assert "<svg" in (tmp_path / "lengths.svg").read_text(encoding="utf-8")
