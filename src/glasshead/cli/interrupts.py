"""Work that can be interrupted and taken up again."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import typer

from glasshead.cli.console import print_error
from glasshead.errors import InputError, exit_code


@contextmanager
def resume_on_interrupt(parts: Path, unit: str = "epochs") -> Iterator[None]:
    """Work that Ctrl-C or SIGTERM ends with one line, which says what is kept in ``parts``; so does a full
    disk."""
    resume = f"the finished {unit} are kept: repeat the command with --resume"
    try:
        yield
    except KeyboardInterrupt as error:
        print_error(
            f"interrupted; {resume}"
            if parts.exists()
            else f"interrupted before any {unit} were finished; nothing was written"
        )
        raise typer.Exit(exit_code(error)) from None
    except OSError as error:
        if parts.exists():
            error.add_note(resume)
        raise


@contextmanager
def resumable_parts(out: Path, *, resume: bool, overwrite: bool, work: str = "audit") -> Iterator[Path]:
    """Where an audit, or other ``work``, keeps its parts until it is whole, next to ``out``, so that Ctrl-C
    loses nothing, nor does an error. They go when all is done, and where none is finished. To resume what is
    finished is to go on from what it measured.

    Raises:
        InputError: if there is something unfinished and nobody said what to do with it, or the reverse.
    """
    from glasshead.audits import MEASURED, MEASUREMENTS, copy_measurements
    from glasshead.files import check_foreign, files_in, find_foreign, remove
    from glasshead.identifiability import STORE_FILES

    parts, finished = out.with_name(f"{out.name}.parts"), None
    if resume and not parts.exists():
        if not (out / MEASUREMENTS).exists():
            raise InputError(f"there is nothing to resume at {parts}: leave --resume out")
        copy_measurements(out / MEASUREMENTS, parts / MEASUREMENTS)
        finished = files_in(parts)
    if parts.exists() and not resume:
        if not overwrite:
            raise InputError(
                f"{parts} holds an unfinished {work}: continue with --resume, or start anew with --overwrite"
            )
        check_foreign(parts, find_foreign(files_in(parts), (*STORE_FILES, *MEASURED)))
        remove(parts)
    try:
        with resume_on_interrupt(parts, "parts"):
            try:
                yield parts
            except BaseException:
                is_kept = any(any(parts.glob(pattern)) for pattern in (STORE_FILES[-1], MEASURED[-1]))
                if not is_kept or files_in(parts) == finished:
                    remove(parts)  # nothing worth resuming
                raise
    except InputError as error:
        if type(error) is InputError and finished is not None and not parts.exists():
            raise InputError(str(error).replace(str(parts / MEASUREMENTS), str(out))) from error
        if parts.exists() and not resume:
            error.add_note("the finished parts are kept: correct the command, and add --resume")
        raise
    remove(parts)
