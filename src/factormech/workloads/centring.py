"""What centring does to a spectrum, where the eigenvectors are known only by their sums."""

from __future__ import annotations

import numpy as np

from factormech.arrays import FloatArray, IntArray
from factormech.numerics.roots import bisect_each

# Poles × roots that are evaluated at a time.
BLOCK = 2**22


def centred_eigenvalues(eigenvalues: FloatArray, weights: FloatArray) -> FloatArray:
    r"""The n eigenvalues of PGP, P = I − 11ᵀ/n, from those of G and the squared coordinates of 1/√n.

    ``eigenvalues`` λ ≥ 0 and ``weights`` w_i = (v_iᵀ1)²/n, v_i the orthonormal eigenvectors, have shape (n,).
    PGP has the eigenvalues of the rank-one change Λ^{1/2}(I − √w√wᵀ)Λ^{1/2}: 0, for the vector 1; each λ_i of
    no weight, and all but one of each group of equal λ's; and the roots of the secular function
    f(μ) = Σ w_i/(λ_i − μ), one between every two neighbours of the other λ's, as f rises from −∞ to ∞ there.
    The roots are found by bisection, all at once: O(n²) for each of about 50 steps, against O(n³) of the
    dense matrix.
    """
    order = np.argsort(eigenvalues)
    values, w = eigenvalues[order], weights[order] / weights.sum()
    eps = np.finfo(float).eps
    # Closer than rounding is equal: merged into one pole, the others of the group stay where they are.
    starts = np.flatnonzero(np.diff(values, prepend=-np.inf) > 4 * eps * values[-1])
    mass = np.add.reduceat(w, starts)
    # A weight of eps² moves nothing by more than eps times the largest eigenvalue.
    live = mass > (10 * eps) ** 2
    poles = values[starts[live]]
    stay = np.delete(values, starts[live])
    return np.concatenate([stay, _roots(poles, mass[live]), [0.0]])


def _roots(poles: FloatArray, mass: FloatArray) -> FloatArray:
    """The root of Σ mass/(pole − μ), which rises, between every two neighbouring poles, to rounding."""
    step, accuracy = max(1, BLOCK // len(poles)), np.finfo(float).eps * poles[-1]

    def beyond(x: FloatArray, which: IntArray | slice) -> FloatArray:
        return np.asarray((1.0 / (poles - x[:, None])) @ mass >= 0.0)

    found = [np.empty(0)]
    for first in range(0, len(poles) - 1, step):
        low, high = bisect_each(beyond, poles[first:-1][:step], poles[first + 1 :][:step], accuracy)
        found.append(0.5 * (low + high))
    return np.concatenate(found)
