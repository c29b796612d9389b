r"""The bound of ``pairwise.py`` with every rounding accounted for: it holds in exact arithmetic.

Setting: McKenna, Maity, Mazumdar & Miklau (PVLDB 13(11), 2020); the theorem is that of ``pairwise.py``, the method that
of ``rigorous.py``. Let a ≥ e^ε be rational, p floats with exact sum S > 0, N ≥ 0 a symmetric matrix of floats with zero
diagonal, r = N1, g = p − 2r/(a+1), Ω > 0 a float. At ε' = log a the theorem's inequality, for p/S, N/S, Ω/S, says that
for every ε-LDP strategy

.. math:: \operatorname{tr}(X_cY) \le S\,B/n, \qquad Y = P\bigl(\operatorname{Diag} p - N - gg^\top/\Omega\bigr)P ;

that Y be positive semidefinite is not needed for this. B is a maximum over segments of rational functions of a, n,
ω = Ω/S and ν = 1ᵀr/S, which grows with ω and with ν: both are rounded up. With zᵀTCTᵀz ≤ zᵀYz + η‖z‖² for z ⟂ 1 and
tr X_c ≤ σ, as in ``rigorous.py``, tr(X_c⁺C) ≥ tr(TC)²/(SB/n + ησ).
"""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np

from factormech.arrays import FloatArray, check_epsilon
from factormech.bounds import rigorous
from factormech.bounds.rational import RATIO_BITS, exponential_bound, rounded_up
from factormech.errors import BadValue

_UNIT = 2.0**-53
# ω and ν are rounded up to multiples of 2 to minus this.
_BITS = 120
# Relative errors of a sum of floats with one rounding, a rounded factor, a product and two differences.
_GAP_VECTOR = 8.0 * _UNIT
# What the roundings of the error bounds themselves may amount to.
_SLACK = 1.0 + 1e-6


def rigorous_objective(
    centred_gram: FloatArray,
    epsilon: float,
    weights: FloatArray,
    pairs: FloatArray,
    omega: float,
    *,
    entry_error: float = 0.0,
) -> float:
    """A lower bound on tr(X_c⁺C) for every ε-LDP strategy that holds in exact arithmetic; 0 where there is none.

    Parameters
    ----------
    centred_gram
        C, (n, n), symmetric, n ≥ 2.
    epsilon
        The budget, taken as the exact number that it is.
    weights, pairs, omega
        p, (n,), N, (n, n), and ω for Σp_u = 1, such as ``pairwise.solve`` finds.
    entry_error
        How far the entries of PCP may be from those of the centred Gram matrix that is meant.
    """
    C, p, N = (np.asarray(array, dtype=float) for array in (centred_gram, weights, pairs))
    _check(C, p, N, omega, entry_error)
    n, ratio = len(C), rounded_up(exponential_bound(Fraction(check_epsilon(epsilon))), RATIO_BITS)
    scale = float(np.abs(C).max())
    if n < 2 or scale == 0.0:
        return 0.0
    mass = sum((Fraction(float(x)) for x in p), Fraction(0))
    big = float(Fraction(omega) * mass)
    r = np.array([math.fsum(row) for row in N.tolist()])
    g = p - float(2 / (ratio + 1)) * r
    T = dual_guess(C / scale, np.diag(p) - N - np.outer(g, g) / big) / math.sqrt(scale)
    gain = rigorous.trace_below(T, C, entry_error)
    if not gain > 0.0:
        return 0.0
    F, terms, wrong = difference(T, C, p, N, g, big)
    eta = (rigorous.excess_of(F, T, C, terms, entry_error) + wrong) * _SLACK
    nu = Fraction(math.fsum(r.tolist()) * (1.0 + _GAP_VECTOR)) / mass
    limit = mass * information_limit(n, ratio, Fraction(big) / mass, nu) / n
    limit += Fraction(eta) * rigorous.largest_information(n, ratio)
    return math.nextafter(float(Fraction(gain) ** 2 / limit), 0.0)


