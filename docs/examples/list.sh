glasshead list activations
glasshead list positions
glasshead list mechanisms
glasshead list kernels
glasshead list explainers
glasshead list audits
glasshead list datasets
glasshead list models
