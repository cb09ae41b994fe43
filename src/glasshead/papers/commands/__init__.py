"""The commands of the papers, and their plots; importing a file adds its command."""

from glasshead.cli import WORDS
from glasshead.papers.commands import (
    dynamics,
    plot_adversary_curve,
    plot_collapse,
    plot_dynamics,
    plot_lengths,
    plot_merges,
    plot_minima,
    plot_transition,
    recommend,
    reproduce,
)

WORDS.update(
    {
        "glasshead.papers.recommend.train_recommender": "'glasshead recommend train LOGS --out RUN'",
    }
)
