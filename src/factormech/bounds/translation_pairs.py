r"""The weights of ``pairwise.py`` where C_uv depends on u ⊕ v alone: a problem in the eigenvalues of C alone.

The best weights may be taken invariant under what preserves C, here under all translations of {0,1}^d: p is uniform and
nN_uv = x_{u⊕v}. Then g is constant, Pg = 0, and Y is diagonal in the characters χ_s, as C is, whatever ω is:

.. math:: n\,y_s = 1 - \sum_z x_z \chi_s(z) , \qquad \nu = \sum_z x_z .

B falls with ω, and at ω → 0 it is the largest φ(τ_j) = a_j + b_jν. With c_s the eigenvalues of C, the bound is the best
of n(Σ_s √(c_sy_s))²/max_j(a_j + b_jν) over x ≥ 0 with y ≥ 0 at every s ≠ 0. With a scale σ for (1, x), which the ratio
does not see, and y in units of 1/n, it is the largest value of the concave problem

.. math:: 2\sum_s \sqrt{c_sy_s} - t , \qquad y_s = \sigma - \sum_z x_z\chi_s(z) \ge 0 , \quad x \ge 0 , \quad
          t \ge a_j\sigma + b_j\nu .

Bits that can be exchanged without a change of C divide the masks into orbits, by the number of bits set in each class
of such bits; x is constant on them, and one s of each is enough. For marginals, parities and single types d + 1 orbits
remain. A barrier method (Newton's, on −β Σ log of all slacks, β falling) ends within β times their number of the best.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from scipy.linalg import solve_triangular

from factormech.arrays import FloatArray, IntArray
from factormech.bounds.pair_search import PairWeights
from factormech.bounds.staircase import SizeLimit
from factormech.workloads import binary

# Two bits can be exchanged if the spectrum does not change by more, relatively.
TOLERANCE = 1e-9
# Orbits of masks, up to which the dense problem is affordable.
ORBITS_LIMIT = 1024
# ω Var τ is this share of B at most: what is lost by ω > 0.
OMEGA_SHARE = 1e-10
# What the barriers may hold back of the value, relatively; by what β falls; the steps of Newton's method at each β.
GAP, FALL, STEPS_LIMIT = 1e-10, 0.1, 60
# The square of Newton's decrement, relative to β, that is little; the share of the way to the boundary that is gone.
DECREMENT, INSIDE = 1e-3, 0.99


def spectrum_of(centred_gram: FloatArray) -> FloatArray | None:
    """The eigenvalues c_s of a C that depends on u ⊕ v alone, rounding noise as zero, (n,); None for any other C."""
    n = len(centred_gram)
    values = binary.spectrum_of(centred_gram) if n > 1 else None
    if values is None:
        return None
    values[0] = 0.0
    return np.where(values > n * np.finfo(float).eps * float(np.trace(centred_gram)), values, 0.0)


def orbits_of(spectrum: FloatArray) -> IntArray:
    """The orbit of every mask under exchanges of bits that preserve the spectrum, numbered; that of 0 is the first."""
    n = len(spectrum)
    masks, d = np.arange(n), n.bit_length() - 1
    most = TOLERANCE * float(spectrum.max())
    key, left = np.zeros(n, dtype=np.int64), list(range(d))
    while left:
        first = left[0]
        alike = [k for k in left if np.abs(spectrum[_exchanged(masks, first, k)] - spectrum).max() <= most]
        key = key * (d + 1) + np.bitwise_count(masks & sum(1 << k for k in alike)).astype(np.int64)
        left = [k for k in left if k not in alike]
    return np.asarray(np.unique(key, return_inverse=True)[1], dtype=np.int64)


def _exchanged(masks: IntArray, first: int, second: int) -> IntArray:
    """The masks with two bits exchanged."""
    differ = (masks >> first ^ masks >> second) & 1
    return np.asarray(masks ^ (differ * (1 << first | 1 << second) if first != second else 0))


@dataclass(frozen=True)
class TranslationProblem:
    """The problem by orbits: (σ, x, t) as one vector, x summed over each orbit.

    Attributes
    ----------
    roots
        Σ√c_s over each orbit but that of 0, divided by the sum of all, (m,).
    slacks
        What must stay positive, as a matrix: y, then x, then t − a_jσ − b_jν, with a_j and b_j divided by the largest
        a_j, (2m + n − 1, m + 2).
    """

    roots: FloatArray
    slacks: FloatArray

    @classmethod
    def of(cls, spectrum: FloatArray, orbits: IntArray, limit: SizeLimit) -> TranslationProblem:
        """The problem for one spectrum and budget."""
        roots = np.bincount(orbits, np.sqrt(spectrum))[1:]
        sizes, m = np.bincount(orbits), len(roots)
        one_each = np.unique(orbits, return_index=True)[1][1:]
        shares = (orbits[:, None] == np.arange(1, m + 1)) / sizes[1:]
        characters = binary.transform(shares)[one_each]
        a, b = phi_lines(limit)
        top = np.hstack([np.ones((m, 1)), -characters, np.zeros((m, 1))])
        middle = np.hstack([np.zeros((m, 1)), np.eye(m), np.zeros((m, 1))])
        bottom = np.hstack([-a[:, None], np.repeat(-b[:, None], m, axis=1), np.ones((len(a), 1))])
        bottom[:, :-1] /= a.max()
        return cls(roots / roots.sum(), np.vstack([top, middle, bottom]))

    def start(self) -> FloatArray:
        """A point well inside: σ = 1, and little x."""
        m = len(self.roots)
        point = np.concatenate([[1.0], np.full(m, 0.1 / m), [0.0]])
        point[-1] = 1.0 - float((self.slacks @ point)[2 * m :].min())
        return point

    def value(self, point: FloatArray, barrier: float) -> float:
        """Return the objective t − 2Σ√(c_sy_s) − β Σ log of the slacks; infinite outside."""
        slack = self.slacks @ point
        if not slack.min() > 0.0:
            return math.inf
        root = self.roots @ np.sqrt(slack[: len(self.roots)])
        return float(point[-1] - 2.0 * root - barrier * np.sum(np.log(slack)))

    def newton(self, point: FloatArray, barrier: float) -> tuple[FloatArray, float]:
        """Newton's step and the square of its decrement; by QR, as the second derivatives grow as 1/β."""
        slack, m = self.slacks @ point, len(self.roots)
        first, second = -barrier / slack, barrier / slack**2
        first[:m] -= self.roots * slack[:m] ** -0.5
        second[:m] += 0.5 * self.roots * slack[:m] ** -1.5
        gradient = self.slacks.T @ first
        gradient[-1] += 1.0
        scaled = self.slacks * np.sqrt(second)[:, None]
        unit = 1.0 / np.linalg.norm(scaled, axis=0)
        triangle = np.linalg.qr(scaled * unit, mode="r")
        if not np.abs(np.diagonal(triangle)).min() > 0.0:
            return np.zeros_like(point), 0.0
        half = solve_triangular(triangle, -unit * gradient, trans="T")
        return unit * solve_triangular(triangle, half), float(half @ half)

    def best(self) -> FloatArray:
        """The best point, within ``GAP``."""
        point, barrier = self.start(), 1.0
        while barrier * len(self.slacks) > GAP:  # the value is 1 at least: that of σ = 1, x = 0
            barrier *= FALL
            for _ in range(STEPS_LIMIT):
                step, decrement = self.newton(point, barrier)
                moved = self._moved(point, step, decrement, barrier)
                if moved is None:
                    break
                point = moved
                if decrement < DECREMENT * barrier:
                    break
        return point

    def _moved(self, point: FloatArray, step: FloatArray, decrement: float, barrier: float) -> FloatArray | None:
        """A lower point on the way; None where rounding leaves none."""
        slack, change = self.slacks @ point, self.slacks @ step
        reach = float(np.max(-change / slack))
        length = min(1.0, INSIDE / reach) if reach > 0.0 else 1.0
        now = self.value(point, barrier)
        while decrement > 0.0 and length > 1e-8:
            if self.value(point + length * step, barrier) <= now - 1e-4 * length * decrement:
                return point + length * step
            length *= 0.5
        return None


