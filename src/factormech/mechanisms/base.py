"""The protocol of a mechanism, and how fitted mechanisms, workloads and plans look in a terminal and in a notebook.

**The protocol.** A mechanism is a name with its settings; it is fitted to a workload, and then has exact errors and a
guarantee. A fixed strategy, a solved strategy, a factorization with Gaussian noise and additive noise of pure privacy
differ in what ``fit`` does, and in nothing that a caller sees. A family is one module with ``names()``,
``check(mechanism)`` and ``fit(mechanism, workload, seed, root_seed, report)``; to add one, write it and its line in
``FAMILIES``.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field
from html import escape
from importlib import import_module
from typing import TYPE_CHECKING, Any

import numpy as np

from factormech.arrays import FloatArray, check_budget, check_positive_integer
from factormech.errors import BadValue, UnknownName
from factormech.labels import mechanism_label, percent
from factormech.privacy.guarantee import Guarantee
from factormech.spec import Spec
from factormech.workloads.base import Workload

if TYPE_CHECKING:
    import pandas as pd


# How objects look.


def guarantee(stated: Guarantee | None) -> str:
    """Return a guarantee in words: its numbers, between which neighbours, and on what ground."""
    if stated is None:
        return "none"
    numbers = f"ε = {stated.epsilon:g}" if stated.rho is None else f"ρ = {stated.rho:g}"
    delta = f", δ = {stated.delta:g}" if stated.delta else ""
    return f"{numbers}{delta}; neighbours: {stated.relation}; {stated.ground}"


def text(title: str, facts: Mapping[str, str]) -> str:
    """Return facts as aligned lines under a title."""
    width = max(map(len, facts))
    return "\n".join([title, *(f"  {key:<{width}}  {value}" for key, value in facts.items())])


def in_words(value: Any) -> str:
    """Return a setting as a configuration has it: lists with commas, mappings as ``key: value``, yes and no."""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, Mapping):
        return "; ".join(f"{key}: {in_words(item)}" for key, item in value.items())
    if isinstance(value, (list, tuple)):
        return ", ".join(map(in_words, value))
    return f"{value:g}" if isinstance(value, float) else str(value)


def html(facts: Mapping[str, str]) -> str:
    """Return facts as an HTML table of two columns."""
    rows = "".join(f"<tr><th>{escape(key)}</th><td>{escape(value)}</td></tr>" for key, value in facts.items())
    return f"<table>{rows}</table>"


# The protocol.

FAMILIES = {
    "local": "factormech.mechanisms.local.fitted",
    "central": "factormech.mechanisms.central.fitted",
    "pure": "factormech.mechanisms.pure.fitted",
}
_SPELLINGS = {"optimized": "optimised"}


def mechanism(name: str, epsilon: float, delta: float | None = None, **options: Any) -> Mechanism:
    """Return the mechanism of a name at a privacy budget: local, central or purely private.

    Parameters
    ----------
    name
        One of :func:`factormech.mechanisms`.
    epsilon
        The privacy budget ε.
    delta
        δ, of a central mechanism with Gaussian noise; the others have none.
    **options
        Settings: ``objective``, ``effort``, ``rows`` of ``optimised``; ``rows`` of ``adaptive-pgd``; ``calibration``,
        ``alpha``, ``base`` of central ones.

    Returns
    -------
    Mechanism
        Call its ``fit`` with a workload.

    Raises
    ------
    BadValue
        If the name is unknown, or a budget or a setting is not one of the mechanism's.

    Examples
    --------
    >>> import factormech as fm
    >>> fm.mechanism("optimised", epsilon=1.0, objective="worst")
    <Mechanism Optimised (worst case): local, ε = 1>
    """
    name = _SPELLINGS.get(name, name) if isinstance(name, str) else name
    family = family_of(name)
    if delta is not None and not (isinstance(delta, (int, float)) and 0.0 < delta < 1.0):
        raise BadValue("delta", delta, "be a number above 0 and below 1", "give for example 1e-9")
    made = Mechanism(name, family, check_budget(epsilon), delta, options)
    import_module(FAMILIES[family]).check(made)
    return made


def names() -> dict[str, list[str]]:
    """Return the names of all mechanisms, by family; ``{p}`` stands for a whole number."""
    return {family: import_module(module).names() for family, module in FAMILIES.items()}


def family_of(name: Any) -> str:
    """Return the family of a mechanism's name; an unknown name is answered with the known ones."""
    for family, module in FAMILIES.items():
        if isinstance(name, str) and import_module(module).has(_SPELLINGS.get(name, name)):
            return family
    raise UnknownName("mechanism", name, [one for each in names().values() for one in each])


