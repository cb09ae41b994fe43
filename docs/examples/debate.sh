# Does attention that is certain explain better? What changes with length and confidence?
glasshead audit runs/softmax my_reviews.csv --split all --limit 100 --audits agreement,perturbation,adversarial \
  --by identifiability --by length --by confidence --out audits/debate
# What changes with the encoder? Trainings that differ in nothing else, on the same texts; the Transformer has sizes of its own, too.
glasshead train my_reviews.csv --attention softmax --encoder none --epochs 2 --out runs/none
glasshead train my_reviews.csv --attention softmax --encoder affine --epochs 2 --out runs/affine
glasshead train my_reviews.csv --attention softmax --encoder lstm --epochs 2 --out runs/lstm
glasshead train my_reviews.csv --attention softmax --model encoder --epochs 2 --out runs/transformer
glasshead audit runs/none my_reviews.csv --split all --limit 100 --audits agreement,perturbation,adversarial --out audits/none
glasshead audit runs/affine my_reviews.csv --split all --limit 100 --audits agreement,perturbation,adversarial --out audits/affine
glasshead audit runs/lstm my_reviews.csv --split all --limit 100 --audits agreement,perturbation,adversarial --out audits/lstm
glasshead audit runs/transformer my_reviews.csv --split all --limit 100 --audits agreement,perturbation,adversarial \
  --out audits/transformer
glasshead compare audits/none audits/affine audits/lstm audits/transformer --out encoders.html
