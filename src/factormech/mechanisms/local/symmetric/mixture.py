r"""Weights of a pool of patterns, and a lower bound for spectra that depend on the size of a parity only.

**The best weights.** They minimise Σ_j s_j²/y_j, y = Σ_f p_f w_f, over distributions p. Column f of ``profiles`` is
w_f ≥ 0. A logarithmic barrier −μΣ log p_f and Newton steps in the plane Σp = 1, for pools of a few hundred patterns;
the value found is within μ·(number of patterns) of the optimum.

**The lower bound.** For t_j ≥ 0, 0 ≤ Σ_χ g_χ(1/√x_χ − t_χ√x_χ)² gives Σ g/x ≥ 2Σ g_χt_χ − Σ g_χt_χ²x_χ. By
``optimal/problem.py`` and averaging over translations, x is a mixture of the profiles of sets S, so with w_j(S) the
sum of Ŝ(χ)² over |χ| = j, C_j = C(d, j), β = |S|/n, c(β) = (a−1)/(1+(a−1)β) and the best scale of t,

.. math:: \operatorname{tr}(X_c^+C) \;\ge\; \Bigl(\sum_j C_jg_jt_j\Bigr)^2 \Big/
          \max_S\; c(\beta)^2\sum_j \tau_j w_j(S), \qquad \tau_j = g_jt_j^2 ,

for every ε-LDP strategy (averaged over the group X is diagonal, and tr(X_c⁺C) is convex). The maximum over S is
bounded, for each size of S up to n/2 (its complement has the same w and a smaller c), by linear programming
(Delsarte, *Philips Research Reports Supplement* 10, 1973) with what every set satisfies:

* Parseval: Σ_{j≥1} w_j = β − β²;
* the chance R_i that two points at a uniform distance-i pair both lie in S, R_i = β² + Σ_j w_jK_i(j)/C_i with the
  Krawtchouk polynomials K, is at least 0 and at most β·min(1, (|S|−1)/C_i);
* Harper's edge-isoperimetric inequality: d·R_1 ≤ β log₂|S|;
* the Bonami–Beckner inequality: β² + Σ ρ^j w_j ≤ β^{2/(1+ρ)}.

Multipliers y ≥ 0 of the inequalities and e of the equality prove Στ_jw_j ≤ eβ(1−β) + Σ y·(right-hand side at β) for
**every** β once e is large enough for each j; so each programme solved serves its neighbours too, all sizes |S| ≤ n/2
are walked through, and errors of the programme's solver can only weaken the bound.
"""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass

import numpy as np

from factormech.arrays import FloatArray, IntArray
from factormech.numerics.descent import backtracked, room

# The best weights.

_ROUNDS = 60
_FLOOR = 1e-14  # relative: keeps y positive while some pattern of the pool has it positive


def best_weights(profiles: FloatArray, squares: FloatArray, tolerance: float = 1e-10) -> tuple[FloatArray, float]:
    """The weights (f,) and the value; ``squares`` is s², of the rows of ``profiles``, zero rows left out."""
    asked = squares > 0
    P, s2 = profiles[asked], squares[asked]
    P = np.maximum(P, _FLOOR * P.max(axis=1, keepdims=True))
    p = np.full(P.shape[1], 1.0 / P.shape[1])
    if P.shape[1] == 1:
        return p, _value(P, s2, p)
    mu = 0.1 * _value(P, s2, p) / len(p)
    for _ in range(_ROUNDS):
        for _ in range(4):
            p, decrement = _newton(P, s2, p, mu)
            if decrement <= 0.1 * mu:
                break
        if mu * len(p) <= tolerance * _value(P, s2, p):
            break
        mu *= 0.3
    p /= p.sum()
    return p, _value(P, s2, p)


def _value(P: FloatArray, s2: FloatArray, p: FloatArray) -> float:
    return float(np.sum(s2 / (P @ p)))


