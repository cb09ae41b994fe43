"""Audit by a column of the data: here one that is made up, so nothing should differ."""

from pathlib import Path

import glasshead
from glasshead.data import load
from glasshead.opening import load_run

reviews = load("my_reviews.csv")["test"]
reviews = reviews.add_column("channel", ["app" if row % 3 else "web" for row in range(len(reviews))])

card = glasshead.audit(load_run(Path("runs/tanhmax")), reviews, audits=["agreement"], by="channel")
for name in ("all", "channel: app", "channel: web"):
    finding = card.find(f"agreement.contribution.gradient.{name}")
    print(name, round(finding.estimate, 2), finding.interval, "n =", finding.n, "level", finding.level)
for test in card.slice_tests:
    if (test.statistic, test.against) == ("contribution", "gradient"):
        print(test.verdict, "p =", round(test.corrected, 3))
