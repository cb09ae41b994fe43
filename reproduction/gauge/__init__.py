"""Where the sign of trained TanhMax attention lives, by the rule and by the words."""

from reproduction.gauge.measure import measure
from reproduction.gauge.tables import page
from reproduction.study import Study

STUDY = Study("gauge", {"models": measure}, {"gauge": page})
