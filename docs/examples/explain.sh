glasshead explain runs/tanhmax "a charming film with a dull ending"
glasshead explain runs/tanhmax "a charming film with a dull ending" --method gradient --target-function log-odds
glasshead explain runs/tanhmax "a charming film with a dull ending" --method erasure --target negative
glasshead explain runs/softmax "a charming film with a dull ending" --intervals
glasshead explain runs/softmax "a charming film" "a dull ending" --format html --out explanation.html
glasshead explain runs/softmax "a charming film" --method attention --method gradient --method erasure --out methods.html
glasshead explain runs/softmax "a charming film" --format json --out explanation.json
