r"""Compiled recurrences on a chain of resistors, without a subtraction: right to a few roundings a node.

Importing this module imports numba, so its users import it where they need it.

The chain: nodes 1 … n; a resistor e_j joins node j − 1 to node j, where node 0 is grounded; node i leaks to the
ground through the conductance s·c_i; the resistor ``end`` (infinite: none) joins node n to the ground. L_s is the
tridiagonal matrix of the chain, (L_s y)_i = (y_i − y_{i−1})/e_i + (y_i − y_{i+1})/e_{i+1} + s c_i y_i. With x_j the
resistance seen from node j through e_j, and R_i that of all that lies at node i and to its right,

.. math:: x_{j+1} = e_{j+1} + \frac{x_j}{1 + s c_j x_j}, \quad
          R_i = \frac{e_{i+1} + R_{i+1}}{1 + s c_i (e_{i+1} + R_{i+1})}, \quad
          (L_s^{-1})_{ii} = \frac{x_i R_i}{x_i + R_i},

and 1/(x_j + R_j) is the conductance of the loop that a source in the branch j sees. A step costs at most five
roundings and does not enlarge the relative errors that it receives (every map here is increasing and, in its
logarithm, of slope at most 1), so that x_j, R_j and what is formed of them are right to 5n + 8 roundings.

Eight shifts s run side by side: the recurrence is a chain of divisions, whose delay the eight lanes hide.
"""

from __future__ import annotations

import numpy as np

from factormech.arrays import FloatArray
from factormech.compiled import compiled

LANES = 8


@compiled(error_model="numpy")
def left_resistances(e: FloatArray, c: FloatArray, s: FloatArray, x: FloatArray) -> None:
    """x[j, lane] = x_{j+1} of the chain with the shift s[lane]; x is (n, LANES)."""
    for lane in range(LANES):
        x[0, lane] = e[0]
    for j in range(1, e.size):
        e_j, c_j = e[j], c[j - 1]
        for lane in range(LANES):
            v = x[j - 1, lane]
            x[j, lane] = e_j + v / (1.0 + s[lane] * c_j * v)


@compiled(error_model="numpy")
def eight(v: FloatArray) -> float:
    """The sum of the eight lanes."""
    return float(((v[0] + v[4]) + (v[1] + v[5])) + ((v[2] + v[6]) + (v[3] + v[7])))


@compiled(error_model="numpy")
def add_diagonals(
    e: FloatArray,
    c: FloatArray,
    end: float,
    s: FloatArray,
    omega: FloatArray,
    x: FloatArray,
    nodes: FloatArray,
    loops: FloatArray,
) -> None:
    """Add Σ ω/(1/x_i + 1/R_i) to ``nodes`` and Σ (ω/s)/(x_j + R_j) to ``loops``, over eight shifts."""
    n = e.size
    y, first, second = np.full(LANES, end), np.empty(LANES), np.empty(LANES)
    ratio = omega / s
    for i in range(n - 1, -1, -1):
        c_i, e_i = c[i], e[i]
        for lane in range(LANES):
            R = 1.0 / (s[lane] * c_i + 1.0 / y[lane])
            v = x[i, lane]
            loop = 1.0 / (v + R)
            first[lane] = omega[lane] * (v * R * loop)
            second[lane] = ratio[lane] * loop
            y[lane] = e_i + R
        nodes[i] += eight(first)
        loops[i] += eight(second)


@compiled(error_model="numpy")
def diagonals(
    e: FloatArray, c: FloatArray, end: float, s: FloatArray, omega: FloatArray, nodes: FloatArray, loops: FloatArray
) -> None:
    """Σ_k ω_k diag(L_{s_k}⁻¹) and Σ_k (ω_k/s_k)/(x_j + R_j); the number of shifts is a multiple of LANES."""
    x = np.empty((e.size, LANES))
    nodes[:] = 0.0
    loops[:] = 0.0
    for k in range(0, s.size, LANES):
        shifts = s[k : k + LANES].copy()
        left_resistances(e, c, shifts, x)
        add_diagonals(e, c, end, shifts, omega[k : k + LANES].copy(), x, nodes, loops)


@compiled(error_model="numpy")
def mirrored_diagonal(e: FloatArray, s: FloatArray, omega: FloatArray, nodes: FloatArray) -> None:
    """``nodes`` of the chain with c_i = e_{n+1−i} and no end: there 1/R_i = s x_{n+1−i}, and one recurrence does."""
    n = e.size
    x, c = np.empty((n, LANES)), e[::-1].copy()
    near, far = np.empty(LANES), np.empty(LANES)
    nodes[:] = 0.0
    for k in range(0, s.size, LANES):
        shifts, weights = s[k : k + LANES].copy(), omega[k : k + LANES].copy()
        left_resistances(e, c, shifts, x)
        for i in range((n + 1) // 2):
            opposite = n - 1 - i
            for lane in range(LANES):
                v, w = x[i, lane], x[opposite, lane]
                factor = weights[lane] / (1.0 + shifts[lane] * v * w)
                near[lane] = factor * v
                far[lane] = factor * w
            nodes[i] += eight(near)
            if opposite != i:
                nodes[opposite] += eight(far)


@compiled(error_model="numpy")
def norton(e: FloatArray, c: FloatArray, s: FloatArray, resistance: FloatArray, share: FloatArray) -> None:
    """P_i = x_i/(1 + s c_i x_i), and P_i/x_{i+1} (the last one unused)."""
    for lane in range(LANES):
        x = e[0]
        for i in range(e.size):
            P = x / (1.0 + s[lane] * c[i] * x)
            resistance[i, lane] = P
            x = (e[i + 1] if i + 1 < e.size else 0.0) + P
            share[i, lane] = P / x


@compiled(error_model="numpy")
def add_solutions(
    e: FloatArray, c: FloatArray, end: float, s: FloatArray, omega: FloatArray, b: FloatArray, y: FloatArray
) -> None:
    """y += Σ_k ω_k L_{s_k}⁻¹ b, for every row b of (columns, n): vectors lie contiguous.

    Node i and all to its left act on the right as a current I_i = b_i + I_{i−1} P_{i−1}/x_i beside a resistance P_i;
    from the right, y_i = (P_i/x_{i+1})(e_{i+1} I_i + y_{i+1}). Nothing is subtracted if b ≥ 0.
    """
    n = e.size
    current = np.empty((n, LANES))
    resistance, share = np.empty((n, LANES)), np.empty((n, LANES))
    v, term = np.empty(LANES), np.empty(LANES)
    for k in range(0, s.size, LANES):
        shifts, weights = s[k : k + LANES].copy(), omega[k : k + LANES].copy()
        norton(e, c, shifts, resistance, share)
        for column in range(b.shape[0]):
            for lane in range(LANES):
                current[0, lane] = b[column, 0]
            for i in range(1, n):
                b_i = b[column, i]
                for lane in range(LANES):
                    current[i, lane] = b_i + current[i - 1, lane] * share[i - 1, lane]
            for lane in range(LANES):
                v[lane] = current[n - 1, lane] / (1.0 / resistance[n - 1, lane] + 1.0 / end)
                term[lane] = weights[lane] * v[lane]
            y[column, n - 1] += eight(term)
            for i in range(n - 2, -1, -1):
                e_i = e[i + 1]
                for lane in range(LANES):
                    v[lane] = share[i, lane] * (e_i * current[i, lane] + v[lane])
                    term[lane] = weights[lane] * v[lane]
                y[column, i] += eight(term)
