# Which words does the prediction rest on: those that attention puts first, or those of the gradient?
glasshead audit runs/softmax my_reviews.csv --audits faithfulness --out audits/faithful-attention
glasshead audit runs/softmax my_reviews.csv --audits faithfulness --out audits/faithful-gradient --method gradient
glasshead compare audits/faithful-attention audits/faithful-gradient --out faithful.html
