glasshead train my_reviews.csv --model encoder --epochs 2 --out runs/encoder
glasshead explain runs/encoder "a charming film with a dull ending"
glasshead explain runs/encoder "a charming film" --method erasure-renormalise --layer 0 --head 1 --row first
glasshead audit runs/encoder my_reviews.csv --layer 0 --audits agreement --limit 40 --out audits/encoder
