"""Which relations the heads of MiniLM follow, and what special tokens get."""

from reproduction.heads.measure import TRAININGS, measure_trees
from reproduction.heads.tables import page
from reproduction.study import Study

STUDY = Study("heads", {"trees": measure_trees, **TRAININGS.measures()}, {"heads": page})
