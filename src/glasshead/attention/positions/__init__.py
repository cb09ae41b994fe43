"""One file, one way in which position or distance enters attention: the catalogue is the folder."""

from glasshead.registry import import_siblings

import_siblings(__name__, __path__)
