"""Where the compiled kernels of a computer lie and which there are; asks neither torch nor a compiler."""

import hashlib
import os
import platform
from functools import cache
from importlib.metadata import version
from pathlib import Path

from platformdirs import user_cache_path

NATIVE_SOURCES = Path(__file__).parent / "attention" / "kernels" / "native_programs"
CAPABILITIES = ("AVX512", "AVX2", "DEFAULT")
"""Instructions that a library is compiled for, by torch's names for them; the fastest first."""


def cache_folder() -> Path:
    """What can be made again: ``GLASSHEAD_CACHE``, or the place where the system keeps such things."""
    chosen = os.environ.get("GLASSHEAD_CACHE")
    return Path(chosen) if chosen else user_cache_path("glasshead", appauthor=False)


@cache
def edition() -> str:
    """The version of torch, the kind of processor and the sources that a library is for."""
    digest = hashlib.sha256()
    for path in sorted([*NATIVE_SOURCES.glob("*.cpp"), *NATIVE_SOURCES.glob("*.h")]):
        digest.update(path.name.encode() + path.read_bytes())
    return f"torch-{version('torch')}-{platform.machine()}-{digest.hexdigest()[:12]}"


def native_library(capability: str) -> Path:
    """The file of a library: that of a wheel which brings its own, else one in the cache."""
    name = Path(edition()) / f"{capability.lower()}.so"
    packed = NATIVE_SOURCES / "compiled" / name
    return packed if packed.is_file() else cache_folder() / "native" / name


def list_compiled_capabilities() -> tuple[str, ...]:
    """The instructions for which there is a library."""
    return tuple(name for name in CAPABILITIES if native_library(name).is_file())
