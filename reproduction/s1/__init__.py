"""Garreau (2024), a lecture on explaining attention: what of its statements about trained models holds?"""

from reproduction.s1.tables import claims, settings
from reproduction.study import Study

STUDY = Study("s1", {}, {"s1-claims": claims, "s1-settings": settings})