def phi_lines(limit: SizeLimit) -> tuple[FloatArray, FloatArray]:
    """a_j and b_j of φ(τ_j) = a_j + b_jν, (n − 1,) each."""
    tau = limit.tau
    return 2.0 * tau - 1.0 - limit.flatness * tau**2, (1.0 - limit.kappa * tau) ** 2


def best_translated(centred_gram: FloatArray, limit: SizeLimit) -> PairWeights | None:
    """The best weights for a C that depends on u ⊕ v alone; None for any other, and where the problem is too large."""
    spectrum = spectrum_of(centred_gram)
    if spectrum is None or not spectrum.any():
        return None
    orbits, n = orbits_of(spectrum), len(spectrum)
    if orbits.max() > ORBITS_LIMIT or not phi_lines(limit)[0].max() > 0.0:
        return None
    point = TranslationProblem.of(spectrum, orbits, limit).best()
    x = point[1:-1] / (point[0] * np.bincount(orbits)[1:])
    by_mask = np.append(0.0, x)[orbits]
    a, b = phi_lines(limit)
    B = float(np.max(a + b * by_mask.sum()))
    spread = float(limit.tau[0] - limit.tau[-1]) ** 2
    omega = OMEGA_SHARE * B / spread if spread > 0.0 else 1.0
    types = np.arange(n)
    return PairWeights(np.full(n, 1.0 / n), by_mask[types[:, None] ^ types] / n, omega)