def _newton(P: FloatArray, s2: FloatArray, p: FloatArray, mu: float) -> tuple[FloatArray, float]:
    """One damped step, in the variables p'/p so that the system stays well scaled."""
    y = P @ p
    B = P * p
    gradient = -(B.T @ (s2 / y**2)) - mu
    H = (B.T * (2.0 * s2 / y**3)) @ B
    H[np.diag_indices_from(H)] += mu
    solved = np.linalg.solve(H, np.column_stack([gradient, p]))
    multiplier = float(p @ solved[:, 0]) / float(p @ solved[:, 1])
    step = multiplier * solved[:, 1] - solved[:, 0]
    decrement = -float(gradient @ step)
    before = _barrier(P, s2, p, mu)

    def attempt(length: float) -> tuple[float, FloatArray]:
        q = p * (1.0 + length * step)
        return _barrier(P, s2, q, mu), q

    length = room(step, 0.99)
    found = backtracked(attempt, before, 0.0, length=length, noise=1e-13 * abs(before))
    return (found[2], decrement) if found else (p, 0.0)


def _barrier(P: FloatArray, s2: FloatArray, p: FloatArray, mu: float) -> float:
    return _value(P, s2, p) - mu * float(np.log(p).sum())


# The lower bound.

_NOISE = np.array([0.1, 0.2, 0.35, 0.5, 0.65, 0.8, 0.9])  # ρ
_GRID = 60
_CUT_ROUNDS = 15
_TOLERANCE = 1e-4
_SHAVE = 1e-9  # relative: far above the rounding of the sums that make the bound


@dataclass(frozen=True)
class Multipliers:
    """e and y of one programme, in the order of ``Sets.matrix``."""

    equality: float
    inequalities: FloatArray


class Sets:
    """The constraints on the profiles (w_1, …, w_d) of sets of a given size."""

    def __init__(self, attributes: int) -> None:
        d = self.d = attributes
        self.n = 2.0**d
        j = np.arange(d + 1)
        self.counts = np.array([math.comb(d, i) for i in j], dtype=float)
        rows = [[float(_krawtchouk(d, i, k)) for k in range(1, d + 1)] for i in range(1, d + 1)]
        correlation = np.array(rows) / self.counts[1:, None]
        self.matrix = np.vstack([-correlation, correlation, d * correlation[:1], _NOISE[:, None] ** j[1:]])

    def right(self, sizes: IntArray) -> FloatArray:
        """Right-hand sides divided by β, (constraints, sizes): w is solved for divided by β too."""
        k = np.asarray(sizes, dtype=float)
        b = k / self.n
        apart = np.minimum(1.0, (k - 1.0) / self.counts[1:, None]) - b
        edges = np.log2(k) - self.d * b
        noise = b ** (2.0 / (1.0 + _NOISE[:, None]) - 1.0) - b
        return np.vstack([np.tile(b, (self.d, 1)), apart, edges, noise])

    def programme(self, tau: FloatArray, size: int) -> tuple[Multipliers, FloatArray]:
        """Multipliers that bound Στw at this size, and the profile (d + 1,) that seems best."""
        from scipy.optimize import linprog

        scale = float(tau.max())
        b = size / self.n
        objective = tau[1:] / scale
        right = self.right(np.array([size]))[:, 0]
        found = linprog(-objective, self.matrix, right, np.ones((1, self.d)), [1.0 - b], bounds=(0, None))
        profile = np.zeros(self.d + 1)
        if found.status != 0:  # Parseval alone
            return Multipliers(scale, np.zeros(len(right))), profile
        y = np.maximum(-found.ineqlin.marginals, 0.0)
        profile[1:] = np.maximum(found.x, 0.0) * b
        return Multipliers(scale * float(np.max(objective - y @ self.matrix)), scale * y), profile

    def ceiling(self, multipliers: Multipliers, sizes: IntArray) -> FloatArray:
        """The bound of Στw that these multipliers prove, at each size."""
        b = np.asarray(sizes, dtype=float) / self.n
        return np.asarray(b * (multipliers.equality * (1.0 - b) + multipliers.inequalities @ self.right(sizes)))


