# What does every head of my-bert look at, and which ones matter?
glasshead heads my-bert my_reviews.csv --out heads.html
glasshead heads my-bert trees.conllu --text "the warm film charms us" --out trees.json
# A folder keeps what was measured: ten texts, then ten more.
glasshead heads my-bert my_reviews.csv --limit 10 --out my-heads
glasshead heads my-bert my_reviews.csv --limit 20 --out my-heads --resume
