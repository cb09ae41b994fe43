glasshead patch runs/induction pairs.csv --out heads.html
glasshead patch runs/induction pairs.csv --direction noise --method both --out needed.html
glasshead patch runs/induction pairs.csv --sites residual --out stream.csv
glasshead patch runs/induction pairs.csv --out heads.svg
