glasshead kernels build
glasshead list kernels
