"""Jain and Wallace (2019), Wiegreffe and Pinter (2019): is attention explanation?"""

from reproduction.debate.measure import TABLES, TRAININGS
from reproduction.debate.tables import draw_all, page
from reproduction.study import Study

STUDY = Study("debate", TRAININGS.measures(), {"debate": page}, draw_all, usual=list(TABLES))
