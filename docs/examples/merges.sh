glasshead plot merges low login --merges 4 --out merges.svg
glasshead train my_reviews.csv --tokenizer bpe --vocabulary-size 400 --out runs/bpe
