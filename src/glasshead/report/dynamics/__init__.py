"""How attention came about, drawn and told: pictures of a `History`, pages, a table in the terminal."""

from glasshead.report.dynamics.page import dynamics_page, picture_page
from glasshead.report.dynamics.picture import Picture, figure_of
from glasshead.report.dynamics.registry import PICTURES, Asked
from glasshead.report.dynamics.summary import Told
from glasshead.report.dynamics.terminal import dynamics_table

__all__ = [
    "PICTURES",
    "Asked",
    "Picture",
    "Told",
    "dynamics_page",
    "dynamics_table",
    "figure_of",
    "picture_page",
]
