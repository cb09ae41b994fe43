"""The fields of a question that are those of a request."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Annotated, Any, Literal, TypeVar, get_origin

from pydantic import BaseModel, BeforeValidator, Field, create_model

from glasshead.requests import Request, defaults_of, options_of, types_of
from glasshead.serve.fields import NumberOrWord, Word, word_or_nothing

R = TypeVar("R", bound=Request)


def asks(
    request: Any, base: type[BaseModel], without: Sequence[str] = (), most: Mapping[str, int] = {}
) -> Any:
    """A schema with the fields of a request, except those ``without``, and a number of at most ``most``."""
    fields: dict[str, Any] = {
        name: (annotation(request, name, most.get(name)), default)
        for name, default in defaults_of(request).items()
        if name not in without
    }
    return create_model(f"{request.__name__}Fields", __base__=base, **fields)


def annotation(request: Any, name: str, most: int | None) -> Any:
    """The value of a field: a number in its range, a word or a flag; an empty field of a form is not an
    answer."""
    kinds, entry = types_of(request)[name], options_of(request)[name]
    if any(get_origin(kind) is Literal for kind in kinds):
        return kinds[0]
    if {int, str} <= {*kinds}:  # a class may be called "1"
        optional = Annotated[int | Word | None, BeforeValidator(word_or_nothing)]
        return optional if entry.read is None else NumberOrWord
    plain = next(kind for kind in (bool, int, float, str) if kind in kinds)
    kind: Any = Word if plain is str else plain
    if plain in (int, float):
        kind = Annotated[plain, Field(ge=entry.least, le=entry.most if most is None else most)]
    return Annotated[kind | None, BeforeValidator(word_or_nothing)] if type(None) in kinds else kind


def request_of(kind: type[R], question: BaseModel) -> R:
    """The request that a question with its fields is.

    Raises:
        InputError: as the request.
    """
    known: Any = kind
    return kind(**{name: getattr(question, name) for name in options_of(known) if hasattr(question, name)})
