glasshead train my_reviews.csv --preset da-transformer-small --epochs 1 --repeats 2 --out runs/distance
glasshead train my_reviews.csv --preset transformer-small --epochs 1 --repeats 2 --out runs/vanilla
glasshead compare runs/vanilla runs/distance --out runs.html
glasshead plot positions runs/distance --out positions.svg
glasshead plot heads runs/distance/seed-0 "a warm and charming film" --out heads.png
