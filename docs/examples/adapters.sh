glasshead explain my-adapters "a charming film with a dull ending" --labels LABEL_0=negative,LABEL_1=positive
glasshead audit my-adapters test.csv --labels LABEL_0=negative,LABEL_1=positive --limit 20 --draws 20 --out audits/my-adapters
