r"""Factorization mechanisms of a trusted curator: M(x) = L(Rx + z), z ~ N(0, σ²I), their exact errors and releases.

**Privacy.** Rx + z is (ε, δ)-private for neighbours ‖x − x'‖₁ ≤ 1, as σ is calibrated to the largest column norm of R;
L is post-processing (Edmonds, Nikolov & Ullman, STOC 2020; Liu, Upadhyay & Zou, ICLR 2025). The proof is about real
numbers: the noise of a computer is a grid of floats, whose lowest bits depend on the data. Against an adversary who
reads those bits no floating-point Gaussian is private in the letter (Mironov, CCS 2012): round what is published.

**Error.** M(x) − Wx = (LR − W)x + Lz, Gaussian with deviations σ‖L_i‖, whatever the data if LR = W.
"""

from __future__ import annotations

import secrets
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import ndtri

from factormech.arrays import FloatArray, check_positive_integer
from factormech.errors import BadValue
from factormech.mechanisms.central import moments
from factormech.mechanisms.central.factorization import Factorization, block_columns, dense_sensitivity, peaks
from factormech.mechanisms.central.moments import MeanError, error_of_order
from factormech.norms.certified import DenseFactor, Factor
from factormech.privacy.gaussian import RELATION, check_private, standard_deviation
from factormech.privacy.guarantee import Guarantee
from factormech.workloads.base import Workload


@dataclass(frozen=True)
class VerifiedDelta:
    """What was proved of a mechanism's own floats: its δ is at most ``delta_found`` ≤ ``delta``."""

    epsilon: float
    delta: float
    delta_found: float
    sensitivity: float
    sigma: float
    residual: float
    relation: str


@dataclass(frozen=True)
class CentralMechanism:
    """The factorization mechanism with Gaussian noise.

    Attributes
    ----------
    sigma
        Standard deviation of each entry of z.
    relation
        Which data sets are neighbours.
    """

    name: str
    factorization: Factorization
    epsilon: float
    delta: float
    sigma: float
    calibration: str = "analytic"
    relation: str = RELATION

    def __repr__(self) -> str:
        W = self.workload
        size = f"{W.queries} queries over {W.domain_size} types"
        return f"<CentralMechanism {self.name}: {size}, ε = {self.epsilon:g}, δ = {self.delta:g}>"

    @property
    def workload(self) -> Workload:
        return self.factorization.workload

    @property
    def left(self) -> Factor:
        return self.factorization.left

    @property
    def right(self) -> Factor:
        return self.factorization.right

    @property
    def sensitivity(self) -> float:
        """An upper bound on the largest column norm of R."""
        return self.factorization.sensitivity

    @property
    def deviations(self) -> FloatArray:
        """σ‖L_i‖ for every query."""
        return self.sigma * self.factorization.row_norms

    @property
    def guarantee(self) -> Guarantee:
        return Guarantee(self.epsilon, self.delta, relation=self.relation)

    def verify(self) -> VerifiedDelta:
        """Prove (ε, δ) of the σ and the sensitivity in use, every rounding outward; refused if it does not hold."""
        s = self.sensitivity
        if isinstance(self.right, DenseFactor) and dense_sensitivity(self.right.matrix) > s:
            rule = f"be at least the largest column norm of R, {dense_sensitivity(self.right.matrix):.17g}"
            raise BadValue("sensitivity", s, rule, "make the factorization with of_matrices")
        found = check_private(self.sigma, s, self.epsilon, self.delta) if s > 0.0 else 0.0
        residual = self.factorization.residual
        return VerifiedDelta(self.epsilon, self.delta, found, s, self.sigma, residual, self.relation)

    # Errors ------------------------------------------------------------------------------------------------

    def bias(self, data: Any) -> FloatArray:
        """(LR − W)x, (k,): zero but for an approximate factorization."""
        x = checked_data(self.workload, data)
        if not self.factorization.approximate:
            return np.zeros(self.workload.queries)
        return np.asarray(self.left.apply(self.right.apply(x[:, None]))[:, 0] - self.workload.answer(x))

    def exact_error(self, p: float, *, data: Any = None, users: float | None = None) -> MeanError:
        """(E‖M(x) − Wx‖_p^p)^{1/p}, 1 ≤ p < ∞, unnormalised histogram: in total and per query.

        An approximate factorization errs by its bias too: on ``data``, or at worst over all histograms of ``users``,
        which is attained where all are of one type (the error is convex in x). Others need neither.
        """
        if not self.factorization.approximate:
            return error_of_order(p, self.deviations)
        if (data is None) == (users is None):
            rule = "be given, one of them, for an approximate factorization"
            raise BadValue("data, users", (data is not None, users), rule, "give data=x, or users for the worst case")
        if data is not None:
            return error_of_order(p, self.deviations, self.bias(data))
        columns = check_users(users) * self.factorization.bias
        return max((error_of_order(p, self.deviations, b) for b in columns.T), key=lambda error: error.total)

    def simulated_max(
        self,
        rng: np.random.Generator,
        relative_width: float = 0.02,
        *,
        data: Any = None,
        level: float = moments.LEVEL,
        looks: int = moments.LOOKS,
    ) -> moments.SimulatedMean:
        """E‖M(x) − Wx‖_∞ and (E‖·‖_∞²)^{1/2} by simulation, to this relative width of their intervals.

        ``data`` is for approximate factorizations, whose bias it decides.
        """
        if self.factorization.approximate and data is None:
            raise BadValue("data", None, "be given for an approximate factorization", "give a histogram")
        shift = self.bias(data) if self.factorization.approximate else None
        step = block_columns(self.left)

        def draw(count: int) -> FloatArray:
            parts = [min(step, count - start) for start in range(0, count, step)]
            return np.concatenate([peaks(self.left, self._noise(part, rng), shift) for part in parts])

        largest = float(self.deviations.max(initial=0.0))
        return moments.estimate(draw, relative_width, level=level, looks=looks, lipschitz=largest)

    # Simulated releases ------------------------------------------------------------------------------------

    def simulate(self, data: Any) -> FloatArray:
        """Answers, (k,), once, with noise from the operating system.

        They are raw floats, whose lowest bits depend on the data (the module says why): no release in the letter.
        """
        x = checked_data(self.workload, data)
        z = self.sigma * system_gaussians(self.right.shape[0])
        return np.asarray(self.left.apply((self.right.apply(x[:, None])[:, 0] + z)[:, None])[:, 0])

    def simulate_release(self, data: Any, rng: np.random.Generator, trials: int = 1) -> FloatArray:
        """Answers of repeated releases, (k, trials), for experiments: a seed is known, so nothing is private."""
        x = checked_data(self.workload, data)
        trials = check_positive_integer("trials", trials)
        return self.left.apply(self.right.apply(x[:, None]) + self._noise(trials, rng))

    def _noise(self, count: int, rng: np.random.Generator) -> FloatArray:
        return self.sigma * rng.standard_normal((self.left.shape[1], count))


