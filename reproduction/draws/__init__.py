"""How far the median over random weights belongs to its text, and not to its draws."""

from reproduction.draws.measure import measure_correlations
from reproduction.study import Study

STUDY = Study("draws", {"correlations": measure_correlations}, {})
