"""Data I of Sun and Lu (2020), section C; the number of instances is not given there."""

from glasshead.data.synthetic import DATASETS, SyntheticDataset, SyntheticOptions

DATASETS.register("synthetic")(
    SyntheticDataset(
        "12-word reviews, 2 positive or negative words among 10 neutral ones (Sun and Lu 2020, Data I)",
        SyntheticOptions(),
    )
)
