glasshead audit runs/tanhmax my_reviews.csv --out audits/slices --by length --by correct
# The name of a slice is the last part of the name of its findings.
glasshead audit runs/tanhmax my_reviews.csv --out audits/right --by correct \
  --audits agreement --fail-under agreement.contribution.gradient.correct=0.3
