"""Factorization mechanisms of a trusted curator in the one protocol: Gaussian noise for (ε, δ)-privacy."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from factormech.arrays import FloatArray
from factormech.errors import BadValue, Unavailable, UnknownName
from factormech.mechanisms.base import Fitted, Mechanism
from factormech.mechanisms.central import registry
from factormech.mechanisms.central.mechanism import CentralMechanism
from factormech.mechanisms.central.projection import ProjectedMechanism
from factormech.privacy.guarantee import Guarantee
from factormech.spec import Spec
from factormech.workloads.base import Workload

if TYPE_CHECKING:
    import pandas as pd

OPTIONS = ("calibration", "alpha", "base")


def names() -> list[str]:
    """Return every central mechanism; ``{p}`` stands for a whole number."""
    return registry.names()


def has(name: str) -> bool:
    """Return whether this is a central mechanism."""
    try:
        registry.module_of(name)
    except UnknownName:
        return False
    return True


def check(mechanism: Mechanism) -> None:
    """Refuse a mechanism without δ, and settings that no central mechanism has."""
    if mechanism.delta is None:
        rule = f"be given for {mechanism.name}, whose noise is Gaussian"
        raise BadValue("delta", None, rule, "give for example delta=1e-9")
    for option in mechanism.options:
        if option not in OPTIONS:
            raise UnknownName(f"option of {mechanism.name}", option, OPTIONS)


def fit(mechanism: Mechanism, workload: Workload, seed: int, root_seed: int, report: Any) -> CentralFit:
    """Return the factorization with calibrated noise; chance has no part in it."""
    del seed, report
    name, epsilon, delta, options = mechanism.name, mechanism.epsilon, mechanism.delta, mechanism.options
    alpha = options.get("alpha")
    spec = Spec("factorization", name, workload.spec(), options, epsilon, delta, alpha=alpha, root_seed=root_seed)
    built = registry.build(name, workload, epsilon, delta or 0.0, **options)
    return CentralFit(mechanism, workload, spec, built)


@dataclass(frozen=True, eq=False, repr=False)
class CentralFit(Fitted):
    """A central mechanism fitted to a workload; every attribute is as in :class:`factormech.Fitted`.

    A projection's error depends on the data, and an approximate factorization has a bias that grows with the users: the
    variances are those of the noise before the projection, an upper bound, and NaN for an approximate factorization.
    """

    built: CentralMechanism | ProjectedMechanism | Unavailable

    @property
    def strategy(self) -> CentralMechanism | ProjectedMechanism | Unavailable:
        return self.built

    @property
    def _base(self) -> CentralMechanism | Unavailable:
        return self.strategy.base if isinstance(self.strategy, ProjectedMechanism) else self.strategy

    @property
    def unavailable(self) -> str:
        return self.strategy.reason if isinstance(self.strategy, Unavailable) else ""

    @property
    def guarantee(self) -> Guarantee | None:
        return None if isinstance(self.strategy, Unavailable) else self.strategy.guarantee

    @cached_property
    def errors(self) -> pd.DataFrame:
        import pandas as pd

        from factormech.workloads.given import query_index

        base, index = self._base, query_index(self.workload)
        if isinstance(base, Unavailable) or base.factorization.approximate:
            variance = np.full(len(index), np.nan)
        else:
            variance = base.deviations**2
        low = np.zeros(len(index)) if isinstance(self.strategy, ProjectedMechanism) else variance
        return pd.DataFrame({"variance": variance, "low": low, "high": variance}, index=index)

    @property
    def worst_variance(self) -> float:
        return float(self.errors["variance"].sum(skipna=False))

    @property
    def average_variance(self) -> float:
        return self.worst_variance

    @cached_property
    def lower_bound(self) -> float:
        """A lower bound on the worst squared error of every (ε, δ)-private mechanism, when one count changes by one."""
        from factormech.bounds.central.release import general_bound

        if isinstance(self.strategy, Unavailable):
            return math.nan
        return general_bound(self.workload, self.mechanism.epsilon, self.mechanism.delta or 0.0).total ** 2

    def sample_complexity(self, alpha: float) -> float:
        """Return √(variance ÷ (queries · α)): the error does not grow with the users."""
        return math.sqrt(self.worst_variance / (self.workload.queries * alpha))

    def _simulated(self, counts: FloatArray, rng: np.random.Generator) -> dict[str, Any]:
        if isinstance(self.strategy, Unavailable):
            return {}
        estimate = self.strategy.simulate_release(counts, rng)[:, 0]
        if isinstance(self.strategy, ProjectedMechanism) or self.strategy.factorization.approximate:
            return {"estimate": estimate}
        return {"estimate": estimate, "standard_error": self.strategy.deviations}
