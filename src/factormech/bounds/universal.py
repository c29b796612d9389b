r"""The variance averaged under any prior, bounded from below on a small domain: every extreme report is looked at.

Setting and class of mechanisms are those of ``scatter.py``: unbiased linear strategies. A bound on the average under a
prior x of the user types is one on the worst case.

**Theorem.** Let z_u be any vectors, one a user type, and let λ satisfy, for all v ∈ {e^{−ε}, 1}ⁿ,

.. math:: F(v) = \sum_{u<w} \frac{x_uv_u\,x_wv_w}{x^\top v}\lVert z_u-z_w\rVert^2 \;\ge\; \lambda^\top v .

Then Σx_uVar_u ≥ 1ᵀλ − Σx_u‖z_u − w_u‖² for every ε-LDP strategy of any number of outputs, with any reconstruction.

*Proof.* As for Theorem 1 of ``scatter.py``, each type weighed by x_u: Σx_uVar_u ≥ Σ_oF(Q_o) − Σx_u‖z_u−w_u‖², Q_o the
rows of Q. F is homogeneous, and concave, since F(q) = Σx_uq_u‖z_u‖² − ‖Σx_uq_uz_u‖²/xᵀq. A row is Σθv of vectors
v ∈ {e^{−ε}, 1}ⁿ, so that F(Q_o) ≥ Σθ F(v) ≥ λᵀQ_o, and the columns of Q sum to one. ∎

**Repair.** λ + c1 satisfies the condition for c = min_v (F(v) − λᵀv)/1ᵀv: any z and λ give a bound. From T and λ₀ of
``certificate.py``, with tr(TC) and 1ᵀλ₀, take s = tr(TC)/1ᵀλ₀, z_u = s(Tw)_u/(nx_u) and
λ_u = x_u‖z_u‖² − s²λ_{0u}/n: in exact arithmetic the bound is then the same.

**Rounding.** F is a sum of products of positive terms: its relative error is below γ of 2n² + 16. Distances and
Σx_u‖z_u − w_u‖² are rounded as in ``scatter.py``. e^{−ε} is rounded down, which makes more strategies private.
"""

from __future__ import annotations

import math

import numpy as np

from factormech.arrays import FloatArray, check_epsilon
from factormech.bounds.centred import CentredGram
from factormech.bounds.scatter import distances_below
from factormech.errors import BadValue

DOMAIN_LIMIT = 20
_UNIT = 2.0**-53
_SLACK = 1.0 + 1e-6
# Vectors v that are looked at together.
_TOGETHER = 2**14


def universal_variance(
    gram: CentredGram, epsilon: float, prior: FloatArray, dual: FloatArray, multiplier: FloatArray
) -> float:
    """Return a lower bound on the variance per user averaged under a prior; 0 where nothing is proved.

    Parameters
    ----------
    gram
        The centred Gram matrix C, n ≤ 20.
    epsilon
        The budget.
    prior
        x, (n,), positive; its sum is made 1 at most.
    dual, multiplier
        T, (n, n), and λ₀, (n,), such as the exact solvers give; any give a bound.
    """
    C, n = gram.matrix, len(gram.matrix)
    x = _below_one(np.asarray(prior, dtype=float), n)
    T, guess = np.asarray(dual, dtype=float), np.asarray(multiplier, dtype=float)
    scale = float(np.sum(T * C)) / float(guess.sum()) if float(guess.sum()) > 0.0 else 0.0
    if not (scale > 0.0 and math.isfinite(scale)):
        return 0.0
    E = scale * T / (n * x[:, None]) - np.eye(n) + x
    M = C + E @ C + C @ E.T + E @ C @ E.T
    sums, largest = np.abs(E).sum(axis=1) * _SLACK, float(np.abs(C).max())
    gamma = 4.0 * (n + 4) * _UNIT
    reach = (1.0 + float(sums.max())) ** 2
    d = distances_below(M, (gamma * largest + gram.entry_error) * reach)
    cost = float(x @ (np.einsum("uv,uv->u", E @ C, E) + (gamma * largest + gram.entry_error) * sums**2))
    centred = M - (M @ x)[:, None] - M @ x + x @ M @ x
    start = x * np.diagonal(centred) - scale**2 * guess / n
    gain = float(start.sum()) + n * _least_slack(d, x, start, math.exp(-check_epsilon(epsilon)) * (1.0 - 4.0 * _UNIT))
    rounding = 8.0 * n * _UNIT * (float(np.abs(start).sum()) + abs(cost))
    return max(gain - cost - rounding, 0.0)


def _least_slack(d: FloatArray, x: FloatArray, multiplier: FloatArray, low: float) -> float:
    """min over v of (F(v) − λᵀv)/1ᵀv, rounded down."""
    n, least = len(x), math.inf
    gamma = (2.0 * n * n + 16.0) * _UNIT
    bits = np.arange(n)
    for first in range(0, 2**n, _TOGETHER):
        chosen = np.arange(first, min(first + _TOGETHER, 2**n))[:, None] >> bits & 1
        v = np.where(chosen == 1, 1.0, low)
        y = v * x
        F = 0.5 * np.einsum("ku,ku->k", y @ d, y) / y.sum(axis=1)
        doubt = gamma * (v @ np.abs(multiplier) + F)
        least = min(least, float(((F - v @ multiplier - doubt) / v.sum(axis=1)).min()))
    return least - 4.0 * n * _UNIT * abs(least)


def _below_one(prior: FloatArray, n: int) -> FloatArray:
    """The prior with a sum of at most 1, which is all that a bound on the worst case needs."""
    if not 2 <= n <= DOMAIN_LIMIT or prior.shape != (n,):
        raise BadValue("shape of prior", prior.shape, f"be (n,), 2 ≤ n ≤ {DOMAIN_LIMIT}", "give a weight per type")
    if not (np.isfinite(prior).all() and prior.min() > 0.0):
        raise BadValue("prior", "not positive", "be positive", "mix in a little of the uniform one")
    return np.asarray(prior / (math.fsum(prior.tolist()) * (1.0 + 4.0 * _UNIT)))
