"""Pictures of mechanisms and of what runs have learned: a model in, a file out."""

from glasshead.pictures.distances import distance_aware
from glasshead.pictures.dynamics import dynamics_picture
from glasshead.pictures.heads import heads_picture
from glasshead.pictures.logits import Head, logits_picture
from glasshead.pictures.positions import positions_picture
from glasshead.pictures.ranks import COLUMNS, ranks_picture
from glasshead.pictures.ratios import ratios_picture

__all__ = [
    "COLUMNS",
    "Head",
    "distance_aware",
    "dynamics_picture",
    "heads_picture",
    "logits_picture",
    "positions_picture",
    "ranks_picture",
    "ratios_picture",
]
