"""Compiles the C++ of the native kernel, once for each set of instructions that this processor has."""

import json
import os
import platform
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryDirectory

import torch

from glasshead.attention.kernels.native_programs.operators import LIBRARIES, library_name
from glasshead.compiled import CAPABILITIES, NATIVE_SOURCES, native_library
from glasshead.errors import InputError, MissingExtra

COMPILE = """
import json, sys
from torch.utils import cpp_extension
name, sources, flags, folder = json.loads(sys.argv[1])
cpp_extension.load(name, sources, extra_cflags=flags, build_directory=folder, is_python_module=False)
"""
"""In a process of its own: torch loads what it compiled, and no process can load operators twice."""
FLAGS = {
    "AVX512": ("-mavx512f", "-mavx512bw", "-mavx512vl", "-mavx512dq", "-mfma", "-mf16c"),
    "AVX2": ("-mavx2", "-mfma", "-mf16c"),
    "DEFAULT": (),
}


def possible_capabilities() -> tuple[str, ...]:
    """What this processor understands, by what torch found it to."""
    if platform.machine().lower() not in ("x86_64", "amd64"):
        return ("DEFAULT",)
    if torch.cpu._is_avx512_supported():
        return CAPABILITIES
    return CAPABILITIES[1:] if torch.cpu._is_avx2_supported() else CAPABILITIES[2:]


def build_libraries(
    capabilities: tuple[str, ...] | None = None, progress: Callable[[str], None] = lambda _: None
) -> tuple[Path, ...]:
    """The libraries for these instructions, or all possible ones, compiled if they are not there yet.

    Raises:
        InputError: without a compiler or ninja, or if the compiler rejects the sources.
    """
    paths = []
    for capability in possible_capabilities() if capabilities is None else capabilities:
        path = native_library(capability)
        if not (path.is_file() and LIBRARIES.load(capability)):
            progress(f"compiling for {capability}")
            compile_library(capability, path)
            LIBRARIES.broken.discard(path)
        paths.append(path)
    return tuple(paths)


def compile_library(capability: str, path: Path) -> None:
    """Compile next to the place where the library will be, and put it there when it is whole."""
    from torch.utils import cpp_extension

    compiler = cpp_extension.get_cxx_compiler()
    if shutil.which((shlex.split(compiler) or [""])[0]) is None:
        raise InputError(
            f"there is no C++ compiler {compiler!r}: install one (Debian: apt install g++) or name it in CXX"
        )
    name = library_name(capability)
    flags = [
        "-O3",
        "-fopenmp",
        "-w",  # torch's own headers warn
        f"-DCPU_CAPABILITY={capability}",
        f"-DCPU_CAPABILITY_{capability}",
        f"-DGLASSHEAD_LIBRARY={name}",
        *FLAGS[capability],
    ]
    path.parent.mkdir(parents=True, exist_ok=True)
    with ninja_on_path(), TemporaryDirectory(dir=path.parent, prefix=".compiling-") as folder:
        sources = [str(source) for source in sorted(NATIVE_SOURCES.glob("*.cpp"))]
        done = subprocess.run(
            [sys.executable, "-c", COMPILE, json.dumps([name, sources, flags, folder])],
            capture_output=True,
            text=True,
            errors="replace",
        )
        made = Path(folder) / f"{name}.so"
        if done.returncode != 0 or not made.is_file():
            raise InputError(f"the native kernel does not compile: {first_error(done.stdout + done.stderr)}")
        os.replace(made, path)


def first_error(log: str) -> str:
    """The line of a compiler's output that says what is wrong."""
    lines = [line.strip() for line in log.splitlines() if line.strip()]
    last = lines[-1] if lines else "no reason given"
    return next((line for line in lines if re.search(r"\b(fatal )?error: ", line)), last)


@contextmanager
def ninja_on_path() -> Iterator[None]:
    """Ninja is found where the extra installed it, also if its environment is not activated.

    Raises:
        InputError: if there is none.
    """
    before = os.environ.get("PATH", "")
    if find_spec("ninja") is not None:
        import ninja

        os.environ["PATH"] = os.pathsep.join([ninja.BIN_DIR, before])
    if shutil.which("ninja") is None:
        raise MissingExtra("compiling", "native")
    try:
        yield
    finally:
        os.environ["PATH"] = before
