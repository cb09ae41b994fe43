"""The one table of tolerances: what counts as equal, by what was compared."""

import numpy as np

EXACT_MATHS = {"rtol": 1e-10, "atol": 1e-12}  # two float64 ways to the same number
ONE_MODEL = {"rtol": 1e-5, "atol": 1e-6}  # float32, the same model in other batches
ALL_LAYERS = {
    "rtol": 1e-4,
    "atol": 1e-5,
}  # float32 through all layers, by another kernel or loaded again
ONE_FORMULA = {"rtol": 1e-9, "atol": 1e-10}  # float64, a kernel and the formula, with sums in another order
ONE_FORMULA_SINGLE = {"rtol": 1e-4, "atol": 5e-5}  # the same in float32
ONE_FORMULA_HALF = {"rtol": 4e-3, "atol": 4e-3}  # float16 (11 bits) against float64
# A GPU's kernel and float64: the largest error, relative to the largest number of the result.
ONE_KERNEL = {"torch.float32": 1e-5, "torch.float16": 2e-3, "torch.bfloat16": 2e-2}


def of_size(values, relative=1e-5):
    """Float32 differences of numbers as large as these: their rounding is that of what was subtracted."""
    return {"rtol": 0, "atol": relative * float(np.nanmax(np.abs(np.asarray(values))))}
