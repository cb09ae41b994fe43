"""Huang, Yang and Wang (2024), Tables 1 and 2 and Fig. 2, by 40 models with a fixed number of epochs."""

from reproduction.first_study.measure import measure_models
from reproduction.first_study.tables import page
from reproduction.study import Study

STUDY = Study("first_study", {"models": measure_models}, {"first_study": page})
