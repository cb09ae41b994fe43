"""Which audits notice that the map of a right model says nothing? Tasks whose true answer is known."""

from reproduction.solvable.measure import TRAININGS, measure_minima, measure_texts
from reproduction.solvable.starts import measure_starts
from reproduction.solvable.tables import draw, page
from reproduction.solvable.transition import measure_transition
from reproduction.study import Study

STUDY = Study(
    "solvable",
    {
        **TRAININGS.measures(),
        "minima": measure_minima,
        "texts": measure_texts,
        "starts": measure_starts,
        "transition": measure_transition,
    },
    {"solvable": page},
    draw,
)
