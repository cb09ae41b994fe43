glasshead audit runs/tanhmax my_reviews.csv --out audits/short --budget 10s
glasshead audit runs/tanhmax my_reviews.csv --out audits/short --resume --workers 2
