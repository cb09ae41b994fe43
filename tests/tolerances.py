"""The one table of tolerances: what counts as equal, by what was compared."""

EXACT_MATHS = {"rtol": 1e-10, "atol": 1e-12}  # two float64 ways to the same number
ONE_MODEL = {"rtol": 1e-5, "atol": 1e-6}  # float32, the same model in other batches
