r"""2-way marginals of d binary attributes with ε-privacy, in time polynomial in d (Nikolov, SODA 2023, Theorem 6.2).

The k = d(d − 1)/2 queries x_i x_j have 2^d columns, and the gauge of their body K decides the maximum cut, so that no
walk over facets leads anywhere. The theorem takes a larger body, that of second moments, whose K-norm noise has a law
for eigenvalues (:mod:`factormech.mechanisms.pure.eigenvalues`). Here the rows are signs with a 1 in front,

.. math:: x = (1, 2b - 1)/\sqrt{d + 1},\; b \in \{0, 1\}^d, \qquad
          b_i b_j = \tfrac14 + \tfrac{d+1}{4}\,(M_{0i} + M_{0j} + M_{ij}) ,\quad M = xx^T .

All rows have length 1, so that the trace is public, and the factor (d + 1)/4 is a quarter of that of the paper's rows
b/√d. Three entries with uncorrelated noise are added in the place of one: the error is √3/4 of that of the paper's
rows, up to terms of order 1/d.

Errors are E‖·‖₂/√k on means of n users, one of whom is replaced. Laplace noise and noise of the ball of the answers
themselves (Δ₁ = k and Δ₂ = √k, between all zeros and all ones) have them in closed form.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from factormech.arrays import FloatArray, check_positive_integer
from factormech.errors import BadValue
from factormech.mechanisms.pure.covariance import MomentRelease


def release(attributes: int, epsilon: float, *, projected: bool = True) -> MomentRelease:
    """Return the release of second moments of :func:`sign_rows`, ε-private in the limit of its chain.

    Parameters
    ----------
    attributes
        d ≥ 2.
    epsilon
        The privacy budget, replace one.
    projected
        Whether moments are projected on {A ⪰ 0, tr A = 1}.
    """
    d = check_positive_integer("attributes", attributes, minimum=2)
    return MomentRelease.of(d + 1, epsilon, projected=projected, unit=True)


def sign_rows(data: Any) -> FloatArray:
    """Return (1, 2b − 1)/√(d + 1) for words b of zeros and ones, (n, d): rows of length 1, (n, d + 1).

    Raises
    ------
    BadValue
        If there is another entry, or no row.

    Examples
    --------
    >>> sign_rows([[1, 0, 1]])
    array([[ 0.5,  0.5, -0.5,  0.5]])
    """
    B = np.asarray(data)
    if B.ndim != 2 or 0 in B.shape or not np.isin(B, (0, 1)).all():
        raise BadValue("data", f"array of shape {B.shape}", "be rows (n, d) of zeros and ones", "repair it")
    return np.column_stack([np.ones(len(B)), 2.0 * B - 1.0]) / math.sqrt(B.shape[1] + 1.0)


def marginals(moments: FloatArray) -> FloatArray:
    """Return the 2-way marginals, i < j, of second moments (…, d + 1, d + 1) of :func:`sign_rows`."""
    size = moments.shape[-1]
    i, j = np.triu_indices(size - 1, 1)
    first = moments[..., 0, 1:]
    together = moments[..., 1:, 1:][..., i, j]
    return np.asarray(0.25 + 0.25 * size * (first[..., i] + first[..., j] + together))


def errors(found: FloatArray, truth: FloatArray) -> FloatArray:
    """Return ‖·‖₂/√k of each of the moments ``found``, (…, d + 1, d + 1)."""
    return np.asarray(np.sqrt(((marginals(found) - marginals(truth)) ** 2).mean(axis=-1)))
