"""Where the sign of trained TanhMax attention lives, by the rule and by the words."""

from reproduction.gauge.measure import measure_models
from reproduction.gauge.tables import page
from reproduction.study import Study

STUDY = Study("gauge", {"models": measure_models}, {"gauge": page})
