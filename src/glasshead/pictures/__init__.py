"""Pictures of mechanisms and of what runs have learned: a model in, a file out."""

from glasshead.pictures.clipped import Sample, table, texts_of
from glasshead.pictures.distances import distance_aware
from glasshead.pictures.dynamics import dynamics_picture
from glasshead.pictures.files import PAGE, file_kind, numbers, whole_numbers
from glasshead.pictures.heads import heads_picture
from glasshead.pictures.logits import Head, logits_picture
from glasshead.pictures.positions import positions_picture
from glasshead.pictures.ranks import ranks_picture
from glasshead.pictures.ratios import ratios_picture

__all__ = [
    "PAGE",
    "Head",
    "Sample",
    "distance_aware",
    "dynamics_picture",
    "file_kind",
    "heads_picture",
    "logits_picture",
    "numbers",
    "positions_picture",
    "ranks_picture",
    "ratios_picture",
    "table",
    "texts_of",
    "whole_numbers",
]