def from_factorization(
    name: str, factorization: Factorization, epsilon: float, delta: float, calibration: str = "analytic"
) -> CentralMechanism:
    """The mechanism of a factorization, its σ calibrated to the sensitivity and checked."""
    sigma = standard_deviation(factorization.sensitivity, epsilon, delta, calibration)
    return CentralMechanism(name, factorization, float(epsilon), float(delta), sigma, calibration)


def checked_data(workload: Workload, data: Any) -> FloatArray:
    """A histogram (n,) of finite real numbers, none negative."""
    x = np.asarray(data)
    if x.dtype.kind not in "biuf" or x.shape != (workload.domain_size,):
        rule = f"be a histogram of shape ({workload.domain_size},) of real numbers"
        raise BadValue("data", f"{x.dtype.name} array of shape {x.shape}", rule, "give one number for each user type")
    x = x.astype(np.float64)
    bad = np.flatnonzero(~(np.isfinite(x) & (x >= 0.0)))
    if bad.size:
        rule = "be a finite number of at least 0"
        raise BadValue(f"data[{bad[0]}]", float(x[bad[0]]), rule, f"repair it ({bad.size} such entries)")
    return x


def check_users(users: Any) -> float:
    """A number of users: finite, at least 1."""
    good = isinstance(users, (int, float, np.integer, np.floating)) and not isinstance(users, bool)
    if not good or not 1.0 <= users < float("inf"):
        raise BadValue("users", users, "be a finite number of at least 1", "give for example 1000")
    return float(users)


_CHUNK = 1 << 16


def system_gaussians(count: int) -> FloatArray:
    """``count`` standard Gaussians, each from 64 bits of the operating system: no seed, nothing to repeat.

    One bit is the sign; the others, u, give the lower tail (u + ½)2⁻⁶⁴, which the quantile function maps to |z|. The
    law is N(0, 1) but for a grid of 2⁶⁴ quantiles, so nothing beyond 9.1 deviations occurs, and for the rounding of
    the result.
    """
    found = np.empty(count)
    for start in range(0, count, _CHUNK):
        size = min(_CHUNK, count - start)
        bits = np.frombuffer(secrets.token_bytes(8 * size), dtype=np.uint64)
        tail = ((bits >> np.uint64(1)).astype(np.float64) + 0.5) * 2.0**-64
        sign = np.where(bits & np.uint64(1), 1.0, -1.0)
        found[start : start + size] = sign * -ndtri(np.minimum(tail, 0.5))
    return found
