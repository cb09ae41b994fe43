glasshead train my_reviews.csv --preset s4 --epochs 3 --out runs/context
glasshead train my_reviews.csv --encoder lstm --score additive --scale 1 --epochs 2 --out runs/lstm
glasshead train my_reviews.csv --vectors vectors.txt --max-length 40 --minimum-frequency 2 --out runs/vectors
