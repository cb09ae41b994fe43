"""The larger set of the code of Huang et al. (2024)."""

from glasshead.data.synthetic import DATASETS, SyntheticDataset, SyntheticOptions

DATASETS.register("synthetic-large")(
    SyntheticDataset(
        "50,000 reviews from 10,000 words, 500 positive and 500 negative (Huang et al.'s code)",
        SyntheticOptions(instances=50_000, polar_words=500, neutral_words=9_000),
    )
)
