glasshead train my_reviews.csv --model encoder --preset regular-small --epochs 1 --out runs/regular
glasshead audit runs/regular my_reviews.csv --audits identifiability --layers all --rows cls --out audits/maps
