# One verdict on the attention of a model; then the same as a section for its README
glasshead audit my-bert my_reviews.csv --audits explanation --limit 20 --out audits/verdict
glasshead audit my-bert my_reviews.csv --audits explanation --limit 20 --format model-card --resume --out audits/verdict
