"""Audit from Python, and read the files of an audit folder with any Parquet reader."""

from pathlib import Path

import pyarrow.parquet as pq

from glasshead.audits import audit
from glasshead.data import load
from glasshead.opening import load_run

card = audit(load_run(Path("runs/tanhmax")), load("my_reviews.csv")["test"], audits=["agreement"])
finding = card.find("agreement.contribution.gradient")
print(finding.name, round(finding.estimate, 2), finding.interval, finding.verdict)

examples = pq.read_table("audits/tanhmax/examples.parquet").to_pandas()
print(examples.groupby("label")["tau.contribution.erasure-renormalise"].mean().round(2))
tokens = pq.read_table("audits/tanhmax/tokens.parquet").to_pandas()
print(tokens.sort_values("contribution")[["token", "group", "gamma", "contribution"]].head(3))
