"""Huang, Yang and Wang (2024), the image rows of Table 2 and Figure 5: TanhMax and softmax on CIFAR-10."""

from reproduction.images.measure import measure_accuracy, measure_figure
from reproduction.images.tables import page
from reproduction.study import Study

STUDY = Study("images", {"accuracy": measure_accuracy, "figure5": measure_figure}, {"images": page})