def lower_bound(level_spectrum: FloatArray, epsilon: float) -> float:
    """Return a lower bound on tr(X_c⁺C) of every ε-LDP strategy; ``level_spectrum`` is g_j, (d + 1,), g_0 unused."""
    g = np.array(level_spectrum, dtype=float)
    g[0] = 0.0
    sets = Sets(len(g) - 1)
    s2 = (sets.counts**2) * g
    asked = s2 > 0
    if not asked.any():
        return 0.0
    sizes = _grid(sets.n, epsilon)
    y = np.sqrt(s2) / np.sqrt(s2).sum()  # the mixture that Parseval alone would allow
    pool = _single_levels(sets, np.flatnonzero(asked), sizes[:: max(1, len(sizes) // 4)], epsilon)
    best = 0.0
    for _ in range(_CUT_ROUNDS):
        tau = np.zeros_like(s2)
        tau[asked] = s2[asked] / np.maximum(y[asked], 1e-12) ** 2
        solved = [sets.programme(tau, int(k)) for k in sizes]
        top, worst = _largest(sets, [m for m, _ in solved], sizes, epsilon)
        best = max(best, float(np.sum(s2[asked] / np.maximum(y[asked], 1e-12))) ** 2 / top)
        profiles = [w * _scale(k / sets.n, epsilon) for (_, w), k in zip(solved, sizes, strict=True)]
        sizes = np.unique(np.append(sizes, worst))
        pool.extend(w for w in profiles if float(tau @ w) > 0.5 * top)
        columns = np.array(pool).T
        weights, value = best_weights(columns, s2)
        y = columns @ weights
        pool = [w for w, p in zip(pool, weights, strict=True) if p > 1e-9]
        if value <= best * (1.0 + _TOLERANCE):
            break
    return best * (1.0 - _SHAVE)


def _grid(n: float, epsilon: float) -> IntArray:
    """Sizes to solve programmes at: the small ones, and a geometric grid up to n/2."""
    low = max(1.0, 0.02 * n * math.exp(-epsilon))
    grid = np.exp(np.linspace(math.log(low), math.log(n / 2), _GRID))
    return np.unique(np.clip(np.round(grid), 1, n // 2).astype(np.int64))


def _largest(sets: Sets, multipliers: list[Multipliers], sizes: IntArray, epsilon: float) -> tuple[float, int]:
    """max over all sizes k ≤ n/2 of c(β)² times the ceiling by the multipliers of the neighbours, and where."""
    top, where = 0.0, 1
    edges = [1, *map(int, sizes), int(sets.n // 2)]
    for i in range(len(edges) - 1):
        near = [multipliers[min(max(t, 0), len(multipliers) - 1)] for t in (i - 1, i)]
        for start in range(edges[i], edges[i + 1] + 1, 2**17):
            k = np.arange(start, min(start + 2**17, edges[i + 1] + 1))
            ceiling = np.minimum(sets.ceiling(near[0], k), sets.ceiling(near[1], k))
            value = ceiling * _scale(k / sets.n, epsilon)
            at = int(value.argmax())
            if value[at] > top:
                top, where = float(value[at]), int(k[at])
    return top, where


def _scale(density: FloatArray | float, epsilon: float) -> FloatArray | float:
    """c(β)²."""
    return (-math.expm1(-epsilon) / (math.exp(-epsilon) - math.expm1(-epsilon) * density)) ** 2


def _single_levels(sets: Sets, levels: IntArray, sizes: IntArray, epsilon: float) -> list[FloatArray]:
    """Return profiles, each with as much as possible on one level, that together cover all requested levels."""
    pool = []
    for j, size in itertools.product(levels, sizes):
        _, profile = sets.programme(np.eye(sets.d + 1)[j], int(size))
        pool.append(profile * _scale(size / sets.n, epsilon))
    return [w for w in pool if w.any()]


def _krawtchouk(d: int, i: int, j: int) -> int:
    """K_i(j): the sum of χ(u) over the u of size i, for a parity χ of size j."""
    return sum((-1) ** t * math.comb(j, t) * math.comb(d - j, i - t) for t in range(i + 1))
