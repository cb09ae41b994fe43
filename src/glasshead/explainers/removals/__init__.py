"""What "without a token" means: one file, one meaning. The catalogue is the folder."""

from glasshead.explainers.removals.mean_embedding import average_lookups
from glasshead.explainers.removals.removal import REMOVALS, Removal, removable
from glasshead.registry import import_siblings

import_siblings(__name__, __path__)

__all__ = ["REMOVALS", "Removal", "average_lookups", "removable"]
