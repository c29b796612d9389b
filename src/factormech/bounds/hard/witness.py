r"""A certificate of hardness: a dual matrix U, made feasible, its numbers rounded outward.

**Theorem.** Let U have rows that sum to 0, W_v•U_v ≥ θ‖U_v‖₁ for every v, θ > 0, and put G = W•U/γ₂*(U). On the nonzero
rows let λ_v, μ_v = 2U_v^±/‖U_v‖₁, a_v = W_v•U_v/‖U_v‖₁ ≥ θ, μ̃_v = (1 − s_v)λ_v + s_vμ_v with s_v = θ'/a_v for a θ' ≤ θ.
Then every gap W_v•(λ_v − μ̃_v) is 2θ', and some weights π̂ > 0 give ‖M̃‖_{∞→L2(π̂)} ≤ 2θ'/G.

*Proof.* λ_v − μ_v = 2U_v/‖U_v‖₁, so M̃_v = 2θ'U_v/(W_v•U_v). With π̃_v = W_v•U_v/W•U the matrix Ũ = (π̃_vM̃_v) is
2θ'/(W•U)·U, and γ₂*(Ũ) = 2θ'/G. The norm is the next statement. ∎ (No binning and no logarithm: the mixing is chosen
row by row; Edmonds, PhD thesis, 2023, Lemmas 17 to 19, mixes all rows alike and keeps one level set of the a_v.)

**L₂ step.** Let Ũ = (π̃_vM̃_v) = PBQ with ‖B‖ = γ₂*(Ũ), tr P² = tr Q² = 1 (``norms.dual``), p_v = P_v². With
σ = Σπ̃_v²/p_v ≥ (Σπ̃_v)²/Σp_v = 1 and π̂_v = π̃_v²/(σp_v), for |f| ≤ 1

.. math:: E_{\hat\pi}(\tilde M_vf)^2 = \lVert P^{-1}\tilde Uf\rVert^2/\sigma = \lVert BQf\rVert^2/\sigma
          \le \gamma_2^*(\tilde U)^2/\sigma

(with constant 4 and half of the rows in Edmonds, Nikolov & Ullman, STOC 2020, Lemmas 14 and 15; Edmonds, 2023,
Lemmas 15 and 16).

**A centre.** In the L₂ step diag(y) ⪰ M̃ᵀΠ̂M̃ for y_x = Yq_x, q_x = Q_x², Y = γ₂*(Ũ)²/σ. Where φ > 0 has
Σ_x max(φq_x, D_x) ≤ 1, D_x = max_v |M̃_vx|/2, some distribution ν is at least φq and D: then ν ± M̃_v/2 are pairs of the
same gaps around a centre (``divergence``); with D_x = max_v M̃⁻_vx so are ν + M̃_v and ν, for sequential protocols.
``share`` is the largest such φ: as the sum is the largest over all choices of the lines with φq_x, it is the least of
(1 − Σ_{x∉S}D_x)/Σ_{x∈S}q_x over the sets S of the lines with the smallest D_x/q_x.

All of it holds for the numbers stored: rows of U are whole multiples of one power of two whose sums are exact, θ and
W•U are rounded down and γ₂*(U) up.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from factormech.arrays import FloatArray
from factormech.bounds.hard.divergence import PROTOCOLS, Protocol
from factormech.errors import BadValue
from factormech.norms.approximate.boxes import around
from factormech.norms.approximate.certificate import feasible
from factormech.norms.dual import dual_norm, upper_bound
from factormech.norms.matrices import checked_matrix
from factormech.numerics.rounding import above, below, gamma

# A row that misses θ by less than this part is kept, and lowers the θ that is proved.
_ROW_TOLERANCE = 1e-7
_UNIT = 2.0**-53
# More than sums of the domain's length can lose to rounding.
_SHARE_SLACK = 1.0 - 1e-10


@dataclass(frozen=True)
class Witness:
    """U with its certified numbers (see the module).

    Attributes
    ----------
    matrix
        U, (k, N); rows sum to 0 exactly, rows that are not used are 0.
    theta
        W_v•U_v ≥ θ‖U_v‖₁ for every row.
    gain
        At most W•U.
    size
        At least γ₂*(U).
    centre
        q, (N,): the column weights that prove ``size``, their sum 1.
    spreads
        (2, N): D_x/θ' of pairs ν ± M̃_v/2, and of pairs ν + M̃_v, ν.
    rows
        p, (k,): the row weights that prove ``size``, their sum 1.
    """

    matrix: FloatArray
    theta: float
    gain: float
    size: float
    centre: FloatArray
    spreads: FloatArray
    rows: FloatArray

    @property
    def strength(self) -> float:
        """At most G = W•U/γ₂*(U)."""
        return below(self.gain / self.size, 2) if self.size > 0.0 else 0.0

    def share(self, theta: float, protocol: Protocol = "non-interactive") -> float:
        """φ of the pairs of half-gap θ' around a centre; 0 where there are none."""
        q, D = self._ordered[protocol]
        if theta * D[0] >= 1.0 or self.strength <= 0.0:
            return 0.0
        return min(max(float(((1.0 - theta * D[1:]) / q).min()) * _SHARE_SLACK, 0.0), 1.0)

    @cached_property
    def _ordered(self) -> dict[str, tuple[FloatArray, FloatArray]]:
        """Sums of q over the lines of the smallest D/q, and of D over the others (first over all)."""
        sums = {}
        for protocol, D in zip(PROTOCOLS, self.spreads, strict=True):
            order = np.argsort(D / np.maximum(self.centre, np.finfo(float).tiny))
            rest = np.concatenate([np.cumsum(D[order][::-1])[::-1], [0.0]])
            sums[str(protocol)] = (np.maximum(np.cumsum(self.centre[order]), np.finfo(float).tiny), rest)
        return sums

    def row_mass(self, theta: float) -> float:
        """At least the largest ‖λ_v − μ_v‖₁ of the pairs of half-gap θ' ≤ θ: 2θ'/a_v ≤ 2θ'/θ."""
        return min(above(2.0 * theta / self.theta, 4), 2.0)

    def norm(self, theta: float) -> float:
        """At least ‖M̃‖_{∞→L2(π̂)} of the pairs of half-gap θ'."""
        return above(2.0 * theta / self.strength, 4) if self.strength > 0.0 else math.inf


