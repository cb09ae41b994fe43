"""Which way to aggregate heads and layers rests on what decides."""

from reproduction.aggregation.measure import TRAININGS
from reproduction.aggregation.tables import page
from reproduction.study import Study

STUDY = Study("aggregation", TRAININGS.measures(), {"aggregation": page})
