# What does every head of my-bert look at, and which ones matter?
glasshead heads my-bert my_reviews.csv --out heads.html
glasshead heads my-bert trees.conllu --text "the warm film charms us" --out trees.json
