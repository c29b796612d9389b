"""A strategy with noise for a budget, measured on any workload and simulated: what a matrix mechanism becomes."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from factormech.arrays import FloatArray, IntArray
from factormech.errors import BadValue
from factormech.mechanisms.local.error_law import (
    ErrorLaw,
    gaussian_error_law,
    half_sphere_error_law,
    laplace_error_law,
    no_error,
)
from factormech.mechanisms.local.noisy_columns import NoisyColumns, checked_gram, inverse_of, seen, variance_of
from factormech.mechanisms.local.reports import check_simulation
from factormech.mechanisms.local.strategy import RESIDUAL_LIMIT, Evaluation
from factormech.privacy.guarantee import Guarantee


@dataclass(frozen=True)
class CalibratedColumns:
    """A strategy A with noise for a budget, as the measurements ask it.

    What does not depend on the workload is computed once and kept.

    Attributes
    ----------
    columns
        A (k × n).
    epsilon
        The budget.
    calibrate
        The noise for columns and a budget.
    """

    columns: FloatArray
    epsilon: float
    calibrate: Callable[[FloatArray, float], NoisyColumns]
    outputs: int = field(default=0, init=False)  # reports are real vectors

    @property
    def domain_size(self) -> int:
        return int(self.columns.shape[1])

    @property
    def guarantee(self) -> Guarantee:
        return self.noisy.guarantee

    @cached_property
    def noisy(self) -> NoisyColumns:
        """The columns as they are reported, and their noise."""
        return self.calibrate(self.columns, self.epsilon)

    @cached_property
    def centre(self) -> FloatArray:
        """ā, (k,)."""
        return np.asarray(self.noisy.columns.mean(axis=1))

    @cached_property
    def inverse(self) -> FloatArray:
        """J = (AP)⁺, (n, k): the centred data vector is estimated by J(Σy − N·ā)."""
        return inverse_of(self.noisy.columns)

    def evaluate(self, centred_gram: FloatArray) -> Evaluation:
        """The exact error on the workload with this centred Gram matrix PGP."""
        C, n = self._checked(centred_gram), self.domain_size
        energy, loss = float(np.trace(C)), self.noisy.privacy_loss
        if energy <= 0:
            return Evaluation(np.zeros(n), 0.0, loss, self.outputs)
        found = seen(self.noisy.columns, C)
        answered = found.residual <= RESIDUAL_LIMIT
        variance = variance_of(self.noisy, found) if answered else np.full(n, np.nan)
        return Evaluation(variance, found.residual, loss, self.outputs)

    def _checked(self, centred_gram: FloatArray) -> FloatArray:
        C = checked_gram(np.asarray(centred_gram, dtype=np.float64))
        if len(C) != self.domain_size:
            rule = f"be the strategy's domain size, {self.domain_size}"
            raise BadValue("domain_size", len(C), rule, "build the strategy for the workload's domain")
        return C

    # Simulation --------------------------------------------------------------------------------------------

    def simulation_refusal(self, users: int) -> str:
        """Why that many users cannot be simulated, or nothing: half-sphere reports take some work for each user."""
        return self.noisy.simulation_refusal(users)

    def simulate_estimates(self, counts: IntArray, trials: int, rng: np.random.Generator) -> FloatArray:
        """J(Σy − N·ā), (types, trials): centred estimates of the data vector from simulated reports."""
        counts, trials = check_simulation(counts, self.domain_size, trials)
        return np.asarray(self.inverse @ self.noisy.simulate_deviations(counts, self.centre, trials, rng))

    def error_law(self, centred_gram: FloatArray) -> ErrorLaw:
        """Mean and variance of the squared error of a collection (see ``error_law.py``)."""
        C, noisy = self._checked(centred_gram), self.noisy
        variance = self.evaluate(C).variance
        if not len(noisy.columns) or not variance.any():
            return no_error(C)
        if noisy.noise == "half-sphere":
            return half_sphere_error_law(C, self.inverse, noisy.columns, self.epsilon, variance)
        law = laplace_error_law if noisy.noise == "laplace" else gaussian_error_law
        return law(C, self.inverse, noisy.scale, variance)
