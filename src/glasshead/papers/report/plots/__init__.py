"""The plots of the papers: one file, one plot."""

from glasshead.registry import import_siblings

import_siblings(__name__, __path__)
