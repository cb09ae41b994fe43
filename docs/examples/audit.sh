glasshead audit runs/softmax my_reviews.csv --out audits/softmax
glasshead audit runs/tanhmax my_reviews.csv --out audits/tanhmax --split test --seed 0
