"""Bhardwaj et al. (2021), identifiable Transformers: the tables of `glasshead reproduce s3`."""

from reproduction.paper import PaperStudy

STUDY = PaperStudy("s3")
