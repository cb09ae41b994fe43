import glasshead

ranking = glasshead.rank(
    "runs/softmax",
    "my_reviews.csv",
    ["attention", "gradient", "erasure"],
    removals=["delete", "unknown-token"],
    split="all",
    limit=40,
)
print(*ranking.conclusion)
for method in ranking.methods:
    finding = method.finding("comprehensiveness", "delete")
    print(method.name, finding.estimate, finding.interval, method.standing("comprehensiveness", "delete"))
table = ranking.to_pandas()  # one row for each method, statistic and type of deletion
print("leads at least once:", sorted(set(table[table["standing"] == "leads"]["method"])))
ranking.save("which.svg")
