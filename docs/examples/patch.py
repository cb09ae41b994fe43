import pandas as pd

import glasshead

pairs = pd.read_csv("pairs.csv")  # or a list of rows: {"clean": …, "corrupted": …, "answer": …, "against": …}
found = glasshead.patch("runs/induction", pairs, sites="heads", direction="noise")
print(*found.conclusion, sep="\n")
for site in found.shown:
    print(f"{site.name}: {site.change:+.2f}, {site.share:.0%} of the difference, p = {site.pvalue:.3f}")
found.save("noise.html")
