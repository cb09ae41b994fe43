"""Huang, Yang and Wang (2024), bidirectional attention: the tables of `glasshead reproduce s0`."""

from reproduction.paper import PaperStudy

STUDY = PaperStudy("s0")
