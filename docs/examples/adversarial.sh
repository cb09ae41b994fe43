# Is there another map with the same prediction?
glasshead audit runs/softmax my_reviews.csv --split all --audits adversarial --limit 40 --out audits/adversarial
