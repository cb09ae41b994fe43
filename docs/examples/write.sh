glasshead generate my-gpt "the key of the tables" --strategy nucleus=0.9 --seed 0 --method erasure-mean-embedding
glasshead generate my-gpt "the key of the tables" "the door" --strategy beam=4 --out written.html
glasshead generate my-gpt "the key of the tables" --method gradient --target entropy --out written.json
