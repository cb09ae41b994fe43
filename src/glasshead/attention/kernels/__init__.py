"""Kernels compute attention faster than the reference does: one file, one kernel."""

from glasshead.registry import import_siblings

import_siblings(__name__, __path__)
