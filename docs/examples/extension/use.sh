glasshead explain runs/tanhmax "a charming film" --method word-length
glasshead word-lengths runs/tanhmax "a charming film" --out lengths.svg
glasshead audit runs/tanhmax synthetic --audits word-length --split test --out runs/lengths
