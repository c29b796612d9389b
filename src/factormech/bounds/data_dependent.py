r"""A lower bound on the variance of every unbiased linear ε-LDP strategy on given data, even one made for these data.

Let p be the shares of the user types, VQ = W, μ = Qp, and v_o the columns of V. The variance of the answers for one
user drawn from p (McKenna, Maity, Mazumdar & Miklau, PVLDB 13(11), 2020, Theorem 3.4, averaged over p) is

.. math:: \sum_o \mu_o\lVert v_o\rVert^2 - \sum_u p_u\lVert We_u\rVert^2 .

*Centring.* V' = V − Wp1ᵀ has V'μ = 0 (because Vμ = Wp and 1ᵀμ = 1), so Σ_o μ_o‖v_o‖² = ‖Wp‖² + Σ_o μ_o‖v'_o‖², and
V'(Q − μ1ᵀ) = V'Q = W_p with W_p = W(I − p1ᵀ). The variance is therefore ‖V'D‖_F² − ‖W_pP‖_F² with D = Diag(μ)^{1/2},
P = Diag(p)^{1/2}.

*Duality.* ‖W_pP‖_* = ‖(V'D)(D⁻¹(Q − μ1ᵀ)P)‖_* ≤ ‖V'D‖_F·‖D⁻¹(Q − μ1ᵀ)P‖_F by Cauchy–Schwarz.

*Privacy.* The square of the last norm is Σ_o Var_p(q_o)/μ_o. The entries of row o lie in [a, e^ε a], so
Var_p(q_o) ≤ (e^ε a − μ_o)(μ_o − a) (Bhatia & Davis), at most κμ_o² with κ = (e^ε − 1)²/(4e^ε) = sinh²(ε/2) whatever a
is; and Σ_o μ_o = 1. Hence

.. math:: \text{variance} \ge \lVert W_pP\rVert_*^2 / \sinh^2(\varepsilon/2) - \lVert W_pP\rVert_F^2 .

With p uniform this is ``spectral.centred_svd`` with sinh²(ε/2) in place of the slightly smaller σ. W enters through its
centred Gram matrix alone, because W1 1ᵀ(I − p1ᵀ) = 0.
"""

from __future__ import annotations

import math

import numpy as np

from factormech.arrays import FloatArray, check_epsilon
from factormech.errors import BadValue

NAME = "data-svd"
# What an eigenvalue may be off by, in roundings of the largest for each type: a model of the solver, not a proof.
EIGENVALUES = 8.0


def centred_svd_on(centred_gram: FloatArray, shares: FloatArray, epsilon: float) -> float:
    """Return the bound on the variance per user, summed over the queries, rounded down; 0 where it is vacuous.

    Parameters
    ----------
    centred_gram
        PGP, (n, n).
    shares
        p, (n,): at least 0, summing to one.
    epsilon
        The budget, replace-one relation.
    """
    p = np.asarray(shares, dtype=float)
    if p.shape != (len(centred_gram),) or not np.isfinite(p).all() or p.min() < 0 or abs(p.sum() - 1) > 1e-9:
        rule = f"have shape ({len(centred_gram)},), no entry below 0 and sum 1"
        raise BadValue(
            "shares", f"shape {p.shape}, sum {p.sum():.6g}", rule, "divide the counts by the number of users"
        )
    there = p > 0
    C, p = centred_gram[np.ix_(there, there)], p[there]
    # (I − 1pᵀ)C(I − p1ᵀ): C loses its mean under p, on both sides.
    Cp = C @ p
    A = C - Cp[:, None] - Cp + p @ Cp
    A *= np.sqrt(p) * np.sqrt(p)[:, None]
    squares = np.linalg.eigvalsh(0.5 * (A + A.T))
    doubt = EIGENVALUES * len(A) * np.finfo(float).eps * max(float(squares[-1]), 0.0)
    kappa = math.sinh(0.5 * check_epsilon(epsilon)) ** 2 * (1.0 + 1e-14)
    gain = float(np.sum(np.sqrt(np.maximum(squares - doubt, 0.0)))) ** 2 / kappa
    cost = float(np.trace(A)) + len(A) * doubt
    return max(gain * (1.0 - 1e-12) - cost * (1.0 + 1e-12), 0.0)
