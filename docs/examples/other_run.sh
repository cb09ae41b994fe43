# Attention that learns nothing; the weights of a run imposed; other maps that answer as it does.
glasshead train my_reviews.csv --encoder lstm --epochs 3 --out runs/lstm
glasshead train my_reviews.csv --encoder lstm --attention uniform --epochs 3 --out runs/uniform
glasshead train my_reviews.csv --attention frozen:runs/lstm --epochs 3 --out runs/imposed
glasshead train my_reviews.csv --encoder lstm --attention adversarial:runs/lstm --adversary-weight 0.01 --epochs 3 --out runs/adversary
glasshead plot adversary-curve runs/lstm my_reviews.csv runs/adversary --out adversaries.svg
