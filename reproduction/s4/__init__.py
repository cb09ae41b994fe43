"""Sun and Lu (2020), training dynamics: the tables of `glasshead reproduce s4`."""

from reproduction.paper import PaperStudy

STUDY = PaperStudy("s4")
