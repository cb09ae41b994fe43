glasshead explain my-guesser "today the lemon was [MASK] and old" --method erasure-mean-embedding
glasshead explain my-guesser "today the lemon was yellow and old" --at lemon --next lemon --against grass --method gradient
glasshead audit my-guesser lines.txt --limit 60 --out audits/my-guesser
