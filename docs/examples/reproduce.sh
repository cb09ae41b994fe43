glasshead reproduce s2 --only trec --quick --seeds 5 --out tables
