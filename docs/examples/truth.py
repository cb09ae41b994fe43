"""A synthetic set comes with the truth: the group in which every word was planted."""

from collections import Counter

from glasshead.data import DATASETS, LoadOptions, load, planted_groups

options = DATASETS["synthetic"].options({"instances": 400})
groups = planted_groups(options)
print(groups["charming"], groups["dull"], groups["about"])
print(Counter(groups.values()))

data = load("synthetic", LoadOptions(generator={"instances": 400}))
review = data["test"][0]["text"]
print([word for word in review.split() if groups[word] != "neutral"])
