"""Which of six explanations leads, in three classifiers on two data sets."""

from reproduction.rank.measure import TRAININGS
from reproduction.rank.tables import page
from reproduction.study import Study

STUDY = Study("rank", TRAININGS.measures(), {"rank": page})
