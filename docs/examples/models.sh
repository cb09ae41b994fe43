glasshead train my_reviews.csv --preset s4 --epochs 3 --out runs/context
glasshead train my_reviews.csv --encoder lstm --score additive --scale 1 --epochs 2 --out runs/lstm
glasshead train my_reviews.csv --vectors vectors.txt --max-length 40 --minimum-frequency 2 --out runs/vectors
# A Transformer encoder with distance-aware attention, and one whose heads are added.
glasshead train my_reviews.csv --model encoder --attention distance-aware --epochs 2 --out runs/distances
glasshead train my_reviews.csv --preset identifiable-small --d-k 4 --set hidden_size=32 --epochs 2 --out runs/added
glasshead train my_reviews.csv --model hierarchical --max-length 64 --repeats 2 --epochs 1 --out runs/sentences

# A bilinear score, and another loss than cross-entropy: squared or hinge.
glasshead train my_reviews.csv --score bilinear --set loss=hinge --epochs 2 --out runs/hinge
