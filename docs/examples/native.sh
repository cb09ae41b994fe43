glasshead kernels build
glasshead list kernels
glasshead bench attention --mechanisms tanhmax --kernels native,sdpa --lengths 256 --masks none,causal
