"""Types of arrays that many files speak of."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
AnyFloats = NDArray[np.floating[Any]]
Integers = NDArray[np.int64]
Flags = NDArray[np.bool_]