@dataclass(frozen=True)
class Mechanism:
    """A mechanism with its budget and settings, not yet fitted to a workload; :func:`factormech.mechanism` makes it.

    Attributes
    ----------
    name, family
        The registered name, and ``local``, ``central`` or ``pure``.
    epsilon, delta
        The budget; δ is None where the mechanism takes none.
    options
        The settings that were given.

    Examples
    --------
    >>> import factormech as fm
    >>> fm.mechanism("hadamard", epsilon=2).family
    'local'
    """

    name: str
    family: str
    epsilon: float
    delta: float | None = None
    options: Mapping[str, Any] = field(default_factory=dict)

    @property
    def label(self) -> str:
        """The label of the mechanism, settings included."""
        return mechanism_label(self.name, self.options)

    def fit(self, workload: Workload, seed: int = 0, root_seed: int = 0, report: Any = None) -> Fitted:
        """Return the mechanism for a workload: built, or solved here and now to the bits of the pipeline's file.

        Parameters
        ----------
        workload
            Of :func:`factormech.workload`.
        seed, root_seed
            The value on a study's axis ``seed``, and the ``seed`` of a configuration, which name the random stream.
        report
            A function that solvers tell where they stand.

        Returns
        -------
        Fitted
            With the reason in ``unavailable``, and NaN for numbers, where the mechanism cannot run.

        Examples
        --------
        >>> import factormech as fm
        >>> fitted = fm.mechanism("rappor", epsilon=1.0).fit(fm.workload("prefix", 8))
        >>> round(fitted.worst_variance, 3)
        40.633
        """
        from factormech.workloads.given import workload as as_workload

        check_positive_integer("seed", seed, minimum=0)
        fitted: Fitted = import_module(FAMILIES[self.family]).fit(self, as_workload(workload), seed, root_seed, report)
        return fitted

    def __repr__(self) -> str:
        delta = "" if self.delta is None else f", δ = {self.delta:g}"
        return f"<Mechanism {self.label}: {self.family}, ε = {self.epsilon:g}{delta}>"


