"""One file becomes three splits; what was done to it is recorded."""

from glasshead.data import LoadOptions, describe, load

data = load("my_reviews.csv", LoadOptions(split_seed=0))
print(data.num_rows, data["train"].features["label"].names)

facts = describe(data)
print("empty texts:", facts["empty_texts"])
print("train is", facts["origin"]["train"])
print("fingerprint", facts["fingerprint"][:16], "…")
