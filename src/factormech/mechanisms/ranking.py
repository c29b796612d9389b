"""Every mechanism for one question, by the users it needs, beside a lower bound that names its class of mechanisms.

Two metrics, never mixed:

* ``mse``: the exact worst-case variance of every mechanism of ``mechanisms/local/registry.py`` over queries × α, and
  the strongest lower bound on it over all unbiased linear ε-LDP strategies, in the same unit. ``optimised`` is solved
  for the worst case. Biased answers are outside of that class: beside each strategy stand the users it needs when it
  is shrunk towards the best constant answer, and the error of the constant itself (``mechanisms/local/shrinkage.py``).
* ``linf``: the users that are *guaranteed* to give every mechanism of ``mechanisms/local/factorized/registry.py`` an
  expected largest error of at most α for every distribution they are drawn from, the number that the central limit
  predicts, and the certified lower bound on any non-interactive ε-LDP mechanism (``bounds/hard/release.py``).
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from factormech import labels
from factormech.errors import BadValue, Unavailable
from factormech.mechanisms import base as show
from factormech.mechanisms.base import Mechanism
from factormech.mechanisms.local import registry
from factormech.mechanisms.local.errors import mse_sample_complexity
from factormech.mechanisms.local.factorized import registry as releases
from factormech.mechanisms.local.fitted import LocalFit, bound_of, fit
from factormech.mechanisms.local.shrinkage import Constant, best_constant, shrunk_users
from factormech.workloads.base import Workload

if TYPE_CHECKING:
    import pandas as pd

    from factormech.arrays import FloatArray
    from factormech.mechanisms.local.optimal.problem import Report

# Queries plus types of the semidefinite programs that are solved here: minutes.
SEMIDEFINITE_LIMIT = 600
_SEMIDEFINITE = frozenset({"approximate", "shifted", "half-alpha"})
# What lower bounds hold for.
UNBIASED, NON_INTERACTIVE = "unbiased linear ε-LDP strategy", "non-interactive ε-LDP mechanism"
RANDOMIZERS = ("half-sphere", "priv-unit")
# Entries of a reconstruction that is made to list the standard error of each query.
LISTED = 2**22
# Told before each mechanism: how many are done, of how many, and its name.
Step = Callable[[int, int, str], None]


@dataclass(frozen=True)
class Ranked:
    """One mechanism. ``status`` is ``ok``, or ``refused`` or ``unavailable`` with a reason; absent numbers are NaN.

    Examples
    --------
    >>> import factormech as fm
    >>> fm.plan(fm.workload("prefix", 4), epsilon=1.0, rmse=0.05).best.label
    'Optimised (worst case)'
    """

    mechanism: str
    status: str
    reason: str = ""
    sample_complexity: float = math.nan
    predicted_users: float = math.nan
    worst_variance: float = math.nan
    average_variance: float = math.nan
    privacy_loss: float = math.nan
    delta: float = 0.0
    rows: int = 0
    seconds: float = 0.0
    shrunk_complexity: float = math.nan
    shrinkage: float = math.nan
    options: Mapping[str, str | int] = field(default_factory=dict)

    @property
    def label(self) -> str:
        """The label of the mechanism, settings included."""
        base, _, randomizer = self.mechanism.partition("/")
        if self.mechanism in labels.RELEASES:
            return labels.RELEASES[self.mechanism]
        return labels.mechanism_label(base, self.options) + (f", {randomizer}" if randomizer else "")

    @property
    def users(self) -> float:
        """Whole users, at least one."""
        found = self.sample_complexity
        return max(math.ceil(found), 1) if math.isfinite(found) else math.nan

    @property
    def shrunk_users(self) -> float:
        """Whole users for the estimate shrunk by ``shrinkage`` towards the best constant; 0 where that is enough."""
        found = self.shrunk_complexity
        return math.ceil(found) if math.isfinite(found) else math.nan


@dataclass(frozen=True, repr=False)
class Ranking:
    """Mechanisms, best first, those that cannot run last; and the lower bound in the unit of ``sample_complexity``.

    The bound holds for the mechanisms of ``bound_class``. ``constant_error`` is the error of the best constant answer
    in the metric's unit, NaN where it is not known. ``fitted`` is the best mechanism fitted to the workload (``mse``):
    its matrix and reconstruction are what the users of ``best`` are of.

    Examples
    --------
    >>> import factormech as fm
    >>> found = fm.plan(fm.workload("prefix", 4), epsilon=1.0, rmse=0.05)
    >>> found.best.label, found.best.users
    ('Optimised (worst case)', 608)
    >>> found.query_errors["standard_error"].round(3).tolist()
    [0.063, 0.061, 0.063, 0.0]
    """

    metric: str
    alpha: float
    lower_bound: float
    mechanisms: Sequence[Ranked]
    reason: str = ""
    variance_bound: float = field(default=math.nan)
    constant_error: float = field(default=math.nan)
    fitted: LocalFit | None = None
    workload: Workload | None = None
    epsilon: float = field(default=math.nan)

    @property
    def query_errors(self) -> pd.DataFrame:
        """The standard error of each query with the users of ``best``, as a share of them, for its worst data.

        Empty where the best mechanism has no matrix that can be listed, or the queries are too many.
        """
        import pandas as pd

        from factormech.workloads.given import query_index

        found = self._query_errors()
        index = query_index(self.fitted.workload) if self.fitted is not None and found is not None else []
        return pd.DataFrame({"standard_error": [] if found is None else found}, index=index)

    def _query_errors(self) -> FloatArray | None:
        from factormech.mechanisms.local.errors import worst_standard_errors
        from factormech.mechanisms.local.fitted import as_matrix, reconstruction_of

        strategy = None if self.fitted is None else as_matrix(self.fitted.strategy)
        if self.fitted is None or strategy is None or self.best is None:
            return None
        W = self.fitted.workload
        if max(W.queries, W.domain_size) * strategy.outputs > LISTED:
            return None
        found = worst_standard_errors(W, strategy, reconstruction_of(strategy, W), self.best.users)
        return None if isinstance(found, Unavailable) else found

    @property
    def bound_class(self) -> str:
        """The mechanisms that the lower bound holds for."""
        return UNBIASED if self.metric == "mse" else NON_INTERACTIVE

    @property
    def best_shrunk(self) -> Ranked | None:
        """The purely ε-private mechanism that needs the fewest users when it is shrunk."""
        known = [found for found in self.mechanisms if found.status == "ok" and found.delta == 0.0]
        known = [found for found in known if math.isfinite(found.shrunk_complexity)]
        return min(known, key=lambda found: float(f"{found.shrunk_complexity:.9g}"), default=None)

    @property
    def best(self) -> Ranked | None:
        """The first that is purely ε-private, as the lower bound asks."""
        return next((found for found in self.mechanisms if found.status == "ok" and found.delta == 0.0), None)

    @property
    def table(self) -> pd.DataFrame:
        """A row for each mechanism: its users, how far above the lower bound they are, its variances."""
        import pandas as pd

        rows = [
            {
                "mechanism": labels.variant(found.mechanism, found.options),
                "users": found.users,
                "sample_complexity": found.sample_complexity,
                "lower_bound": math.nan if found.delta else self.lower_bound,
                "gap": math.nan if found.delta or found.status != "ok" else self.gap(found),
                "worst_variance": found.worst_variance,
                "average_variance": found.average_variance,
                "status": found.status,
                "reason": found.reason,
            }
            for found in self.mechanisms
        ]
        return pd.DataFrame(rows)

    @property
    def title(self) -> str:
        """The workload, the budget and the target."""
        name = "" if self.workload is None else f"{self.workload.name}, n = {self.workload.domain_size}, "
        return f"{name}ε = {self.epsilon:g}, {labels.accuracy(self.metric, self.alpha)}"

    def summary(self) -> dict[str, str]:
        """Return what a reader wants to know first: workload, ε, target, the best mechanism, the bound, the gap."""
        W, best = self.workload, self.best
        bound = max(math.ceil(self.lower_bound * (1.0 - 1e-12)), 1)
        found = {} if W is None else {"workload": f"{W.name}, {W.queries} queries over {W.domain_size} user types"}
        found |= {"ε": f"{self.epsilon:g}", "target": labels.accuracy(self.metric, self.alpha)}
        if self.metric == "mse":
            found["target"] += f", {100.0 * self.alpha**0.5:.4g} percentage points"
        if best is None:
            return found | {"best": "no mechanism can run"}
        if self.fitted is not None:
            found["guarantee"] = show.guarantee(self.fitted.guarantee)
        found |= {"best": f"{best.label}, {best.users:,} users"}
        found |= {"lower bound": f"{bound:,} users, for every {self.bound_class}"}
        return found | {"gap": labels.percent(self.gap(best))}

    def plot(self, path: Any = None) -> Any:
        """Return the figure of the users that each mechanism needs, beside the lower bound; see ``fm.plot``."""
        from factormech.plots.plot import plot

        return plot(self, path)

    def __repr__(self) -> str:
        return show.text(type(self).__name__, self.summary())

    def _repr_html_(self) -> str:
        return show.html(self.summary()) + str(self.table.to_html(index=False))

    def gap(self, found: Ranked) -> float:
        """sample complexity ÷ lower bound − 1; infinite where the bound proves nothing."""
        if found.sample_complexity == 0.0:
            return 0.0
        if not self.lower_bound > 0.0:
            return math.inf
        return max(found.sample_complexity / self.lower_bound - 1.0, 0.0)


def by_mean_squared_error(
    workload: Workload,
    epsilon: float,
    alpha: float,
    *,
    seed: int = 0,
    root_seed: int = 0,
    step: Step | None = None,
    report: Report | None = None,
) -> Ranking:
    """Rank every strategy by its exact worst-case variance; solvers call ``report`` with their progress."""
    names, constant = registry.names(), best_constant(workload.centred_gram())
    found: list[Ranked] = []
    bound, best, least = math.nan, None, math.inf
    for done, name in enumerate(names):
        if step is not None:
            step(done, len(names), name)
        start = time.perf_counter()
        options = {"objective": "worst"} if name == "optimised" else {}
        asked = Mechanism(name, "local", epsilon, options=options)
        fitted = fit(asked, workload, seed, root_seed, report)
        if name == "optimised":
            bound = bound_of(fitted)
        found.append(_evaluated(fitted, constant, alpha, start))
        if found[-1].delta == 0.0 and _digits(found[-1].sample_complexity) < least:
            best, least = fitted, _digits(found[-1].sample_complexity)
    lower = mse_sample_complexity(max(bound, 0.0), workload.queries, alpha)
    error = constant.error / workload.queries
    return Ranking("mse", alpha, lower, _sorted(found), "", bound, error, best, workload, epsilon)


def _evaluated(fitted: LocalFit, constant: Constant, alpha: float, start: float) -> Ranked:
    name, _ = fitted.mechanism.name, fitted.strategy  # restored here, within the time of solving
    seconds = time.perf_counter() - start
    if fitted.unavailable:
        return Ranked(name, fitted.status, fitted.unavailable, options=fitted.spec.options)
    queries = fitted.workload.queries
    shrunk = shrunk_users(fitted.evaluation.variance, constant.distances, queries * alpha)
    return Ranked(
        name,
        "ok",
        shrunk_complexity=shrunk.users,
        shrinkage=shrunk.factor,
        sample_complexity=fitted.sample_complexity(alpha),
        worst_variance=fitted.worst_variance,
        average_variance=fitted.average_variance,
        privacy_loss=fitted.evaluation.privacy_loss,
        delta=fitted.delta,
        rows=fitted.evaluation.outputs,
        seconds=seconds,
        options=fitted.spec.options,
    )


def by_largest_error(
    workload: Workload, epsilon: float, alpha: float, *, seed: int = 0, root_seed: int = 0, step: Step | None = None
) -> Ranking:
    """Rank every local release by the users that are proved to be enough."""
    asked = [(name, randomizer) for name in releases.names() for randomizer in _randomizers(name)]
    size = workload.queries + workload.domain_size
    if step is not None:
        step(0, len(asked) + 1, "lower bound")
    lower, reason = _least_users(workload, epsilon, alpha)
    found: list[Ranked] = []
    seeds = {"seed": seed, "root_seed": root_seed}
    for done, (name, randomizer) in enumerate(asked, start=1):
        label = f"{name}/{randomizer}" if randomizer else name
        if step is not None:
            step(done, len(asked) + 1, label)
        if name in _SEMIDEFINITE and size > SEMIDEFINITE_LIMIT:
            found.append(Ranked(label, "unavailable", _too_large(size)))
        else:
            found.append(_released(label, name, randomizer, workload, epsilon, alpha, seeds))
    return Ranking("linf", alpha, lower, _sorted(found), reason, workload=workload, epsilon=epsilon)


def _randomizers(name: str) -> Sequence[str]:
    return RANDOMIZERS if releases.uses_randomizer(name) else ("",)


def _too_large(size: int) -> str:
    return f"its semidefinite program has {size} rows (queries and types), more than {SEMIDEFINITE_LIMIT}"


def _least_users(workload: Workload, epsilon: float, alpha: float) -> tuple[float, str]:
    """The certified lower bound, and why it is not the strongest, if it is not."""
    from factormech.bounds.hard.release import lower_bound_release, users_for_query

    size = workload.queries + workload.domain_size
    if size <= SEMIDEFINITE_LIMIT:
        return lower_bound_release(workload, epsilon, alpha).users, ""
    widest = float(np.ptp(workload.matrix(), axis=1).max())
    return users_for_query(widest, epsilon, alpha), f"lower bound of a single query only: {_too_large(size)}"


def _released(
    label: str, name: str, randomizer: str, workload: Workload, epsilon: float, alpha: float, seeds: Mapping[str, int]
) -> Ranked:
    from factormech.mechanisms.local.release_errors import sample_complexity

    start = time.perf_counter()
    try:
        row = sample_complexity(workload, epsilon, alpha, name, randomizer=randomizer or RANDOMIZERS[0], **seeds)
    except BadValue as error:
        return Ranked(label, "unavailable", str(error))
    if row["reason"]:
        return Ranked(label, "unavailable", row["reason"])
    return Ranked(
        label,
        "ok",
        sample_complexity=float(row["guaranteed_drawn"]),
        predicted_users=float(row["predicted_drawn"]),
        privacy_loss=row["privacy_loss"],
        delta=row["delta"],
        seconds=time.perf_counter() - start,
    )


def _sorted(found: Sequence[Ranked]) -> list[Ranked]:
    return sorted(found, key=lambda one: (one.status != "ok", _digits(one.sample_complexity)))


def _digits(x: float) -> float:
    """Nine digits: what differs by rounding alone keeps its order, on every machine; no number comes last."""
    return math.inf if math.isnan(x) else float(f"{x:.9g}")


def simple_rival(ranking: Ranking, within: float) -> Ranked | None:
    """The best mechanism that needs no solver, if it needs at most this share more users than the best."""
    best = ranking.best
    fixed: Iterator[Ranked] = (
        one
        for one in ranking.mechanisms
        if one.status == "ok" and one.mechanism in registry.names() and not registry.is_solved(one.mechanism)
    )
    rival = next(fixed, None)
    if best is None or rival is None or rival.mechanism == best.mechanism:
        return None
    return rival if rival.sample_complexity <= (1.0 + within) * best.sample_complexity else None
