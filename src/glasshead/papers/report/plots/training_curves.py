"""Loss, accuracy and entropy of attention over a training."""

from glasshead.papers.report.curves import (
    Curve,
    band_limits,
    caption_with_best_step,
    curve_panel,
    require_recorded,
    require_snapshots,
)
from glasshead.papers.results import History
from glasshead.report import Figure, PlotOptions, plot

SHARE_AXIS = (-0.04, 1.06)
LEAST_ENTROPY = 0.001
"""Height of the axis of an entropy, at least: what is less is dust."""
CURVE_TITLES = {"loss": "loss", "accuracy": "accuracy", "entropy": "entropy of attention"}


@plot("training", History, "groups", order=4, drawn_by="plot dynamics --what training")
def training(history: History, options: PlotOptions) -> Figure:
    """Loss, accuracy and entropy of attention on a sample of the texts of train."""
    require_snapshots(history)
    curves = {name: Curve(history.curve(name), "--ink", words) for name, words in CURVE_TITLES.items()}
    curves = {name: curve for name, curve in curves.items() if len(curve.columns["step"])}
    require_recorded(history, curves, "loss")
    limits = {"accuracy": SHARE_AXIS}
    if "entropy" in curves:
        limits["entropy"] = band_limits([curves["entropy"]], LEAST_ENTROPY)
    panels = [
        curve_panel(history, "", [curve], curve.words, curve.words, limits.get(name))
        for name, curve in curves.items()
    ]
    caption = f"On {history.facts['probe']:,} texts of train."
    if "entropy" in curves:
        caption += (
            " Entropy is a share of the largest possible: 0 for one token alone, 1 for uniform weights; "
            "the band is one standard deviation of the texts."
        )
    return Figure("The training", panels, caption_with_best_step(history, caption))
