# One CSV file with the columns text and label. It is cut into train, dev and test by seed.
glasshead train my_reviews.csv --attention softmax --out runs/softmax
glasshead train my_reviews.csv --attention tanhmax --out runs/tanhmax --seed 0
