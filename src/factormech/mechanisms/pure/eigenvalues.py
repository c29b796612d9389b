r"""K-norm noise of the trace body: eigenvalues by Metropolis, Haar eigenvectors, and an exact Gamma radius.

Noise of density ∝ e^{−ε‖Z‖_B} on symmetric matrices has, by the change to eigenvalues and eigenvectors (Mehta, Random
Matrices, Chapter 3), Haar vectors and independent eigenvalues of density

.. math:: \propto \prod_{i<j} |λ_i - λ_j|\; e^{-ε\max(Σλ_+, Σλ_-)} .

The radius ε‖Z‖_B ~ Gamma(D) is independent of the rest, D = d(d + 1)/2 (D − 1 if traces are public, Σλ = 0), so only
λ/‖λ‖_B is taken from the chain. The chain keeps its own radius, whose law it must reproduce: a wrong density fails.

**Chain.** Ordered eigenvalues λ_1 < … < λ_d. A sweep proposes Gaussian steps along the modes cos(πm(i − ½)/d), m = 0 …
7, which move the spectrum as a whole, and after each of them one of every single eigenvalue. Where Σλ = 0, mode 0 is
left out and all eigenvalues are shifted against the one that moves. Steps are learnt in the burn-in and then kept.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from factormech.arrays import FloatArray, check_epsilon, check_positive_integer
from factormech.errors import BadValue, Unavailable
from factormech.mechanisms.pure.bodies import eigenvalue_gauge
from factormech.mechanisms.pure.bouncy import Diagnosis, Sample, effective_size, r_hat, radial_p_value
from factormech.mechanisms.pure.knorm import scaled
from factormech.numerics.intervals import Estimate

CHAINS = 4
LARGEST = 129  # 128 attributes beside a constant
MODES = 8  # twice as many double both the cost and the effective sample size
_LEAST = 500  # places of a chain
_LEARNING = 400  # sweeps


@dataclass(frozen=True)
class EigenvalueChain:
    """Directions λ/‖λ‖_B of the noise; ``unit`` on Σλ = 0."""

    size: int
    unit: bool = False

    @property
    def interval(self) -> int:
        """Sweeps between recorded places: about what one of them is worth half a draw at."""
        return max(1, self.size // 8)

    @property
    def dimension(self) -> int:
        """Of the matrices: D or D − 1, the shape of the Gamma law."""
        return self.size * (self.size + 1) // 2 - int(self.unit)

    @property
    def modes(self) -> FloatArray:
        """The first of the orthonormal lines, (·, d)."""
        d = self.size
        m, i = np.arange(int(self.unit), min(d, MODES))[:, None], np.arange(d) + 0.5
        lines = np.cos(np.pi * m * i / d) * np.sqrt(2.0 / d)
        return np.asarray(np.where(m == 0, lines / np.sqrt(2.0), lines))

    def sample(self, rng: np.random.Generator, draws: int) -> Sample | Unavailable:
        """At least ``draws`` directions (chains, places, d) with their diagnosis, or why they are refused."""
        places = max(_LEAST, -(-check_positive_integer("draws", draws) // CHAINS))
        runs = np.array([self._run(one, places) for one in rng.spawn(CHAINS)])
        gauges = eigenvalue_gauge(runs)
        found = runs / gauges[..., None]
        diagnosis = self._diagnose(found, gauges)
        return Sample(found, diagnosis) if diagnosis.fault is None else Unavailable(diagnosis.fault)

    def _run(self, rng: np.random.Generator, places: int) -> FloatArray:
        from factormech.mechanisms.pure import eigenvalue_kernels

        modes = self.modes
        steps, singles = np.full(len(modes), float(self.size)), np.full(self.size, float(self.size))
        G = rng.standard_normal((self.size, self.size))
        if self.unit:
            G -= np.trace(G) / self.size * np.eye(self.size)
        values: FloatArray = np.asarray(np.linalg.eigvalsh(G + G.T))
        values *= self.dimension / eigenvalue_gauge(values)
        for sweeps, learning in ((_LEARNING, 0.2), (_LEARNING, 0.02), (max(1, places * self.interval // 4), 0.0)):
            unused = np.empty((1, self.size))
            eigenvalue_kernels.sweeps(values, modes, self.unit, steps, singles, rng, unused, sweeps, learning)
        kept = np.empty((places, self.size))
        eigenvalue_kernels.sweeps(values, modes, self.unit, steps, singles, rng, kept, self.interval, 0.0)
        return kept

    def _diagnose(self, found: FloatArray, gauges: FloatArray) -> Diagnosis:
        functions = [found[..., i] for i in range(self.size)]
        functions += [(found**2).sum(axis=-1), gauges, found.sum(axis=-1), (found > 0).sum(axis=-1).astype(np.float64)]
        # What is constant but for rounding (Σλ = 0; the two eigenvalues ±1 of size 2) cannot fail to mix.
        functions = [values for values in functions if np.ptp(values) > 1e-9]
        effective = min(effective_size(values) for values in functions)
        drift = float(np.abs(eigenvalue_gauge(found) - 1.0).max())
        if self.unit:
            drift = max(drift, float(np.abs(found.sum(axis=-1)).max()))
        radial = radial_p_value(gauges, self.dimension)
        return Diagnosis(effective, max(r_hat(values) for values in functions), radial, drift, 0, 0)


@dataclass(frozen=True)
class TraceNoise:
    """Z, symmetric d × d, of density ∝ e^{−ε‖Z‖_B}; of trace 0 if ``unit``."""

    size: int
    epsilon: float
    unit: bool = False

    @classmethod
    def of(cls, size: int, epsilon: float, *, unit: bool = False) -> TraceNoise:
        """For matrices of this size."""
        d = check_positive_integer("size", size, minimum=2 if unit else 1)
        if d > LARGEST:
            raise BadValue("size", d, f"be at most {LARGEST}", "noise of larger matrices has not been tried")
        return cls(d, check_epsilon(epsilon), unit)

    @property
    def chain(self) -> EigenvalueChain:
        return EigenvalueChain(self.size, self.unit)

    def eigenvalues(self, rng: np.random.Generator, trials: int) -> FloatArray | Unavailable:
        """Eigenvalues of Z, (trials, d)."""
        trials = check_positive_integer("trials", trials)
        sample = self.chain.sample(rng, trials)
        if isinstance(sample, Unavailable):
            return sample
        found = sample.directions
        radius = rng.standard_gamma(self.chain.dimension, (trials, 1)) / self.epsilon
        return np.asarray(radius * found[rng.permutation(len(found))[:trials]])

    def norm(self, rng: np.random.Generator, trials: int, level: float) -> Estimate | Unavailable:
        """E‖Z‖_F, its Gamma radius by its mean and the direction by a chain of at least ``trials`` places."""
        sample = self.chain.sample(rng, trials)
        if isinstance(sample, Unavailable):
            return sample
        length = sample.mean(lambda values: np.linalg.norm(values, axis=-1), level)
        return scaled(length, self.chain.dimension / self.epsilon)

    def draw(self, rng: np.random.Generator, trials: int) -> FloatArray | Unavailable:
        """Z, (trials, d, d)."""
        values = self.eigenvalues(rng, trials)
        if isinstance(values, Unavailable):
            return values
        H = haar(self.size, rng, trials)
        return np.asarray((H * values[:, None, :]) @ H.transpose(0, 2, 1))


def haar(size: int, rng: np.random.Generator, trials: int) -> FloatArray:
    """Orthogonal matrices of Haar's law: the Q of Gaussian matrices, signs by the diagonal of R."""
    Q, R = np.linalg.qr(rng.standard_normal((trials, size, size)))
    signs = np.sign(np.diagonal(R, axis1=1, axis2=2))
    return np.asarray(Q * signs[:, None, :])
