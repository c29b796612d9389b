r"""Diagonals of roots of a tridiagonal matrix, between bounds, in O(n · shifts).

A :class:`Chain` stands for T = D_c^{−1/2} L₀ D_c^{−1/2}, with L₀ the Laplacian of the resistors e (see
:mod:`factormech.norms.structured.chain_kernels`), so that (T + s)⁻¹ = D_c^{1/2} L_s⁻¹ D_c^{1/2}. With the rule
t^{−1/2} ≈ Σ_k ω_k/(t + s_k) of :mod:`factormech.norms.structured.elliptic`,

.. math:: (T^{-1/2})_{ii} / c_i \approx \sum_k \omega_k (L_{s_k}^{-1})_{ii} .

Where the chain ends at node n (``end`` infinite), L₀ = Bᵀ D_e⁻¹ B with B bidiagonal. Then T = FᵀF for
F = D_e^{−1/2} B D_c^{−1/2}, and of (FFᵀ)^{−1/2}, whose spectrum is the same, the chain gives the diagonal too:

.. math:: ((FF^T)^{-1/2})_{jj} / e_j \approx \sum_k \frac{\omega_k}{s_k (x_j + R_j)},

since (FFᵀ + s)⁻¹ = (I − F(T + s)⁻¹Fᵀ)/s, and F(T + s)⁻¹Fᵀ at j is the resistance between the ends of the branch j
over e_j: that of e_j in parallel with the rest, x_j − e_j + R_j.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from factormech.arrays import FloatArray
from factormech.errors import BadValue
from factormech.norms.structured.elliptic import ROUNDINGS, ResolventSum, inverse_square_root
from factormech.numerics.rounding import growth

# Outside, products of three such numbers and a shift might leave the floats.
_SMALLEST, _LARGEST = 1e-60, 1e60


@dataclass(frozen=True)
class Chain:
    """Resistors e_1 … e_n from the ground through nodes 1 … n, leaks c_1 … c_n, and the resistor at the far end."""

    resistances: FloatArray
    leaks: FloatArray
    end: float = math.inf

    def __post_init__(self) -> None:
        for name, values in (("resistances", self.resistances), ("leaks", self.leaks)):
            low, high = float(values.min()), float(values.max())
            if not _SMALLEST <= low <= high <= _LARGEST:
                rule = f"lie between {_SMALLEST:g} and {_LARGEST:g}"
                raise BadValue(name, (low, high), rule, "scale the weights, or mix in a floor")

    @property
    def size(self) -> int:
        return self.leaks.size

    def spectrum(self) -> tuple[float, float]:
        """Bounds μ ≤ T ≤ L of the spectrum, rounded outward by far.

        L: twice the largest diagonal entry of D_c⁻¹L₀, which bounds its row sums. 1/μ: the trace
        Σ_i c_i (L₀⁻¹)_{ii}, where (L₀⁻¹)_{ii} is at most the resistance from node i to the ground on its left.
        """
        e, c = self.resistances, self.leaks
        beyond = np.append(1.0 / e[1:], 1.0 / self.end)
        highest = 2.0 * float(((1.0 / e + beyond) / c).max())
        trace = float(np.dot(c, np.cumsum(e)))
        outward = growth(4.0 * self.size + 20.0)
        return 1.0 / (trace * outward), highest * outward


@dataclass(frozen=True)
class Diagonals:
    """``nodes`` and ``loops``: diagonals of T^{−1/2} over c and of (FFᵀ)^{−1/2} over e.

    Each number times and over ``slack`` encloses the true one.
    """

    nodes: FloatArray
    loops: FloatArray
    slack: float
    shifts: int


def diagonals(chain: Chain, tolerance: float) -> Diagonals:
    """Both diagonals, with a quadrature error of at most ``tolerance``; ``loops`` only if the end is open."""
    from factormech.norms.structured import chain_kernels

    rule = inverse_square_root(*chain.spectrum(), tolerance)
    nodes, loops = np.empty(chain.size), np.empty(chain.size)
    s, omega = in_lanes(rule)
    chain_kernels.diagonals(chain.resistances, chain.leaks, chain.end, s, omega, nodes, loops)
    return Diagonals(nodes, loops, _slack(rule, chain.size), rule.shifts.size)


def mirrored_diagonals(resistances: FloatArray, tolerance: float) -> Diagonals:
    """The same of the chain whose leaks are its resistances in reverse: ``loops`` is ``nodes`` in reverse."""
    from factormech.norms.structured import chain_kernels

    chain = Chain(resistances, resistances[::-1])
    rule = inverse_square_root(*chain.spectrum(), tolerance)
    nodes = np.empty(chain.size)
    chain_kernels.mirrored_diagonal(resistances, *in_lanes(rule), nodes)
    return Diagonals(nodes, nodes[::-1], _slack(rule, chain.size), rule.shifts.size)


def in_lanes(rule: ResolventSum) -> tuple[FloatArray, FloatArray]:
    """Shifts and weights, filled up with terms of weight 0 to a whole number of the kernels' lanes."""
    from factormech.norms.structured.chain_kernels import LANES

    missing = -rule.shifts.size % LANES
    shifts = np.concatenate([rule.shifts, np.full(missing, rule.shifts[-1])])
    return shifts, np.concatenate([rule.weights, np.zeros(missing)])


def _slack(rule: ResolventSum, n: int) -> float:
    """What the rule and the roundings can change: 5 a node, 8 to form a term, and a sum over the shifts."""
    roundings = 5.0 * n + rule.shifts.size + 12.0 + 4.0 * ROUNDINGS
    # 1/(1 − δ) exceeds 1 + δ: it is the larger of the two sides.
    return growth(roundings) / (1.0 - rule.relative_error) * growth(3.0)