@dataclass(frozen=True, eq=False, repr=False)
class Fitted(ABC):
    """A mechanism fitted to a workload.

    Variances are of answers on counts, summed over the queries: of a local mechanism those that one user adds, of the
    others those of the whole release, however many users there are.

    Attributes
    ----------
    mechanism, workload
        What was fitted, and to what.
    spec
        The identity: equal specs give equal bits, and name the pipeline's file.
    unavailable
        Why the mechanism cannot run on this workload; empty if it can.

    Examples
    --------
    >>> import factormech as fm
    >>> fitted = fm.mechanism("randomized-response", epsilon=1.0).fit(fm.workload("histogram", 4))
    >>> fitted.available, fitted.users(rmse=0.05)
    (True, 756)
    >>> fm.mechanism("binary-tree", epsilon=1.0, delta=1e-9).fit(fm.workload("histogram", 4)).unavailable
    'it is for prefix sums and ranges only'
    """

    mechanism: Mechanism
    workload: Workload
    spec: Spec

    # What a family says -------------------------------------------------------------------------------------

    @property
    @abstractmethod
    def unavailable(self) -> str:
        """Why the mechanism cannot run on this workload; empty if it can."""

    @property
    @abstractmethod
    def guarantee(self) -> Guarantee | None:
        """ε, δ, between which neighbours, and on what ground; None where the mechanism cannot run."""

    @property
    @abstractmethod
    def errors(self) -> pd.DataFrame:
        """The variances: by user type of a local mechanism, by query of a central one, in all of a pure one.

        ``low`` and ``high`` enclose ``variance``; they are equal to it where a formula is exact.
        """

    @property
    @abstractmethod
    def worst_variance(self) -> float:
        """The largest variance over the data, summed over the queries."""

    @property
    @abstractmethod
    def average_variance(self) -> float:
        """The variance averaged over the user types, summed over the queries."""

    @property
    @abstractmethod
    def lower_bound(self) -> float:
        """A lower bound on the worst variance of every mechanism of the same guarantee; NaN where none is offered."""

    @property
    @abstractmethod
    def strategy(self) -> Any:
        """The object behind it: a strategy, a factorization with noise, or additive noise."""

    @abstractmethod
    def sample_complexity(self, alpha: float) -> float:
        """The users that a mean squared error of ``alpha`` per query needs, not rounded."""

    @abstractmethod
    def _simulated(self, counts: FloatArray, rng: np.random.Generator) -> dict[str, Any]:
        """Columns of one simulated release, on counts."""

    # What follows --------------------------------------------------------------------------------------------

    @property
    def available(self) -> bool:
        """Whether the mechanism can run on this workload."""
        return not self.unavailable

    @property
    def status(self) -> str:
        """``ok``; ``unavailable`` where there is no such mechanism; ``refused`` where it cannot answer the workload."""
        return "unavailable" if self.unavailable else "ok"

    def recorded(self) -> dict[str, float]:
        """Return what the tables say beside the errors: bits of a report; the solver's outputs and certified gap."""
        return {}

    @property
    def certificate(self) -> Mapping[str, Any] | None:
        """What the solver recorded and proved: its objective, lower bound, gap; None without a solver."""
        return None

    @property
    def matrix(self) -> FloatArray | None:
        """The strategy matrix Q, outputs × user types, where there is one that can be listed."""
        return None

    @property
    def reconstruction(self) -> FloatArray | None:
        """The matrix V, queries × outputs, that the variances are of: answers are V times the counts of the reports.

        None where the strategy has no matrix that can be listed.
        """
        return None

    @property
    def gap(self) -> float:
        """Worst variance ÷ lower bound − 1; NaN where there is no bound, infinite where it proves nothing."""
        worst, bound = self.worst_variance, self.lower_bound
        if worst == 0.0 or not bound > 0.0:
            return 0.0 if worst == 0.0 else math.nan if math.isnan(bound) else math.inf
        return max(worst / bound - 1.0, 0.0)

    def users(self, rmse: float | None = None, alpha: float | None = None) -> float:
        """Return how many users a target error needs, whatever their types are.

        Parameters
        ----------
        rmse
            Root mean square error per query, as a share of the users: 0.01 is one percentage point.
        alpha
            The same squared; give one of the two.

        Returns
        -------
        float
            A whole number of at least 1; NaN where the mechanism cannot run.

        Raises
        ------
        BadValue
            If not exactly one of the two is given, or it is not above 0.

        Examples
        --------
        >>> import factormech as fm
        >>> fitted = fm.mechanism("hadamard", epsilon=1.0).fit(fm.workload("prefix", 8))
        >>> fitted.users(rmse=0.1) == fitted.users(alpha=0.01)
        True
        """
        found = self.sample_complexity(mean_square(rmse, alpha))
        return max(math.ceil(found), 1) if math.isfinite(found) else math.nan

    def simulate(self, data: Any, seed: int = 0) -> pd.DataFrame:
        """Return one simulated release on the counts of users by type; its noise is seeded, so nothing is private.

        Parameters
        ----------
        data
            The number of users of each type, as :func:`factormech.answer` takes it.
        seed
            Of the noise, and of the reports.

        Returns
        -------
        pandas.DataFrame
            A row for each query: ``truth``, ``estimate``, and ``standard_error`` where it is known, on counts.

        Raises
        ------
        BadValue
            If the mechanism cannot run, or the data are not counts of its user types.

        Examples
        --------
        >>> import factormech as fm
        >>> fitted = fm.mechanism("randomized-response", epsilon=2.0).fit(fm.workload("total", 3))
        >>> fitted.simulate([100, 200, 300])["truth"].tolist()
        [600.0]
        """
        import pandas as pd

        from factormech.seeds import rng_for
        from factormech.workloads.counts import counts_of
        from factormech.workloads.given import query_index

        if self.unavailable:
            raise BadValue("mechanism", self.mechanism.name, "run on this workload", self.unavailable)
        counts = counts_of(self.workload, data)
        rng = rng_for(seed, "collect", "reports", self.mechanism.name, self.workload.name)
        truth = {"truth": self.workload.answer(counts)}
        return pd.DataFrame(truth | self._simulated(counts, rng), index=query_index(self.workload))

    def plot(self, path: Any = None) -> Any:
        """Return the figure of the variances, by user type or query, beside the lower bound; see ``fm.plot``."""
        if self.unavailable:
            raise BadValue("mechanism", self.mechanism.name, "run on this workload", self.unavailable)
        from factormech.plots.plot import plot

        return plot(self, path)

    # What it looks like ----------------------------------------------------------------------------------------

    def summary(self) -> dict[str, str]:
        """Return what a reader wants to know first: workload, n, guarantee, error and gap."""
        W = self.workload
        found = {"mechanism": self.mechanism.label, "workload": f"{W.name}, {W.queries} queries over {W.domain_size}"}
        found["workload"] += " user types"
        if self.unavailable:
            return found | {"ε": f"{self.mechanism.epsilon:g}", "unavailable": self.unavailable}
        found["guarantee"] = guarantee(self.guarantee)
        found["worst variance"] = f"{self.worst_variance:.6g}"
        found["average variance"] = f"{self.average_variance:.6g}"
        found["users"] = f"{self.users(rmse=0.01):,} for a root mean square error of 1 percentage point"
        if self.certificate is not None and "gap" in self.certificate:
            found["certified gap"] = percent(float(self.certificate["gap"]))
        return found

    def __repr__(self) -> str:
        return text(type(self).__name__, self.summary())

    def _repr_html_(self) -> str:
        return html(self.summary())


def mean_square(rmse: float | None, alpha: float | None) -> float:
    """Return the mean squared error of a target that is given in one of two ways."""
    if (rmse is None) == (alpha is None):
        rule = "be given, one of them and not both"
        raise BadValue("rmse, alpha", (rmse, alpha), rule, "give for example rmse=0.01, one percentage point")
    name, value = ("rmse", rmse) if alpha is None else ("alpha", alpha)
    if isinstance(value, bool) or not isinstance(value, (int, float, np.number)) or not 0.0 < value < math.inf:
        raise BadValue(name, value, "be a finite number above 0", "give for example 0.01")
    return float(value) ** 2 if alpha is None else float(value)
