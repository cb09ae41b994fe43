"""Data II of Sun and Lu (2020), section C: some polar words stand in texts of the other class."""

from glasshead.data.synthetic import DATASETS, SyntheticDataset, SyntheticOptions

DATASETS.register("synthetic-noisy")(
    SyntheticDataset(
        "as synthetic, but 5 % of the polar words belong to the other class (Sun and Lu 2020, Data II)",
        SyntheticOptions(noise=0.05),
    )
)
