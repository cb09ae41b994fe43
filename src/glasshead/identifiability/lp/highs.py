"""Maxima by HiGHS, one model kept warm while only its costs change: a second opinion."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from glasshead.arrays import Floats
from glasshead.checkpoints import checkpoint


def highs_maxima(
    A: Floats, b: Floats, functions: Floats, options: Mapping[str, int | str] | None = None
) -> tuple[Floats, list[str]]:
    """max Σ_i w_i x_i over {x ≥ 0, A x = b} for every row of ``functions`` [L, n]: values (∞ if there is
    none, NaN where the solver has no answer), and for each the reason why there is no answer, or "".
    ``options`` are HiGHS's own.

    Source: Huangfu and Hall (2018), Parallelizing the dual revised simplex method.
    """
    import highspy  # only for the rows that the simplex method gives up

    m, n = A.shape
    solver = highspy.Highs()
    solver.setOptionValue("output_flag", False)
    solver.setOptionValue("small_matrix_value", 1e-12)  # smaller entries are dropped, which frees variables
    for name, value in (options or {}).items():
        solver.setOptionValue(name, value)
    program = highspy.HighsLp()
    program.num_row_, program.num_col_ = m, n
    program.sense_ = highspy.ObjSense.kMaximize
    program.col_cost_ = np.zeros(n)
    program.col_lower_, program.col_upper_ = np.zeros(n), np.full(n, highspy.kHighsInf)
    program.row_lower_ = program.row_upper_ = b
    row, column = np.nonzero(A)
    program.a_matrix_.format_ = highspy.MatrixFormat.kRowwise
    program.a_matrix_.start_ = np.searchsorted(row, np.arange(m + 1))
    program.a_matrix_.index_, program.a_matrix_.value_ = column, A[row, column]
    solver.passModel(program)
    every = np.arange(n, dtype=np.int32)
    values, reasons = np.full(len(functions), np.nan), []
    for one, weights in enumerate(functions):
        checkpoint()
        solver.changeColsCost(n, every, weights)
        solver.run()
        status = solver.getModelStatus()
        reasons.append("")
        if status == highspy.HighsModelStatus.kOptimal:
            values[one] = solver.getInfo().objective_function_value
        elif status == highspy.HighsModelStatus.kUnbounded:
            values[one] = np.inf
        else:
            reasons[-1] = f"HiGHS: {solver.modelStatusToString(status).lower()}"
    return values, reasons
