"""What was typed as an input: a text as it stands or, for a model of images, the files that it names."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from glasshead.errors import InputError

if TYPE_CHECKING:
    from glasshead.trace import Subject


def names_a_file(text: str) -> bool:
    """Whether what was typed is the name of a file."""
    return bool(Path(text).suffix) and len(text) < 256 and Path(text).is_file()


def names_an_image(text: str) -> bool:
    """Whether what was typed is the name of a file with an image."""
    from glasshead.data import IMAGE_SUFFIXES

    return names_a_file(text) and Path(text).suffix.lower() in IMAGE_SUFFIXES


def names_captions(lines: Sequence[Any]) -> bool:
    """Whether some text that is no path was typed behind an image."""
    return names_an_image(lines[0]) and any(len(line) > 255 or not Path(line).exists() for line in lines)


def images_with_texts(lines: Sequence[Any]) -> list[Any]:
    """What was typed for a model that reads images with texts: each text goes with the images before it.

    Raises:
        InputError: if an image has no text behind it.
    """
    inputs, images, asked = list[Any](), list[str](), True
    for line in lines:  # or chats
        if isinstance(line, str) and names_an_image(line):
            images = [line] if asked else [*images, line]
            asked = False
        else:
            given = {"image": images[0]} if len(images) == 1 else {"images": images}
            inputs.append({**given, "text": line} if images else line)
            asked = True
    if not asked:
        raise InputError(
            f'{images[-1]} has no text: type it after the image, as in {images[-1]} "What is in the image?"'
        )
    return inputs


def inputs_for(subject: "Subject", lines: Sequence[str]) -> list[Any]:
    """The texts as they are or, of a model that reads images, the files that they name.

    Raises:
        InputError: if a file is an image and the model reads texts, or the reverse.
    """
    from glasshead.data import CaptionReader, ImageTextReader, UnitReader, reader_of

    if isinstance(subject.tokenizer, CaptionReader) and names_captions(lines):
        return subject.tokenizer.inputs(images_with_texts(lines))
    if isinstance(subject.tokenizer, UnitReader):
        return subject.tokenizer.inputs(lines)
    reader = reader_of(subject.tokenizer)
    if isinstance(reader, ImageTextReader):
        return reader.inputs(images_with_texts(lines))
    for line in lines:  # or chats
        if isinstance(line, str) and names_an_image(line):
            raise InputError(f"{line} is an image, and {subject.name} reads texts: give a text")
    return list(lines)


def check_no_file(subject: "Subject", lines: Sequence[str]) -> None:
    """Raise InputError for the name of a file where a text was typed, and the model reads texts."""
    from glasshead.data import UnitReader

    if isinstance(subject.tokenizer, UnitReader):
        return
    for line in lines:
        if names_a_file(line) and not names_an_image(line):
            raise InputError(f"{line!r} is a file: --file {line} explains its lines")


def one_input(subject: "Subject", line: str) -> Any:
    """A text as it is, or the one image that was named.

    Raises:
        InputError: as `inputs_for`, and if a folder holds several images.
    """
    inputs = inputs_for(subject, [line])
    if len(inputs) != 1:
        raise InputError(f"{line} holds {len(inputs)} images: name one of them")
    return inputs[0]
