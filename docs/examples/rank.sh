# Which explanation of this model rests on what decides: attention, gradient or erasure?
glasshead rank runs/softmax my_reviews.csv --split all --out which.html
glasshead rank runs/softmax marked_reviews.jsonl --split all --methods attention,gradient,erasure-delete \
  --removals delete,unknown-token --statistic sufficiency --limit 40 --out which.json
# In a folder a ranking keeps what it measured: ten texts, then ten more.
glasshead rank runs/softmax my_reviews.csv --split all --limit 10 --out which
glasshead rank runs/softmax my_reviews.csv --split all --limit 20 --out which --resume
