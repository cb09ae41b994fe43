"""What a measurement was taken on."""

import platform
from pathlib import Path

import torch

from glasshead.bench.timing import time_interleaved


def machine(device: str) -> dict[str, str | int]:
    """Processor, threads, versions; on a GPU its name."""
    facts: dict[str, str | int] = {
        "processor": processor(),
        "threads": torch.get_num_threads(),
        "torch": torch.__version__,
        "python": platform.python_version(),
    }
    if device == "cuda":
        facts["gpu"] = torch.cuda.get_device_name()
    return facts


def processor() -> str:
    """The name of the CPU, as far as the system tells."""
    listed = Path("/proc/cpuinfo")
    if listed.is_file():
        for line in listed.read_text(encoding="utf-8", errors="replace").splitlines():
            key, _, value = line.partition(":")
            if key.strip() == "model name":
                return value.strip()
    return platform.processor() or platform.machine()


def matmul_rate(device: str, dtype: torch.dtype) -> float:
    """Floating-point operations per second of a large square matrix product."""
    size = 8192 if device == "cuda" else 1024
    a, b = (torch.randn(size, size, device=device).to(dtype) for _ in range(2))
    seconds = time_interleaved({"product": lambda: a @ b}, 0.5, device)["product"]
    return 2 * size**3 / min(seconds)