def certify(
    workload: Any,
    dual_matrix: FloatArray,
    theta: float,
    *,
    weights: tuple[FloatArray, FloatArray] | None = None,
    gap: float = 1e-4,
) -> Witness:
    """The certificate that a dual matrix gives once it is made feasible.

    Rows with W_v•U_v < 0 are negated; rows that then miss θ are left out.

    Parameters
    ----------
    workload
        W, (k, N); the bound holds for this matrix of doubles.
    dual_matrix
        U, (k, N), any numbers: they decide how good the bound is, not whether it holds.
    theta
        The half-gap asked for, above 0.
    weights
        Positive weights of rows and columns that bound γ₂*(U); it is solved to ``gap`` where there are none.
    """
    W = checked_matrix("workload", workload)
    U = checked_matrix("dual_matrix", dual_matrix)
    if U.shape != W.shape:
        raise BadValue("shape of dual_matrix", U.shape, f"be the workload's, {W.shape}", "give one row per query")
    if not 0.0 < theta < math.inf:
        raise BadValue("theta", theta, "be a finite number above 0", "give for example 0.1")
    if not U.any():
        return nothing(W.shape, theta)
    U = feasible(around(W, 0.0, shifted=True), U)
    gains, masses = _row_numbers(W, U)
    flip = (gains < 0.0) & (np.einsum("ij,ij->i", W, U) < 0.0)
    U[flip] *= -1.0
    gains, masses = _row_numbers(W, U)
    used = (masses > 0.0) & (gains >= theta * (1.0 - _ROW_TOLERANCE) * masses)
    U[~used] = 0.0
    if not used.any():
        return nothing(W.shape, theta)
    proved = below(float((gains[used] / masses[used]).min()), 2)
    gain = below(math.fsum(gains[used].tolist()), 2)
    if weights is None:
        found = dual_norm(U, gap=gap)
        size, p, q = found.upper, found.row_scales**2, found.column_scales**2
    else:
        size, (p, q) = upper_bound(U, *weights), weights
    return Witness(U, proved, gain, size, q / q.sum(), _spreads(U[used], gains[used]), p / p.sum())


def nothing(shape: tuple[int, int], theta: float) -> Witness:
    """The certificate that proves nothing."""
    k, N = shape
    return Witness(np.zeros((k, N)), theta, 0.0, 0.0, np.full(N, 1.0 / N), np.zeros((2, N)), np.full(k, 1.0 / k))


def _row_numbers(W: FloatArray, U: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Numbers at most W_v•U_v, and the exact ‖U_v‖₁ (sums of whole multiples of one power of two)."""
    size = np.einsum("ij,ij->i", np.abs(W), np.abs(U))
    error = 2.0 * gamma(W.shape[1] + 3) * size
    value = np.einsum("ij,ij->i", W, U) - error
    return value - np.abs(value) * (2.0 * _UNIT), np.abs(U).sum(axis=1)


def _spreads(U: FloatArray, gains: FloatArray) -> FloatArray:
    """max_v |U_vx|/(W_v•U_v) and, of U or −U whichever is less in sum, max_v 2U⁻_vx/(W_v•U_v)."""
    rows = U / gains[:, None]
    sides = [2.0 * np.maximum(sign * rows, 0.0).max(axis=0) for sign in (1.0, -1.0)]
    return np.array([np.abs(rows).max(axis=0), min(sides, key=lambda side: float(side.sum()))])