def information_limit(domain_size: int, ratio: Fraction, omega: Fraction, nu: Fraction) -> Fraction:
    """An upper bound on B, exact but for ω and ν, which are rounded up: over neighbouring sizes, and the outermost."""
    n, a = domain_size, ratio
    w, v = rounded_up(omega, _BITS), rounded_up(nu, _BITS)
    tau = [n * (a + 1) / (2 * (n - j + j * a)) for j in range(1, n)]
    kappa, flatness = 2 / (a + 1), 4 * a / (1 + a) ** 2
    psi = [2 * t - 1 + (w - flatness) * t**2 + v * (1 - kappa * t) ** 2 for t in tau]
    segments = [*((j, j + 1) for j in range(n - 2)), (0, n - 2)]
    return max(_on_segment(tau[i], tau[j], psi[i], psi[j], w) for i, j in segments)


def _on_segment(t: Fraction, s: Fraction, low: Fraction, high: Fraction, omega: Fraction) -> Fraction:
    """The maximum of (1−q)ψ(t) + qψ(s) − ω(t + q(s−t))² over q from 0 to 1."""
    step = s - t
    if step == 0:
        return low - omega * t**2
    q = min(max((high - low - 2 * omega * t * step) / (2 * omega * step**2), Fraction(0)), Fraction(1))
    return (1 - q) * low + q * high - omega * (t + q * step) ** 2


def dual_guess(centred_gram: FloatArray, form: FloatArray) -> FloatArray:
    """T = YRK^{−1/2}R⁺, up to rounding, Y = P·``form``·P."""
    values, vectors = np.linalg.eigh(centred_gram)
    keep = values > len(values) * np.finfo(float).eps * max(float(values[-1]), 0.0)
    R = vectors[:, keep] * np.sqrt(values[keep])
    Y = form - form.mean(axis=0)
    Y -= Y.mean(axis=1, keepdims=True)
    roots, basis = np.linalg.eigh(R.T @ Y @ R)
    good = roots > len(roots) * np.finfo(float).eps * max(float(roots[-1]), 0.0)
    half = basis[:, good] * roots[good] ** -0.25
    return np.asarray(Y @ R @ (half @ half.T) @ (R / values[keep]).T)


def difference(
    T: FloatArray, C: FloatArray, weights: FloatArray, pairs: FloatArray, gap_vector: FloatArray, omega: float
) -> tuple[FloatArray, FloatArray, float]:
    """F = Diag p − N − ggᵀ/Ω − TCTᵀ for g less its mean, its terms, and a bound on what the rounding of g changes."""
    long, r = np.longdouble, pairs.sum(axis=1)
    centre = float(gap_vector.mean())  # P does not see it
    p, shifted = weights.astype(long), gap_vector - centre
    g = shifted.astype(long)
    F = np.diag(p) - pairs.astype(long) - np.outer(g, g) / long(omega) - rigorous.congruence(T, C)
    size, off = np.abs(shifted), _GAP_VECTOR * (np.abs(weights) + r + abs(centre))
    wrong = (size * off.sum() + off * size.sum() + off * off.sum()) / omega
    return np.asarray(F), np.abs(weights) + r + size * size.sum() / omega, float(wrong.max()) * _SLACK


def _check(C: FloatArray, p: FloatArray, N: FloatArray, omega: float, entry_error: float) -> None:
    n = len(p)
    if not 1 <= n <= rigorous.DOMAIN_LIMIT or C.shape != (n, n) or N.shape != (n, n):
        shapes, rule = (C.shape, p.shape, N.shape), f"be (n, n), (n,) and (n, n), n ≤ {rigorous.DOMAIN_LIMIT}"
        raise BadValue("shapes of centred_gram, weights and pairs", shapes, rule, "give weights of types and pairs")
    if not (np.isfinite(C).all() and np.array_equal(C, C.T)):
        raise BadValue("centred_gram", "not finite or not symmetric", "be finite and symmetric", "average it with Cᵀ")
    if not (np.isfinite(p).all() and 0.5 < float(p.sum()) < 2.0):
        raise BadValue("sum of weights", float(p.sum()), "be near 1", "normalise them")
    if not (np.isfinite(N).all() and N.min() >= 0.0 and np.array_equal(N, N.T) and not np.diagonal(N).any()):
        raise BadValue("pairs", "not such", "be symmetric, at least 0, with zero diagonal", "repair them")
    if not (math.isfinite(omega) and omega > 0.0 and math.isfinite(entry_error) and entry_error >= 0.0):
        raise BadValue("omega and entry_error", (omega, entry_error), "be above 0, and at least 0", "give finite ones")
