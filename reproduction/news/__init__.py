"""Do heads learn the distances that readers of news imply? Five mechanisms on generated logs."""

from reproduction.news.measure import measure_logs
from reproduction.news.tables import page
from reproduction.study import Study

STUDY = Study("news", {"logs": measure_logs}, {"news": page})
