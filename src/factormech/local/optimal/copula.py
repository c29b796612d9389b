r"""Random sets whose indicators are correlated like a given matrix: thresholds of Gaussian vectors.

For g ~ N(0, R), R of unit diagonal, let S = {u : g_u > τ}, τ = Φ⁻¹(1−β). Every type is in S with probability β, and

.. math:: \operatorname{Cov}(1_{u\in S}, 1_{w\in S}) = \int_0^{\arcsin R_{uw}} \frac{e^{-\tau^2/(1+\sin t)}}{2\pi}\,dt

(Plackett's formula). Solving this for R, entry by entry, gives the indicators the correlations of the target, except
those below −β/(1−β), which no sets of this density have (R = −1 there), and up to the part of R that is not positive
semidefinite. β = 1/(a+1) is the density at which a row says most.
"""

from __future__ import annotations

from statistics import NormalDist

import numpy as np

from factormech.arrays import FloatArray
from factormech.local.optimal.frame import Frame, Real, block_matrices
from factormech.local.optimal.problem import BoolArray

_TABLE = 4097
_AT_ONCE = 4096


def sample(
    frame: Frame, target: tuple[FloatArray, ...], epsilon: float, count: int, rng: np.random.Generator
) -> BoolArray:
    """``count`` random sets, (count, n); ∅ and the whole domain may be among them."""
    n = frame.domain_size
    beta = min(max(1.0 / (np.exp(epsilon) + 1.0), 1.0 / n), 0.5)
    tau = NormalDist().inv_cdf(1.0 - beta)
    roots = [_root(block) for block in block_matrices(_correlation(frame.whole(target), beta, tau), frame.symmetric)]
    size = np.sqrt(_variances(frame, roots))
    sets = np.empty((count, n), dtype=np.bool_)
    for start in range(0, count, _AT_ONCE):
        rows = min(_AT_ONCE, count - start)
        parts = [rng.standard_normal((rows, root.shape[1]), dtype=np.float32) @ root.T for root in roots]
        sets[start : start + rows] = frame.joined(tuple(parts)) > tau * size
    return sets


def _correlation(target: FloatArray, beta: float, tau: float) -> FloatArray:
    """R of the Gaussian vector; not yet positive semidefinite."""
    size = np.sqrt(np.maximum(np.diagonal(target), 0.0))
    live = size > 1e-7 * size.max(initial=0.0)
    size = np.where(live, size, np.inf)
    wanted = target / size[:, None]
    wanted /= size
    R = _inverted(wanted, beta, tau)
    np.fill_diagonal(R, 1.0)
    return R


def _inverted(correlation: FloatArray, beta: float, tau: float) -> FloatArray:
    """R for each correlation of the indicators: the integral is tabulated in R = sin t and read backwards."""
    t = np.linspace(-0.5 * np.pi, 0.5 * np.pi, _TABLE)
    density = np.exp(-(tau**2) / np.maximum(1.0 + np.sin(t), 1e-300)) / (2.0 * np.pi)
    steps = 0.5 * (density[1:] + density[:-1]) * np.diff(t)
    table = np.concatenate([[0.0], np.cumsum(steps)])
    table = (table - table[_TABLE // 2]) / (beta * (1.0 - beta))
    rising = np.concatenate([[True], np.diff(table) > 0.0])
    angle = np.interp(correlation.ravel(), table[rising], t[rising], left=-0.5 * np.pi, right=0.5 * np.pi)
    return np.asarray(np.sin(angle).reshape(correlation.shape))


def _root(R: FloatArray) -> Real:
    """A root of the positive part of R, single precision."""
    values, vectors = np.linalg.eigh(R)
    keep = values > 1e-10 * max(float(values[-1]), 0.0)
    return np.asarray(vectors[:, keep] * np.sqrt(values[keep]), dtype=np.float32)


def _variances(frame: Frame, roots: list[Real]) -> Real:
    """The variance of each coordinate of the Gaussian vector, which clipping has changed."""
    if len(roots) == 1:
        return np.asarray(np.einsum("ur,ur->u", roots[0], roots[0]))
    n = frame.domain_size
    even, odd = (np.einsum("ur,ur->u", root, root) for root in roots)
    half = 0.5 * (even[: n // 2] + odd)
    return np.concatenate([half, even[n // 2 :], half[::-1]])
