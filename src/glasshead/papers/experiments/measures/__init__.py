"""One file, one thing that can be measured of a cell: the catalogue is the folder."""

from glasshead.registry import import_siblings

import_siblings(__name__, __path__)
