"""The same mathematics, faster: one file, one kernel."""

from glasshead.registry import import_siblings

import_siblings(__name__, __path__)
