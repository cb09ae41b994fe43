glasshead explain my-bert "a charming film with a dull ending"
glasshead explain my-bert "a charming film" "a dull ending" --method gradient-after-norm --format json --out my-bert.json
glasshead audit my-bert my_reviews.csv --train my_reviews.csv --limit 40 --draws 5 --out audits/my-bert
