"""Which attention of a model is read, and how its keys stand to the tokens of a text."""

from glasshead.reading.place import LEVELS, ROWS, Place, Reading

__all__ = ["LEVELS", "ROWS", "Place", "Reading"]
