glasshead lens runs/induction "ba de fi go ku la mo ba de fi"
glasshead heads runs/induction texts.txt --out heads.html
glasshead patch runs/induction answers.csv --sites residual --out places.csv
