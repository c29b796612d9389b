r"""‖M‖_{∞→L2(π)}: how much of the average squared difference of the pairs any f with |f| ≤ 1 can see.

‖M‖² = max fᵀAf over the cube [−1, 1]^N, A = MᵀΠM ⪰ 0; the maximum is at a corner. Three ways:

- ``exact_norm``: all 2^{N−1} corners up to sign, N ≤ 22;
- ``upper_norm``: semidefinite relaxation, within √(π/2) of it (Nesterov, 1998): max ⟨A, F⟩ over F ⪰ 0 of diagonal at
  most 1 = min 1ᵀy over diag(y) ⪰ A. For any d > 0, y = ‖Π^{½}MD^{−1}‖²d² is feasible, D = diag(d), and its sum
  bounds ‖M‖²; the spectral norm is bounded by a Cholesky factorization with its rounding counted;
- ``lower_norm``: signs from the relaxation's vectors, improved one at a time.

The relaxation is solved by F_ij = ⟨x_i, x_j⟩, x ← Ax normalised (Burer–Monteiro; the form is convex, so it never
falls), with momentum; y_i is the norm of (Ax)_i.
"""

from __future__ import annotations

import math

import numpy as np

from factormech.arrays import FloatArray, check_positive_integer
from factormech.bounds.hard.pairs import HardPairs
from factormech.errors import BadValue
from factormech.numerics.rounding import TINY, above, gamma, spectral_norm_above, squared_norms_above, sum_above

DOMAIN_LIMIT = 22
# Signs that run through Gray's code between two fresh evaluations.
_GRAY_BITS = 10
_CHECK_EVERY = 25
_FLOOR = 1e-12


def exact_norm(family: HardPairs) -> float:
    """‖M‖_{∞→L2(π)} by enumeration, to rounding (about 1e-13)."""
    C = _rooted(family)
    N = C.shape[1]
    if N > DOMAIN_LIMIT:
        raise BadValue("domain size", N, f"be at most {DOMAIN_LIMIT}", "use upper_norm and lower_norm")
    from factormech.bounds.hard.kernels import largest_form

    _, f = largest_form(C.T @ C, min(_GRAY_BITS, N - 1))
    return float(np.linalg.norm(C @ f))


def upper_norm(family: HardPairs, *, gap: float = 1e-4, iterations: int = 3000) -> float:
    """A certified upper bound on ‖M‖_{∞→L2(π)}, within ``gap`` of the relaxation if ``iterations`` allow."""
    return _relaxed(family, gap, iterations)[0]


def lower_norm(family: HardPairs, rng: np.random.Generator, *, rounds: int = 64) -> float:
    """‖Mf‖ of the best corner f found by rounding the relaxation's vectors with ``rounds`` random hyperplanes."""
    check_positive_integer("rounds", rounds)
    C = _rooted(family)
    X = _relaxed(family, 1e-4, 3000)[1]
    f = np.where(X @ rng.standard_normal((X.shape[1], rounds)) >= 0.0, 1.0, -1.0)
    A = C.T @ C
    diagonal = np.diagonal(A)[:, None]
    for _ in range(4 * len(A)):
        gains = diagonal - f * (A @ f)
        best = np.argmax(gains, axis=0)
        better = np.flatnonzero(gains[best, np.arange(rounds)] > 1e-14 * np.trace(A))
        if not len(better):
            break
        f[best[better], better] *= -1.0
    return float(np.linalg.norm(C @ f, axis=0).max())


def _rooted(family: HardPairs) -> FloatArray:
    """Π^{½}M."""
    return np.asarray(np.sqrt(family.weights)[:, None] * family.difference)


def _relaxed(family: HardPairs, gap: float, iterations: int) -> tuple[float, FloatArray]:
    C = _rooted(family)
    used = np.asarray(C.any(axis=0))
    X = np.zeros((len(used), 1))
    if not used.any():
        return 0.0, X
    C = C[:, used]
    upper, vectors = _ascend(C, gap, iterations)
    X = np.zeros((len(used), vectors.shape[1]))
    X[used] = vectors
    return upper, X


def _ascend(C: FloatArray, gap: float, iterations: int) -> tuple[float, FloatArray]:
    N = C.shape[1]
    X = _unit(np.random.default_rng(0).standard_normal((N, math.ceil(math.sqrt(2.0 * N)) + 1)))[0]
    before, value, momentum, best = X, -math.inf, 0, math.inf
    for iteration in range(1, iterations + 1):
        ahead = _unit(X + momentum / (momentum + 3.0) * (X - before))[0]
        before, (X, y) = X, _unit(C.T @ (C @ ahead))
        form = float(np.sum((C @ X) ** 2))
        momentum = momentum + 1 if form >= value else 0
        value = form
        if iteration % _CHECK_EVERY == 0 or iteration == iterations:
            best = min(best, _scaled_norm(C, y))
            if best**2 <= (1.0 + gap) * value:
                break
    return best, X


def _scaled_norm(C: FloatArray, y: FloatArray) -> float:
    """‖CD^{−1}‖·√Σd², d² = y, rounded outward; C and M have three roundings an entry."""
    d = np.sqrt(np.maximum(y, _FLOOR * float(y.mean()) + TINY))
    core = C / d
    error = above(gamma(4) * math.sqrt(sum_above(squared_norms_above(core, 0))), 4) + TINY
    return above((spectral_norm_above(core) + error) * math.sqrt(sum_above(d * d * (1.0 + 4.0 * gamma(1)))), 8)


def _unit(vectors: FloatArray) -> tuple[FloatArray, FloatArray]:
    norms = np.sqrt(np.einsum("ij,ij->i", vectors, vectors))
    return vectors / np.where(norms > 0.0, norms, 1.0)[:, None], norms
