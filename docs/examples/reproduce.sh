glasshead reproduce s2 --only trec --quick --seeds 5 --out tables
glasshead reproduce s3 --only certainty --quick --out tables
