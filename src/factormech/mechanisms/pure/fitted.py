"""Mechanisms of pure differential privacy in the one protocol: the answers of all users plus additive noise."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from factormech.arrays import FloatArray
from factormech.errors import BadValue, Unavailable, UnknownName
from factormech.mechanisms.base import Fitted, Mechanism
from factormech.mechanisms.central.moments import Estimate
from factormech.mechanisms.pure import mechanism as registry
from factormech.mechanisms.pure.mechanism import PureMechanism
from factormech.privacy.guarantee import Guarantee
from factormech.spec import Spec
from factormech.workloads.base import Workload

if TYPE_CHECKING:
    import pandas as pd


def names() -> list[str]:
    """Return every mechanism of pure privacy with additive noise."""
    return registry.names()


def has(name: str) -> bool:
    """Whether this is a mechanism of pure privacy."""
    return name in registry.names()


def check(mechanism: Mechanism) -> None:
    """Refuse a δ and any setting."""
    if mechanism.delta is not None:
        rule = f"not be given for {mechanism.name}, which is purely private"
        raise BadValue("delta", mechanism.delta, rule, "leave it out")
    for option in mechanism.options:
        raise UnknownName(f"option of {mechanism.name}", option, [])


def fit(mechanism: Mechanism, workload: Workload, seed: int, root_seed: int, report: Any) -> PureFit:
    """Return the noise for the workload's matrix; chance has a part where a covariance is estimated."""
    del report
    name, epsilon = mechanism.name, mechanism.epsilon
    spec = Spec("pure", name, workload.spec(), {}, epsilon, seed=seed, root_seed=root_seed)
    return PureFit(mechanism, workload, spec, registry.build(name, workload.matrix(), epsilon, spec.stream()))


@dataclass(frozen=True, eq=False, repr=False)
class PureFit(Fitted):
    """A purely private mechanism fitted to a workload; every attribute is as in :class:`factormech.Fitted`.

    Where no formula gives E‖Z‖², it is simulated, and ``errors`` has the interval; users are counted for its upper end.
    """

    built: PureMechanism | Unavailable

    @property
    def strategy(self) -> PureMechanism | Unavailable:
        return self.built

    @cached_property
    def _mean_square(self) -> Estimate | Unavailable:
        """E‖Z‖², exact or with an interval."""
        if isinstance(self.strategy, Unavailable):
            return self.strategy
        moments = self.strategy.moments(self.spec.stream("moments"))
        return moments if isinstance(moments, Unavailable) else moments.mean_square

    @property
    def unavailable(self) -> str:
        return self._mean_square.reason if isinstance(self._mean_square, Unavailable) else ""

    @property
    def guarantee(self) -> Guarantee | None:
        return None if isinstance(self.strategy, Unavailable) else self.strategy.guarantee

    @property
    def errors(self) -> pd.DataFrame:
        import pandas as pd

        found = self._mean_square
        numbers = (math.nan,) * 3 if isinstance(found, Unavailable) else (found.value, found.low, found.high)
        columns = dict(zip(("variance", "low", "high"), ([number] for number in numbers), strict=True))
        return pd.DataFrame(columns, index=pd.Index(["all queries"], name="query"))

    @property
    def worst_variance(self) -> float:
        return float(self.errors["variance"].iloc[0])

    @property
    def average_variance(self) -> float:
        return self.worst_variance

    @property
    def lower_bound(self) -> float:
        return math.nan

    def sample_complexity(self, alpha: float) -> float:
        """Return √(E‖Z‖² ÷ (queries · α)), of the upper end of E‖Z‖² where it is simulated."""
        return math.sqrt(float(self.errors["high"].iloc[0]) / (self.workload.queries * alpha))

    def _simulated(self, counts: FloatArray, rng: np.random.Generator) -> dict[str, Any]:
        if isinstance(self.strategy, Unavailable):
            return {}
        means = self.strategy.simulate_release(counts, rng)
        if isinstance(means, Unavailable):
            raise BadValue("mechanism", self.mechanism.name, "draw its noise", means.reason)
        return {"estimate": means[:, 0] * counts.sum()}
