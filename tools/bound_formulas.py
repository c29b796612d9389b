"""What the weights of a lower bound prove, in floats, for ``verify_strategies.py``; no code is of the package."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

Array = np.ndarray[Any, np.dtype[Any]]


def bound_value(C: Array, epsilon: float, data: dict[str, Array], omega: float) -> float:
    """n/B [tr (C^(1/2) Y C^(1/2))^(1/2)]^2, Y = P(Diag p - N - gg'/omega)P, which no tr(X_c^+ C) is below.

    p weighs the types and N, where there is one, the pairs; g = p - 2 N1/(e^epsilon + 1).
    """
    p, n, a = data["bound_weights"], len(C), math.exp(epsilon)
    mass = float(p.sum())
    if not (mass > 0.0 and omega > 0.0):
        raise ValueError("weights that prove nothing")
    if "bound_pairs" not in data:
        p = p / mass
        omega = max(min(omega, 4.0 * a / (1.0 + a) ** 2), 1.0 - n**2 / float(np.sum(1.0 / p)))
        return n * root_trace(C, np.diag(p), p, omega) ** 2 / types_limit(n, a, omega)
    N = data["bound_pairs"]
    if not (N.min() >= 0.0 and np.array_equal(N, N.T) and not np.diagonal(N).any()):
        raise ValueError("pairs are no weights")
    p, N, omega = p / mass, N / mass, omega
    g = p - 2.0 / (a + 1.0) * N.sum(axis=1)
    return n * root_trace(C, np.diag(p) - N, g, omega) ** 2 / pairs_limit(n, a, omega, float(N.sum()))


def root_trace(C: Array, form: Array, g: Array, omega: float) -> float:
    """The sum of the roots of the positive eigenvalues of R'YR, RR' = C."""
    values, vectors = np.linalg.eigh(C)
    R = vectors * np.sqrt(np.maximum(values, 0.0))
    Rg = R.T @ (g - g.mean())
    found = np.linalg.eigvalsh(R.T @ form @ R - np.outer(Rg, Rg) / omega)
    return float(np.sum(np.sqrt(found[found > 1e-14 * found[-1]])))


def types_limit(n: int, a: float, omega: float) -> float:
    """B without pairs: from the two best sizes of a set."""
    if omega > 4.0 * a / (1.0 + a) ** 2 * (1.0 + 1e-9):
        raise ValueError("omega is too large")
    k = np.array([math.floor(n / (a + 1.0)), math.floor(n / (a + 1.0)) + 1])
    few, many = (a - 1.0) ** 2 * k * (n - k) / (n + (a - 1.0) * k) ** 2
    spread = omega * float(np.diff(n * (a + 1.0) / (2.0 * (n - k + k * a)))[0]) ** 2
    w = min(max(0.5 + (many - few) / (2.0 * spread), 0.0), 1.0)
    return float((1.0 - w) * few + w * many + spread * w * (1.0 - w))


def pairs_limit(n: int, a: float, omega: float, nu: float) -> float:
    """B with pairs: the largest E phi(tau) + omega Var tau over two neighbouring sizes, or the two outermost.

    phi(tau) = 2 tau - 1 - tau^2/c^2 + nu (1 - kappa tau)^2, c = cosh(epsilon/2), kappa = 2/(a + 1).
    """
    j = np.arange(1, n)
    tau = n * (a + 1.0) / (2.0 * (n - j + j * a))
    phi = 2.0 * tau - 1.0 - 4.0 * a / (1.0 + a) ** 2 * tau**2 + nu * (1.0 - 2.0 / (a + 1.0) * tau) ** 2
    best = float(phi.max())
    for i, k in [*zip(range(n - 2), range(1, n - 1), strict=True), (0, n - 2)]:
        spread = omega * (tau[k] - tau[i]) ** 2
        w = min(max(0.5 + (phi[k] - phi[i]) / (2.0 * spread), 0.0), 1.0) if spread > 0.0 else 0.0
        best = max(best, float((1.0 - w) * phi[i] + w * phi[k] + spread * w * (1.0 - w)))
    return best
