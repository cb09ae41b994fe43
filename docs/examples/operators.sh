# Does it matter whether a word is cut out, masked, or taken out of the attention?
glasshead audit runs/softmax my_reviews.csv --split all --audits operators --limit 40 --out audits/operators
