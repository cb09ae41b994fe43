cat > models.toml <<'END'
limit = 30
split = "test"

[models.softmax]
model = "runs/softmax"
data = "my_reviews.csv"

[models.tanhmax]
model = "runs/tanhmax"
data = "my_reviews.csv"
audits = ["performance", "agreement"]
END
glasshead audit-hub models.toml --out audits/hub
