glasshead explain my-minilm "a charming film with a dull ending"
glasshead audit my-minilm test.csv --train train.csv --limit 20 --draws 20 --out audits/my-minilm
