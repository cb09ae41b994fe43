# Which explanation of this model rests on what decides: attention, gradient or erasure?
glasshead rank runs/softmax my_reviews.csv --split all --out which.html
glasshead rank runs/softmax marked_reviews.jsonl --split all --methods attention,gradient,erasure-delete \
  --removals delete,unknown-token --statistic sufficiency --limit 40 --out which.json
