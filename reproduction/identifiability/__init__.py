"""How far the attention of a pretrained model is determined, by the length of texts."""

from reproduction.identifiability.measure import measure_lengths
from reproduction.identifiability.tables import page
from reproduction.study import Study

STUDY = Study("identifiability", {"lengths": measure_lengths}, {"identifiability": page})
