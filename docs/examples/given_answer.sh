glasshead explain my-gpt "the key of the tables" --answer " is old" --method erasure-mean-embedding
glasshead explain my-gpt "the key of the tables" --answer " are old" --method gradient --out answer.html
glasshead explain my-gpt "the keys of the table" --answer " are old" --against " is old" --method gradient
