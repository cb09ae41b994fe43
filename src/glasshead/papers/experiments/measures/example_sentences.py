"""The four sentences of Huang, Yang and Wang (2024), Fig. 1: what the model says of them, and the weights."""

from typing import Any

from glasshead.explainers import explain
from glasshead.papers.experiments.job import MEASURES, Job, Measured

SENTENCES = {
    "positive": "A fine documentary extends a warm invitation into an unfamiliar world and allows "
    "implications of the journey to sink in unobtrusively.",
    "negative": "A dreary incoherent self indulgent mess of a movie in which a bunch of pompous windbags "
    "drone on inanely for two hours.",
    "turning": "Those who love Cinema Paradiso will find the new scenes interesting, but others will find "
    "the movie disappointing.",
    "narrative": "A solid piece of journalistic work that draws a picture of a man for whom political "
    "expedience became a deadly foreign policy.",
}
"""The last two are what the paper calls neutral: one turns round, one tells."""
TOP_WORDS = 6
"""Words of each sentence, those with the largest weights by size."""


@MEASURES.register("example-sentences")
def example_sentences(job: Job) -> Measured:
    """The probability of class 1 for each sentence, and its words with the largest canonical weights."""
    folder = job.train()
    numbers: dict[str, Any] = {}
    for name, attribution in zip(SENTENCES, explain(folder, list(SENTENCES.values()), target=1), strict=True):
        numbers[f"probability_{name}"] = attribution.prediction
        order = sorted(range(len(attribution.scores)), key=lambda place: -abs(attribution.scores[place]))
        numbers[f"weights_{name}"] = [
            f"{attribution.tokens[place]} {attribution.scores[place]:+.2f}"
            for place in order
            if attribution.tokens[place].isalpha()
        ][:TOP_WORDS]
    return Measured(numbers)
