r"""The universal check of a lower bound: exact, over every extreme report of a small domain.

Setting: McKenna, Maity, Mazumdar & Miklau (PVLDB 13(11), 2020); notation of ``local/strategy.py``, a = e^ε. An ε-LDP
strategy Q has on the centred workload C = PGP = RRᵀ the objective tr(X_c⁺C), X = Σ_o q_o q_oᵀ/(1ᵀq_o) = X_c + 11ᵀ/n.

**Extreme rows.** A row with max q ≤ a·min q is a non-negative combination Σθ_j v_j of vectors v ∈ {1, a}ⁿ: sort its
entries and peel off 1 + (a−1)1_S for the upper level sets S. As q ↦ (xᵀq)²/(1ᵀq) is convex and homogeneous of degree
one, qqᵀ/(1ᵀq) ⪯ Σθ_j v_j v_jᵀ/(1ᵀv_j).

**Certificate.** Let Z (n × r) have 1ᵀZ = 0, and let λ satisfy

.. math:: v^\top Z Z^\top v \le (\lambda^\top v)(\mathbf 1^\top v) \qquad\text{for all } v \in \{1, a\}^n .

Then tr(X_cZZᵀ) = tr(XZZᵀ) ≤ Σ_o λᵀq_o = 1ᵀλ, the columns of Q summing to one, and for every ε-LDP Q of any size

.. math:: \operatorname{tr}(X_c^+ C) \ge \frac{\operatorname{tr}(R^\top Z)^2}{\mathbf 1^\top\lambda} :

where the left side is finite R lies in the range of X_c, so tr(RᵀZ) = ⟨(X_c^{1/2})⁺R, X_c^{1/2}Z⟩, and Cauchy–Schwarz
applies. A symmetric T in place of Z is the case Z = TR: ZZᵀ = TCT and tr(RᵀZ) = tr(TC).

**Repair.** With c = max_v [vᵀZZᵀv − (λᵀv)(1ᵀv)]/(1ᵀv)² of either sign, λ + c1 satisfies the condition, whatever Z and
λ are. So any guess becomes a bound; at the optimum, Z = X_c⁺R and λ the multiplier of X1 = 1, it is attained.
"""

from __future__ import annotations

import math

import numpy as np

from factormech.arrays import FloatArray, check_epsilon
from factormech.errors import BadValue

# 2^n extreme rows are enumerated up to this n.
DOMAIN_LIMIT = 20


def largest_violation(quadratic: FloatArray, multiplier: FloatArray, epsilon: float) -> float:
    """c = max over v ∈ {1, a}ⁿ of [vᵀMv − (λᵀv)(1ᵀv)]/(1ᵀv)², M = ``quadratic``, λ = ``multiplier``, by enumeration.

    The ratio does not change when v is scaled, so v runs over {e^{−ε}, 1}ⁿ, which cannot overflow.
    """
    low = math.exp(-check_epsilon(epsilon))
    M, multiplier = _checked(quadratic, multiplier)
    # One matrix of both sides: vᵀNv = vᵀMv − (λᵀv)(1ᵀv).
    N = 0.5 * (M + M.T) - 0.5 * (multiplier[:, None] + multiplier[None, :])
    half = (len(N) + 1) // 2
    head, tail = _corners(half, low), _corners(len(N) - half, low)
    # vᵀNv over all pairs of a head and a tail: its two squares, and one product for the cross terms.
    values = head @ (2.0 * N[:half, half:]) @ tail.T
    values += np.einsum("vi,vi->v", head @ N[:half, :half], head)[:, None]
    values += np.einsum("vi,vi->v", tail @ N[half:, half:], tail)
    values[0, 0] = -math.inf  # all low: the direction of all high, but its square may underflow
    values /= np.square(np.maximum(head.sum(axis=1)[:, None] + tail.sum(axis=1), 1e-150))
    return float(values.max())


def certified_objective(root: FloatArray, dual: FloatArray, multiplier: FloatArray, epsilon: float) -> float:
    """A lower bound on tr(X_c⁺C) for every ε-LDP strategy, C = PRRᵀP, from any Z and λ; 0 where they prove nothing.

    Parameters
    ----------
    root
        R, (n, r), such as the transpose of a workload matrix; it is centred here.
    dual
        Z, (n, r); it is centred here.
    multiplier
        λ, (n,); it is repaired here.
    epsilon
        The privacy budget.
    """
    R, Z = np.asarray(root, dtype=float), np.asarray(dual, dtype=float)
    if Z.ndim != 2 or Z.shape != R.shape:
        raise BadValue("shape of dual", Z.shape, f"be that of root, {R.shape}", "give one column for each of root's")
    Z = Z - Z.mean(axis=0)
    c = largest_violation(Z @ Z.T, multiplier, epsilon)
    limit = float(np.sum(multiplier)) + len(Z) * c
    gain = float(np.sum(R * Z))
    return gain**2 / limit if gain > 0.0 and limit > 0.0 else 0.0


def _checked(quadratic: FloatArray, multiplier: FloatArray) -> tuple[FloatArray, FloatArray]:
    M, vector = np.asarray(quadratic, dtype=float), np.asarray(multiplier, dtype=float)
    if not 1 <= len(M) <= DOMAIN_LIMIT:
        raise BadValue("domain size", len(M), f"be from 1 to {DOMAIN_LIMIT}", "use bounds.parametric on larger ones")
    if M.shape != (len(M), len(M)) or vector.shape != (len(M),):
        shapes = (M.shape, vector.shape)
        raise BadValue("shapes of quadratic and multiplier", shapes, "be (n, n) and (n,)", "give one entry per type")
    if not (np.isfinite(M).all() and np.isfinite(vector).all()):
        raise BadValue("quadratic and multiplier", "not finite", "be finite", "scale them")
    return M, vector


def _corners(length: int, low: float) -> FloatArray:
    """All of {low, 1}^length, (2^length, length)."""
    bits = np.arange(2**length)[:, None] >> np.arange(length) & 1
    return np.where(bits == 1, 1.0, low)
