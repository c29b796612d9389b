r"""A strategy matrix from staircase rows: private in floating point, columns that sum to one.

The optimisers know their rows as supports S and weights θ with Σθ_S v_S = 1 up to rounding, v_S = 1 + (a−1)1_S. What a
client samples from is a matrix of floats, whose privacy loss is the largest ratio within a row *and* the ratio of the
largest to the smallest column sum (``privacy.py``). So the rows are built with a ratio slightly inside e^ε, and what
their columns miss is made up by one row more:

.. math:: Q = \begin{pmatrix} (1-\delta)\,\theta_S v_S^\top \\ \mathbf 1^\top - (1-\delta)\sum_S\theta_Sv_S^\top
              \end{pmatrix} .

With columns off by at most e, the last row lies between δ − e and δ + e, and its ratio is inside a for
δ ≥ e·coth(ε/2); twice that is taken. The objective grows by the factor 1/(1−δ) at most, since the first rows alone give
(1−δ)X. Where the columns are right to a few roundings there is nothing to make up.
"""

from __future__ import annotations

import math

import numpy as np

from factormech.arrays import FloatArray
from factormech.errors import BadValue
from factormech.local.optimal.problem import BoolArray
from factormech.local.strategy import StrategyMatrix
from factormech.privacy import column_sum_bounds, inner_ratio

# Columns right to this need no further row: a sixteenth of what ``inner_ratio`` leaves for rounding.
ROUNDING = 2.0**-50
# Rows of so much less weight than the heaviest are left out: of subnormal numbers not even the ratio e^ε is certain.
NEGLIGIBLE = 2.0**-600
# Columns further off than this are no rounding but a wrong answer of a solver.
REPAIR_LIMIT = 1e-8


def strategy_of(
    supports: BoolArray, weights: FloatArray, epsilon: float, prior: FloatArray | None = None
) -> StrategyMatrix:
    """The verified strategy whose rows are θ_S v_S.

    Parameters
    ----------
    supports
        The sets S, (m, n).
    weights
        θ ≥ 0, (m,), with Σθ_S v_S = 1 up to ``REPAIR_LIMIT``.
    epsilon
        The privacy budget.
    prior
        What the reconstruction is best for, (n,); the uniform one if ``None``.
    """
    S, theta = np.asarray(supports, dtype=bool), np.asarray(weights, dtype=float)
    _check(S, theta)
    used = theta > NEGLIGIBLE * theta.max()
    Q = np.where(S[used], inner_ratio(epsilon), 1.0) * theta[used, None]
    Q /= column_middle(Q).mean()
    Q /= max(1.0, float(Q.max()))  # at large ε one entry of a column is its sum, but for less than a rounding
    error = float(np.abs(column_middle(Q) - 1.0).max())
    if error <= ROUNDING:
        return StrategyMatrix(Q, epsilon, prior)
    if error > REPAIR_LIMIT:
        remedy = "solve for feasible weights first"
        raise BadValue("column sums of the rows", f"off by {error:.3g}", f"be within {REPAIR_LIMIT:g} of one", remedy)
    delta = 2.0 * max(error, ROUNDING) / math.tanh(epsilon / 2.0)
    if delta > math.sqrt(REPAIR_LIMIT):
        remedy = "solve for weights whose columns are closer to one, or use a larger epsilon"
        raise BadValue("column sums of the rows", f"off by {error:.3g}", f"be repairable at ε = {epsilon:g}", remedy)
    Q *= 1.0 - delta
    return StrategyMatrix(np.vstack([Q, 1.0 - column_middle(Q)]), epsilon, prior)


def column_middle(matrix: FloatArray) -> FloatArray:
    """The column sums of a matrix of probabilities, to about one rounding whatever its length."""
    low, high = column_sum_bounds(matrix)
    return np.asarray(0.5 * (low + high))


def _check(supports: BoolArray, weights: FloatArray) -> None:
    if supports.ndim != 2 or weights.shape != (len(supports),):
        shapes = (supports.shape, weights.shape)
        raise BadValue("shapes of supports and weights", shapes, "be (m, n) and (m,)", "give one weight per set")
    if not (np.isfinite(weights).all() and weights.size and weights.min() >= 0.0 and weights.max() > 0.0):
        raise BadValue("weights", "negative, infinite or all zero", "be non-negative numbers", "solve for them first")
