glasshead judge audits/tanhmax --by length --out audits/tanhmax-by-length
glasshead judge audits/tanhmax --level 0.99
glasshead judge audits/tanhmax --fail-under agreement.contribution.gradient=-1
