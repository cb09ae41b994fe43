glasshead compare audits/softmax audits/tanhmax --out compare.html
