"""One file, one paper: the catalogue is the folder."""

from glasshead.registry import import_siblings

import_siblings(__name__, __path__)
