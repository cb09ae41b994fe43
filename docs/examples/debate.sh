# Does attention that is certain explain better? What changes with length and confidence?
glasshead audit runs/softmax my_reviews.csv --split all --limit 200 --audits agreement,perturbation,adversarial \
  --by identifiability --by length --by confidence --out audits/debate
# What changes with the encoder? Trainings that differ in nothing else (none, affine, Transformer), on the same texts.
glasshead train my_reviews.csv --attention softmax --encoder affine --epochs 2 --out runs/affine
glasshead train my_reviews.csv --attention softmax --model encoder --epochs 2 --out runs/transformer
glasshead audit runs/affine my_reviews.csv --split all --limit 200 --audits agreement,perturbation,adversarial --out audits/affine
glasshead audit runs/transformer my_reviews.csv --split all --limit 200 --audits agreement,perturbation,adversarial \
  --out audits/transformer
glasshead compare audits/debate audits/affine audits/transformer --out encoders.html
