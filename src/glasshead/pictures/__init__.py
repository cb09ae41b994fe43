"""Pictures of mechanisms and of what runs have learned: a model in, a file out."""

from glasshead.pictures.distances import distance_aware
from glasshead.pictures.files import file_kind, numbers, whole_numbers
from glasshead.pictures.heads import heads_picture
from glasshead.pictures.positions import positions_picture

__all__ = ["distance_aware", "file_kind", "heads_picture", "numbers", "positions_picture", "whole_numbers"]
