# Both models classify these reviews. Training says what the attention of each did, layer by layer.
glasshead train my_reviews.csv --attention softmax --out runs/pooled
glasshead train my_reviews.csv --attention softmax --model encoder --out runs/two-layers
# An audit says it again, of the texts that it reads.
glasshead audit runs/pooled my_reviews.csv --audits agreement --limit 40 --out audits/use
