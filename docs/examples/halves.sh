glasshead explain my-bert "a charming film with a dull ending" --dtype bfloat16
glasshead audit my-bert my_reviews.csv --limit 40 --draws 5 --dtype bfloat16 --out audits/halves
