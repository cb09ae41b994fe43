"""A lecture on explaining attention: do its statements about trained models hold, by what the studies found?"""

from reproduction.s1.tables import claims, settings
from reproduction.study import Study

STUDY = Study("s1", {}, {"s1-claims": claims, "s1-settings": settings})
