"""One file, one plot: the catalogue is the folder."""

from glasshead.registry import import_siblings
from glasshead.report.plot_registry import PLOTS, plots_of

__all__ = ["PLOTS", "plots_of"]

import_siblings(__name__, __path__)
