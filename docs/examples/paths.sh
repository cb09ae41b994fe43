glasshead patch runs/induction pairs.csv --into 1-0:k --out keys.html
glasshead patch runs/induction answers.csv --into 1-0:v --out values.html
