r"""What draws are worth: effective sample size, R̂, intervals, and the radial law that a chain must reproduce.

Effective sample sizes and R̂ are those of Vehtari, Gelman, Simpson, Carpenter & Bürkner (Bayesian Analysis 16, 2021)
without ranks: chains are split in halves, autocorrelations summed over Geyer's initial monotone sequence of pairs
(Statistical Science 7, 1992).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from scipy.stats import gamma, norm, t

from factormech.arrays import FloatArray
from factormech.central.sequential import LEVEL, Estimate

# A chain of which one of these does not hold gives no errors.
LARGEST_R_HAT = 1.02
SMALLEST_EFFECTIVE = 400.0
SMALLEST_RADIAL = 1e-6
LARGEST_RESIDUAL = 1e-6


@dataclass(frozen=True)
class Diagnosis:
    """How well chains of directions have mixed.

    Attributes
    ----------
    effective
        The smallest effective sample size of the coordinates of D, their squares, ‖D‖, ‖D‖² and the gauge.
    r_hat
        The largest split R̂ of the same.
    radial
        p-value of the chain's own gauge against Gamma(d), at its effective sample size.
    residual
        The largest relative difference between two computations of the gauge at the recorded places.
    walls, bounces
        Facet cones crossed and bounces taken, in all.
    """

    effective: float
    r_hat: float
    radial: float
    residual: float
    walls: int
    bounces: int

    @property
    def shortage(self) -> float:
        """How many times longer the chains should have been, roughly, to be worth enough and to agree.

        Effective sizes grow with the length, and R̂² − 1 falls as their inverse, so that R̂ − 1 does.
        """
        worth = SMALLEST_EFFECTIVE / max(self.effective, 1.0)
        return max(worth, (self.r_hat - 1.0) / (LARGEST_R_HAT - 1.0))

    @property
    def fault(self) -> str | None:
        """Why the draws must not be used, if they must not."""
        if not self.residual <= LARGEST_RESIDUAL:
            return f"the gauge of the chain is off by {self.residual:.2g} of itself: rounding has won"
        if not self.r_hat <= LARGEST_R_HAT:
            return f"the chains have not mixed: R̂ = {self.r_hat:.3f} > {LARGEST_R_HAT}"
        if not self.effective >= SMALLEST_EFFECTIVE:
            return f"the chains are worth {self.effective:.0f} independent draws, fewer than {SMALLEST_EFFECTIVE:.0f}"
        if not self.radial >= SMALLEST_RADIAL:
            return f"the gauge of the chain does not follow its law: p = {self.radial:.2g}"
        return None


@dataclass(frozen=True)
class Sample:
    """Directions (chains, draws, d); without a ``diagnosis`` they are independent."""

    chains: FloatArray
    diagnosis: Diagnosis | None = None

    @property
    def directions(self) -> FloatArray:
        """All of them, (chains × draws, d)."""
        return self.chains.reshape(-1, self.chains.shape[-1])

    def mean(self, of: Callable[[FloatArray], FloatArray], level: float = LEVEL) -> Estimate:
        """The mean of a function of directions, (…, d) → (…), with an interval by the central limit theorem."""
        return mean_of(of(self.chains), self.diagnosis is None, level)


def mean_of(values: FloatArray, independent: bool, level: float = LEVEL) -> Estimate:
    """The mean of draws (chains, draws) with an interval; Student's, at the effective number of a chain's."""
    value = float(values.mean())
    count = float(values.size) if independent else max(2.0, effective_size(values))
    half = float(t.isf(level / 2, count - 1.0)) * float(values.std(ddof=1)) / math.sqrt(count)
    return Estimate(value, value - half, value + half)


def effective_size(values: FloatArray) -> float:
    """How many independent draws the mean of the chains ``values``, (chains, draws), is worth: at most their number."""
    x = _halves(values)
    m, n = x.shape
    within, between = float(x.var(axis=1, ddof=1).mean()), float(x.mean(axis=1).var(ddof=1))
    if within == 0.0:
        return float(m * n) if between == 0.0 else 1.0
    total = within * (n - 1) / n + between
    spectrum = np.fft.rfft(x - x.mean(axis=1, keepdims=True), 2 * n)
    covariance = np.fft.irfft(np.abs(spectrum) ** 2, 2 * n)[:, :n].mean(axis=0) / n
    correlation = 1.0 - (within - covariance * n / (n - 1)) / total
    correlation[0] = 1.0
    pairs = correlation[: n // 2 * 2].reshape(-1, 2).sum(axis=1)
    below = np.flatnonzero(pairs <= 0.0)
    pairs = np.minimum.accumulate(pairs[: below[0]] if below.size else pairs)
    return float(min(m * n / max(2.0 * pairs.sum() - 1.0, 1e-9), m * n))


def r_hat(values: FloatArray) -> float:
    """Split R̂ of chains (chains, draws): 1 where all halves agree."""
    x = _halves(values)
    n = x.shape[1]
    within, between = float(x.var(axis=1, ddof=1).mean()), float(x.mean(axis=1).var(ddof=1))
    if within == 0.0:
        return 1.0 if between == 0.0 else math.inf
    return math.sqrt((n - 1) / n + between / within)


def radial_p_value(gauges: FloatArray, dimension: int) -> float:
    """That the gauges (chains, draws) of a chain are Gamma(d): their probability integrals, in mean and in square.

    Under the law v = 2F(‖z‖) − 1 is uniform on [−1, 1]. The means of v and of v² are tested at their own effective
    sizes, and the smaller p-value is doubled.
    """
    v = 2.0 * gamma.cdf(gauges, dimension) - 1.0
    scores = [
        (v.mean(), math.sqrt(1.0 / 3.0 / effective_size(v))),
        ((v**2).mean() - 1.0 / 3.0, math.sqrt(4.0 / 45.0 / effective_size(v**2))),
    ]
    return min(1.0, 2.0 * min(2.0 * float(norm.sf(abs(gap) / spread)) for gap, spread in scores))


def diagnose(
    chains: FloatArray, lengths: FloatArray, gauges: FloatArray, residual: float, walls: int, bounces: int
) -> Diagnosis:
    """The diagnosis of directions (chains, draws, d), their Euclidean ``lengths`` as answers and the ``gauges``."""
    d = chains.shape[-1]
    functions = [chains[..., i] for i in range(d)] + [chains[..., i] ** 2 for i in range(d)]
    functions += [lengths, lengths**2, gauges]
    effective = min(effective_size(values) for values in functions)
    largest = max(r_hat(values) for values in functions)
    return Diagnosis(effective, largest, radial_p_value(gauges, d), residual, walls, bounces)


def _halves(values: FloatArray) -> FloatArray:
    """Every chain as two."""
    half = values.shape[1] // 2
    return np.concatenate([values[:, :half], values[:, values.shape[1] - half :]])
