"""Wu, Wu and Huang (2021), DA-Transformer: the tables of `glasshead reproduce s2`."""

from reproduction.paper import PaperStudy

STUDY = PaperStudy("s2")
