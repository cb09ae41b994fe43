"""Sun and Lu (2020) and Proposition 1 of Huang, Yang and Wang (2024): do trainings show what is derived?"""

from reproduction.dynamics.measure import TRAININGS
from reproduction.dynamics.tables import page
from reproduction.study import Study

STUDY = Study("dynamics", TRAININGS.measures(), {"dynamics": page})
