glasshead train my_reviews.csv --preset regular-small --set hidden_size=32 --d-k 4 --epochs 1 --out runs/heads
glasshead plot ranks runs/heads my_reviews.csv --texts 20 --out ranks.svg --data ranks.csv
glasshead plot logits runs/heads my_reviews.csv --texts 3 --draws 20 --processes 1 --out logits.svg
