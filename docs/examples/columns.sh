# The columns have other names, and only two of the classes are wanted, negative first.
glasshead train ratings.jsonl --text-column review --label-column stars --classes 1,5 --out runs/stars
glasshead audit runs/stars ratings.jsonl --out audits/stars --limit 20
