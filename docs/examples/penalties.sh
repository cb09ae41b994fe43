# Attention whose context vector stays out of the way of the output, from embeddings uniform in ±0.01 at first.
glasshead train my_reviews.csv --preset s4 --set initializer_range=0.01 --penalty context-output=0.001 --epochs 3 --out runs/apart
glasshead train my_reviews.csv --preset s4 --encoder affine --scale 20 --penalty encoder=0.001 --epochs 3 --out runs/affine
