"""A new activation takes one file; in its shortest form, three lines of it."""

import subprocess
import sys
from pathlib import Path

import pytest
import torch

import glasshead
import glasshead.attention.activations as catalogue
from glasshead.attention import ACTIVATIONS, mechanism
from glasshead.registry import import_siblings

LONG = '''
"""Cubic weights, for a test: g = s³, h = |s|³ + 1."""

from glasshead.attention.activation import ACTIVATIONS, Activation


@ACTIVATIONS.register("cubic")
class Cubic(Activation):
    """[φ(s)]_i = s_i³ / Σ_k (|s_k|³ + 1)."""

    paper = "a test"
    signed = True
    rows_sum_to_one = False
    monotone = True
    log_nonlinear = True
    origin_symmetric = True
    normalised = True

    def weights(self, scores, mask):
        cubes = scores.clamp(-20, 20).masked_fill(~mask, 0) ** 3
        total = (cubes.abs() + 1).masked_fill(~mask, 0).sum(dim=-1, keepdim=True)
        return (cubes / total.clamp(min=1)).masked_fill(~mask, 0)
'''

SHORT = '''
"""Softplus, for a test."""

from torch.nn.functional import softplus

from glasshead.attention import ACTIVATIONS, ElementwiseRatio


@ACTIVATIONS.register("softplus")
class Softplus(ElementwiseRatio):
    """[φ(s)]_i = log(1 + e^{s_i}) / Σ_k log(1 + e^{s_k})."""

    paper = "a test"
    def g(self, s): return softplus(s)
    h = g
'''

# In a process of its own: the registry of this one must not learn the name.
SCRIPT = """
import sys
from pathlib import Path
import glasshead.attention.activations as catalogue
catalogue.__path__.append(sys.argv[1])
from glasshead.registry import import_siblings
import_siblings(catalogue.__name__, catalogue.__path__)

from typer.testing import CliRunner
from glasshead.cli import app

def run(*words):
    result = CliRunner().invoke(app, list(words))
    assert result.exit_code == 0, (words, result.output, result.exception)
    return result.output

out, name, signed = Path(sys.argv[2]), sys.argv[4], sys.argv[5] == "signed"
assert name in run("list", "activations")
trained, audited = str(out / "run"), str(out / "audit")
small = ["--option", "instances=200", "--epochs", "1"]
run("train", "synthetic", *small, "--attention", name, "--out", trained)
run("audit", trained, "synthetic", "--limit", "20", "--out", audited)
from glasshead.results import AuditCard
card = AuditCard.load(out / "audit")
assert card.facts["signed"] is signed
statistic = "attention-raw" if signed else "attention"
assert card.finding(f"agreement.{statistic}.gradient.all") is not None

import pytest
contracts = sys.argv[3]
options = ["-p", "no:cacheprovider", "--assert=plain", "-k", name, "-m", "not slow"]
raise SystemExit(pytest.main([*options, contracts]))
"""


@pytest.fixture
def registered(tmp_path, monkeypatch):
    """Writes a file beside the others and imports it; afterwards the registry is as it was."""
    monkeypatch.setattr(ACTIVATIONS, "_entries", dict(ACTIVATIONS._entries))
    monkeypatch.setattr(catalogue, "__path__", [*catalogue.__path__, str(tmp_path)])

    def registered(name, source):
        (tmp_path / f"{name}.py").write_text(source, encoding="utf-8")
        monkeypatch.delitem(sys.modules, f"{catalogue.__name__}.{name}", raising=False)
        import_siblings(catalogue.__name__, catalogue.__path__)
        return ACTIVATIONS[name]()

    return registered


def test_one_file_is_one_activation(registered):
    scores = torch.tensor([[1.0, -2.0, 0.5]], dtype=torch.float64)
    real = torch.tensor([[True, True, False]])
    cubic = registered("cubic", LONG)
    assert ACTIVATIONS["cubic"].signed
    torch.testing.assert_close(cubic.weights(scores, real), torch.tensor([[1.0, -8.0, 0.0]]).double() / 11)
    softplus = registered("softplus", SHORT)
    expected = torch.log1p(scores.exp()).masked_fill(~real, 0)
    expected /= expected.sum()
    torch.testing.assert_close(softplus.weights(scores, real), expected)
    assert not mechanism("softplus").signed


@pytest.mark.slow
@pytest.mark.parametrize(
    ("source", "name", "signed"), [(LONG, "cubic", "signed"), (SHORT, "softplus", "unsigned")]
)
def test_one_file_is_listed_trained_audited_and_held_to_the_contracts(tmp_path, source, name, signed):
    (tmp_path / "plugin").mkdir()
    (tmp_path / "plugin" / f"{name}.py").write_text(source, encoding="utf-8")
    contracts = Path(__file__).with_name("test_activations.py")
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT, tmp_path / "plugin", tmp_path, contracts, name, signed],
        capture_output=True,
        text=True,
        cwd=contracts.parents[2],
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    # Nine contracts, that on dtypes four times.
    assert "12 passed" in done.stdout, done.stdout
    assert not (Path(glasshead.__file__).parent / "attention" / "activations" / f"{name}.py").exists()
