"""Synthetic data of the solvable tasks: one file, one data set."""

from glasshead.registry import import_siblings

import_siblings(__name__, __path__)
