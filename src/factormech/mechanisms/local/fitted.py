"""Local mechanisms in the one protocol: fixed and solved strategies, simulated collections, files of strategies."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

import numpy as np

from factormech.arrays import FloatArray, IntArray
from factormech.errors import BadValue, Unavailable
from factormech.mechanisms.base import Fitted, Mechanism
from factormech.mechanisms.local import registry
from factormech.mechanisms.local.calibrated_columns import CalibratedColumns
from factormech.mechanisms.local.optimal.average import WORST_BOUND
from factormech.mechanisms.local.optimal.problem import silent
from factormech.mechanisms.local.solved import Solution
from factormech.mechanisms.local.strategy import Evaluation, Strategy, StrategyMatrix
from factormech.privacy.guarantee import Guarantee
from factormech.spec import Spec
from factormech.workloads.base import Workload

if TYPE_CHECKING:
    import pandas as pd

# The datasets of a strategy file that hold the queries of a workload without a registered name, and what they and the
# user types are called.
QUERIES, QUERY_NAMES, TYPE_NAMES = "queries", "query_names", "type_names"
# By the workload, as long as it lives, and the spec of the solve that they come from.
_BOUNDS: WeakKeyDictionary[Workload, dict[str, float]] = WeakKeyDictionary()


def names() -> list[str]:
    """Return every local mechanism."""
    return registry.names()


def has(name: str) -> bool:
    """Return whether this is a local mechanism."""
    return name in registry.names()


def check(mechanism: Mechanism) -> None:
    """Refuse a δ, and settings that the mechanism does not have."""
    if mechanism.delta is not None:
        rule = f"not be given for {mechanism.name}, a local mechanism"
        raise BadValue("delta", mechanism.delta, rule, "leave it out")
    for problem in registry.check_options(mechanism.name, mechanism.options):
        raise problem


def fit(mechanism: Mechanism, workload: Workload, seed: int, root_seed: int, report: Any) -> LocalFit:
    """Return the strategy for a workload, built or solved."""
    name, epsilon = mechanism.name, mechanism.epsilon
    spec = registry.strategy_spec(name, workload, epsilon, options=mechanism.options, seed=seed, root_seed=root_seed)
    if not registry.is_solved(name):
        return LocalFit(mechanism, workload, spec, registry.build(name, workload.domain_size, epsilon), None)
    return LocalFit(mechanism, workload, spec, None, registry.solution_for(spec, workload, report or silent))


@dataclass(frozen=True, eq=False, repr=False)
class LocalFit(Fitted):
    """A local mechanism fitted to a workload; every attribute is as in :class:`factormech.Fitted`.

    Attributes
    ----------
    built
        The strategy of a fixed mechanism, or why there is none.
    solution
        What the solver found, of a solved one.
    """

    built: Strategy | Unavailable | None
    solution: Solution | None

    @cached_property
    def strategy(self) -> Strategy | Unavailable:
        """The strategy, its privacy verified on the stored floats."""
        if self.solution is None:
            return self.built or Unavailable("nothing was built")
        return registry.restore(self.mechanism.name, self.solution, self.mechanism.epsilon)

    @cached_property
    def evaluation(self) -> Evaluation:
        """The exact error."""
        if isinstance(self.strategy, Unavailable):
            return Evaluation(np.full(self.workload.domain_size, np.nan), np.nan, np.nan, 0)
        return self.strategy.evaluate(self.workload.centred_gram())

    @property
    def unavailable(self) -> str:
        if isinstance(self.strategy, Unavailable):
            return self.strategy.reason
        return "" if self.evaluation.answered else self.evaluation.refusal

    @property
    def status(self) -> str:
        """``ok``; ``unavailable`` where there is no strategy; ``refused`` where it cannot answer the workload."""
        return "ok" if self.available else "unavailable" if isinstance(self.strategy, Unavailable) else "refused"

    @property
    def guarantee(self) -> Guarantee | None:
        return None if isinstance(self.strategy, Unavailable) else self.strategy.guarantee

    @property
    def delta(self) -> float:
        """The δ of the strategy itself, 0 where it is purely private."""
        return self.strategy.noisy.delta if isinstance(self.strategy, CalibratedColumns) else 0.0

    @property
    def errors(self) -> pd.DataFrame:
        import pandas as pd

        from factormech.workloads.given import type_index

        variance = self.evaluation.variance
        columns = {"variance": variance, "low": variance, "high": variance}
        return pd.DataFrame(columns, index=type_index(self.workload))

    @property
    def worst_variance(self) -> float:
        return self.evaluation.worst

    @property
    def average_variance(self) -> float:
        return self.evaluation.average

    @property
    def lower_bound(self) -> float:
        """A lower bound on the worst variance of every unbiased linear ε-LDP strategy."""
        if self.mechanism.name == "optimised" and self.spec.options.get("objective") == "worst":
            return bound_of(self)
        return worst_case_bound(self.workload, self.mechanism.epsilon, self.spec.seed or 0, self.spec.root_seed)

    @property
    def certificate(self) -> Mapping[str, Any] | None:
        return None if self.solution is None else dict(self.solution.record)

    @property
    def matrix(self) -> FloatArray | None:
        found = as_matrix(self.strategy)
        return None if found is None else found.matrix

    @property
    def reconstruction(self) -> FloatArray | None:
        found = as_matrix(self.strategy)
        return None if found is None or self.unavailable else reconstruction_of(found, self.workload)

    def sample_complexity(self, alpha: float) -> float:
        """Return worst variance ÷ (queries · α), not rounded."""
        return self.worst_variance / (self.workload.queries * alpha)

    def recorded(self) -> dict[str, float]:
        from factormech.mechanisms.local.errors import certified_gap

        if self.unavailable:
            return {}
        bits = {"log2_outputs": self.evaluation.log2_outputs}
        if self.solution is None:
            return bits
        gap = certified_gap(self.solution.record, self.average_variance)
        return {**bits, "rows": float(self.solution.record.get("rows", math.nan)), "certified_gap": gap}

    def _simulated(self, counts: FloatArray, rng: np.random.Generator) -> dict[str, Any]:
        name = self.mechanism.name
        found = collect(name, self.strategy, self.workload, counts.astype(np.int64), rng)
        return {"estimate": found.estimates, "standard_error": found.standard_errors}

    def save(self, path: str | Path) -> Path:
        """Write the file of a solved strategy, of the pipeline's kind, which ``factormech strategy`` reads.

        Parameters
        ----------
        path
            Of an HDF5 file, ``.h5``.

        Returns
        -------
        pathlib.Path

        Raises
        ------
        BadValue
            If no solver found the strategy.

        Examples
        --------
        >>> import factormech as fm, tempfile, pathlib
        >>> fitted = fm.mechanism("optimised", epsilon=1.0).fit(fm.workload("prefix", 4))
        >>> fitted.save(pathlib.Path(tempfile.mkdtemp()) / "Q.h5").exists()
        True
        """
        from factormech.store import hdf5
        from factormech.workloads.registry import is_known

        if self.solution is None:
            remedy = "save the matrix: numpy.savetxt(path, fitted.matrix)"
            raise BadValue("mechanism", self.mechanism.name, "have a solver, to be saved as its file", remedy)
        datasets: dict[str, Any] = dict(self.solution.datasets)
        if not is_known(self.workload.name) or self.workload.query_names:
            datasets[QUERIES] = self.workload.matrix()
        for key, given in ((QUERY_NAMES, self.workload.query_names), (TYPE_NAMES, self.workload.type_names)):
            if given is not None:
                datasets[key] = np.array([str(one) for one in given])
        hdf5.write(path, "strategy", datasets=datasets, attributes={**_attributes(self.spec), **self.solution.record})
        return Path(path)


def _attributes(spec: Spec) -> dict[str, Any]:
    return {
        "mechanism": spec.name,
        "workload": spec.workload.name,
        "domain_size": spec.workload.domain_size,
        "epsilon": spec.epsilon,
        "root_seed": spec.root_seed,
        "seed": spec.seed,
        "options": json.dumps(dict(spec.options), sort_keys=True),
        "code": "",
    }


def as_matrix(strategy: Any) -> StrategyMatrix | None:
    """Return a strategy with its matrix listed, or None where it has none that can be listed."""
    from factormech.mechanisms.local.symmetric.strategy import SymmetricStrategy

    found = strategy.as_matrix() if isinstance(strategy, SymmetricStrategy) else strategy
    return found if isinstance(found, StrategyMatrix) else None


def reconstruction_of(strategy: StrategyMatrix, workload: Workload) -> FloatArray:
    """Return V = W(B + 11ᵀ/n), queries × outputs: the answers are V times the counts of the reports.

    The variances of the strategy are those of this V. It is the textbook's W X⁺QᵀD⁻¹ only where the strategy's prior
    is uniform; a strategy of least worst-case variance has another.
    """
    return workload.answer(strategy.reconstruction + 1.0 / strategy.domain_size)


def worst_case_bound(workload: Workload, epsilon: float, seed: int = 0, root_seed: int = 0) -> float:
    """Return a lower bound on the worst variance of every unbiased linear ε-LDP strategy for a workload.

    The solver of the strategy of least worst variance proves the bound. It runs once in a process.
    """
    mechanism = Mechanism("optimised", "local", epsilon, None, {"objective": "worst"})
    spec = registry.strategy_spec(
        "optimised", workload, epsilon, options=mechanism.options, seed=seed, root_seed=root_seed
    )
    known = _BOUNDS.get(workload, {}).get(spec.text)
    return bound_of(fit(mechanism, workload, seed, root_seed, None)) if known is None else known


def bound_of(fitted: LocalFit) -> float:
    """Return the lower bound that the solver of least worst variance has proved, on the variance itself."""
    known, key = _BOUNDS.setdefault(fitted.workload, {}), fitted.spec.text
    if key not in known and fitted.solution is not None:
        known[key] = float(fitted.solution.record[WORST_BOUND])
    return known[key]


@dataclass(frozen=True)
class Collection:
    """One simulated collection: the estimated answers on counts, and their exact standard errors.

    Attributes
    ----------
    data
        The estimated number of users of each type.
    estimates, standard_errors
        By query; no standard errors where ``reason`` says why.
    """

    data: FloatArray
    estimates: FloatArray
    standard_errors: FloatArray | None
    reason: str


def collect(name: str, strategy: Any, workload: Workload, counts: IntArray, rng: np.random.Generator) -> Collection:
    """Sample the reports of the given users once, and estimate every answer; refused where it cannot be done."""
    from factormech.mechanisms.local.errors import estimate_covariance, standard_errors
    from factormech.mechanisms.local.simulate import simulated

    users, C = int(counts.sum()), workload.centred_gram()
    sampled = simulated(strategy)
    evaluation = sampled.evaluate(C)
    refusal = sampled.simulation_refusal(users) if evaluation.answered else evaluation.refusal
    if refusal:
        raise BadValue("mechanism", name, f"be able to collect for {workload.name}", refusal)
    centred = sampled.simulate_estimates(counts, 1, rng)[:, 0]
    data = np.asarray(centred + users / len(counts))
    covariance = estimate_covariance(sampled, C, counts.astype(float))
    if isinstance(covariance, Unavailable):
        return Collection(data, workload.answer(data), None, covariance.reason)
    return Collection(data, workload.answer(data), standard_errors(workload, covariance), "")
