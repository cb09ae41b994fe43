"""The triton kernel: natively on a GPU, else by Triton's interpreter, and what it refuses."""

import os
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest
import torch

from glasshead.attention import KERNELS, AttentionInputs, Mask, attend, mechanism, select_kernel
from glasshead.errors import InputError

CASES = Path(__file__).with_name("triton_cases.py")


def run_cases():
    """In a process of their own: Triton decides what its programs are when it is imported."""
    interpreter = {} if torch.cuda.is_available() else {"TRITON_INTERPRET": "1"}
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "-m", "slow or not slow", str(CASES)],
        env={**os.environ, **interpreter},
        capture_output=True,
        text=True,
        timeout=1800,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert " passed" in done.stdout
    assert " skipped" not in done.stdout


@pytest.mark.slow
def test_the_formula_at_every_length():
    run_cases()


@pytest.mark.slow
@pytest.mark.parametrize(
    ("capability", "kinds"),
    [(80, ["fp32 128"]), (90, ["bf16 64 one", "fp16 128"])],
)
def test_the_programs_compile_for_the_gpus_they_are_meant_for(capability, kinds):
    """To machine code, without a GPU; the first tiling of each program fits into their shared memory."""
    script = CASES.with_name("triton_machine_code.py")
    for kind in kinds:
        done = subprocess.run(
            [sys.executable, "-W", "error", str(script), str(capability), *kind.split()],
            capture_output=True, text=True, timeout=600,
        )  # fmt: skip
        assert done.returncode == 0, done.stderr
        shared = [int(each) for each in done.stdout.split()]
        assert len(shared) == 3
        assert max(shared) <= {80: 166_912, 90: 232_448}[capability]


def call(using="tanhmax", dtype=torch.float32, sizes=(1, 2, 4, 8), mask=None, dropout=0.0):
    q = torch.zeros(*sizes, dtype=dtype)
    built = mechanism(using, num_heads=sizes[1], head_dim=sizes[3])
    return AttentionInputs.of(built, q, q, q, mask=mask, dropout=dropout)


@pytest.mark.parametrize(
    ("refused", "why"),
    [
        (call("softmax"), "paired exponentials"),
        (call("tanhmax+distance-aware"), "not dot products"),
        (call(mask=torch.ones(4, 4, dtype=torch.bool)), "no masks of pairs"),
        (call(dropout=0.1), "no dropout"),
        (call(dtype=torch.float64), "single precision"),
        (call(sizes=(1, 1, 4, 300)), "at most 256"),
        (call("tanhmax+tener", sizes=(1, 1, 4, 130)), "at most 256"),
        (call(mask=Mask(4, 4, causal=True, query_positions=torch.arange(4))), "consecutive"),
        (call(), "CUDA device, not cpu"),
    ],
    ids=lambda each: each if isinstance(each, str) else "",
)
def test_it_says_why_not(refused, why, monkeypatch):
    monkeypatch.delenv("TRITON_INTERPRET", raising=False)
    assert why in KERNELS["triton"].unsupported_reason(refused)


def test_it_says_how_to_get_it(monkeypatch):
    monkeypatch.setattr("glasshead.attention.kernels.triton.find_spec", lambda name: None)
    assert "install glasshead[triton]" in KERNELS["triton"].unsupported_reason(call())


def test_the_interpreter_serves_by_name_only_and_knows_its_limits(monkeypatch):
    monkeypatch.setenv("TRITON_INTERPRET", "1")
    kernel = KERNELS["triton"]
    assert kernel.unsupported_reason(call()) is None
    assert select_kernel(call()) != "triton"
    assert "bfloat16" in kernel.unsupported_reason(call(dtype=torch.bfloat16))


def test_the_name_is_obeyed_or_refused(monkeypatch):
    monkeypatch.delenv("TRITON_INTERPRET", raising=False)
    q = torch.zeros(1, 1, 2, 16)
    with pytest.raises(
        InputError, match="triton kernel cannot serve tanhmax: it needs a CUDA device, not cpu"
    ):
        attend("tanhmax", q, q, q, kernel="triton")


@pytest.mark.slow
def test_triton_is_imported_by_need_only():
    assert find_spec("triton") is not None
    script = "import sys, glasshead.attention; assert 'triton' not in sys.modules, 'triton was imported'"
    subprocess.run([sys.executable, "-c", script], check=True, timeout=60)
