# Does attention order words as LIME, integrated gradients and chance do?
glasshead audit runs/softmax my_reviews.csv --audits agreement --limit 40 \
  --references captum:lime,captum:integrated-gradients,random --out audits/references
