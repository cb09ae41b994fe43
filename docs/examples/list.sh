glasshead list activations
glasshead list explainers
glasshead list audits
glasshead list datasets
glasshead list models
