"""Questions about a workload, each answered by one call: which mechanism, how many users, which norm, what is possible.

The command line asks the same functions.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any, overload

from factormech.arrays import check_budget
from factormech.errors import BadValue, UnknownName
from factormech.labels import NORM_ALIASES, variant
from factormech.mechanisms import base
from factormech.mechanisms.base import Fitted, Mechanism, mean_square
from factormech.mechanisms.local.errors import mse_sample_complexity
from factormech.workloads.base import Workload
from factormech.workloads.given import workload as as_workload

if TYPE_CHECKING:
    import pandas as pd

    from factormech.learning.plans import ClassPlan
    from factormech.mechanisms.ranking import Ranking
    from factormech.norms.certified import CertifiedNorm
    from factormech.norms.subsets.marginals import PolynomialNorm

# The target error of the figures.
ALPHA = 0.01
# The lower bound of comparisons.
BOUND = "certified"
# Copies of a k × N matrix, and of an (k + N) × (k + N) one, that the dense and the semidefinite solvers hold.
_DENSE_COPIES, _SEMIDEFINITE_COPIES = 8, 28


def mechanisms(family: str | None = None) -> list[str]:
    """Return the names of all mechanisms; ``{p}`` stands for a whole number.

    Parameters
    ----------
    family
        ``local``, ``central`` or ``pure``, for those of one family.

    Returns
    -------
    list of str

    Raises
    ------
    UnknownName
        If there is no such family.

    Examples
    --------
    >>> import factormech as fm
    >>> fm.mechanisms("pure")[:3]
    ['laplace', 'l2-ball', 'k-norm']
    """
    known = base.names()
    if family is not None and family not in known:
        raise UnknownName("family", family, known)
    return [name for each, found in known.items() if family in (None, each) for name in found]


def workloads() -> list[str]:
    """Return the names of the families of workloads; ``{k}`` stands for a whole number.

    Returns
    -------
    list of str

    Examples
    --------
    >>> import factormech as fm
    >>> "prefix" in fm.workloads()
    True
    """
    from factormech.workloads.registry import names

    return names()


def norms() -> list[str]:
    """Return the names of the factorization norms; ``{p}`` stands for a whole number from 3 to 999.

    Returns
    -------
    list of str

    Examples
    --------
    >>> import factormech as fm
    >>> fm.norms()[:2]
    ['gamma-2', 'gamma-f']
    """
    from factormech.norms.registry import quantities

    return quantities()


def fit(
    queries: Any,
    mechanism: str | Mechanism,
    epsilon: float,
    delta: float | None = None,
    *,
    seed: int = 0,
    root_seed: int = 0,
    **options: Any,
) -> Fitted:
    """Return a mechanism fitted to a workload, in one call.

    Parameters
    ----------
    queries
        A workload, or whatever :func:`factormech.workload` makes one of.
    mechanism, epsilon, delta, **options
        As for :func:`factormech.mechanism`.
    seed, root_seed
        Of the solver, as in a study.

    Returns
    -------
    Fitted

    Raises
    ------
    BadValue
        If a name, a setting or a number is wrong.

    Examples
    --------
    >>> import factormech as fm
    >>> fm.fit([[1, 0, 0], [1, 1, 0]], "randomized-response", epsilon=1.0).users(rmse=0.05)
    621
    """
    if isinstance(mechanism, Mechanism):
        rule = "be the name of a mechanism here"
        raise BadValue("mechanism", mechanism.name, rule, "call mechanism.fit(workload), which has its own settings")
    return base.mechanism(mechanism, epsilon, delta, **options).fit(as_workload(queries), seed, root_seed)


def simulate(
    queries: Any,
    data: Any,
    mechanism: str,
    epsilon: float,
    delta: float | None = None,
    *,
    seed: int = 0,
    root_seed: int = 0,
    **options: Any,
) -> pd.DataFrame:
    """Return one simulated release of the answers on given data; its noise is seeded, so nothing is private.

    Parameters
    ----------
    queries
        A workload, or whatever :func:`factormech.workload` makes one of.
    data
        The number of users of each type, as :func:`factormech.answer` takes it.
    mechanism, epsilon, delta, **options
        As for :func:`factormech.mechanism`.
    seed
        Of the solver, the reports and the noise.
    root_seed
        Of the solver, as in a study.

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
    >>> fm.simulate(fm.workload("prefix", 3), [500, 300, 200], "rappor", epsilon=2.0)["truth"].tolist()
    [500.0, 800.0, 1000.0]
    """
    fitted = fit(queries, mechanism, epsilon, delta, seed=seed, root_seed=root_seed, **options)
    return fitted.simulate(data, seed=seed)


def compare(
    queries: Any,
    epsilon: float,
    mechanisms: Iterable[str | Mechanism] | None = None,
    *,
    delta: float | None = None,
    alpha: float = ALPHA,
    seed: int = 0,
    root_seed: int = 0,
) -> pd.DataFrame:
    """Return the exact errors of mechanisms on a workload, in the columns of the tables of sample complexity.

    Parameters
    ----------
    queries
        A workload, or whatever :func:`factormech.workload` makes one of.
    epsilon
        The privacy budget.
    mechanisms
        Names, or mechanisms with settings of their own; if left out, all local ones, ``optimised`` for the worst case.
    delta
        δ of the central mechanisms among them.
    alpha
        The mean squared error per query that ``sample_complexity`` is for.
    seed, root_seed
        Of the solvers, as in a study.

    Returns
    -------
    pandas.DataFrame
        A row for each mechanism, best first, with ``status`` and ``reason`` where it cannot run; the last row is the
        lower bound on every ε-LDP mechanism, which stands in the rows of local mechanisms, too.

    Raises
    ------
    BadValue
        If a name, a setting or a number is wrong.

    Examples
    --------
    >>> import factormech as fm
    >>> table = fm.compare(fm.workload("prefix", 8), epsilon=1.0, mechanisms=["rappor", "hadamard"])
    >>> table["mechanism"].tolist()
    ['rappor', 'hadamard', 'lower-bound']
    """
    W, alpha = as_workload(queries), mean_square(None, alpha)
    asked = _every_local(epsilon) if mechanisms is None else [_asked(one, epsilon, delta) for one in mechanisms]
    if not asked:
        raise BadValue("mechanisms", [], "name at least one", "leave it out for all local ones")
    return _table(W, float(epsilon), alpha, seed, [one.fit(W, seed, root_seed) for one in asked])


def sweep(
    workloads: Iterable[Any],
    epsilon: Iterable[float],
    mechanisms: Sequence[str | Mechanism] | None = None,
    *,
    n: Iterable[int] | None = None,
    seeds: Iterable[int] = (0,),
    root_seed: int = 0,
    delta: float | None = None,
    alpha: float = ALPHA,
) -> pd.DataFrame:
    """Return the comparisons of a grid, computed in this process: every workload, n, ε and seed.

    Parameters
    ----------
    workloads
        Names, which go over the sizes ``n``, or workloads.
    epsilon, n, seeds
        The values of the axes.
    mechanisms, delta, alpha, root_seed
        As in :func:`compare`.

    Returns
    -------
    pandas.DataFrame
        The rows of :func:`compare`, point after point.

    Raises
    ------
    BadValue
        If an axis is empty, or a value on it is wrong.

    Examples
    --------
    >>> import factormech as fm
    >>> table = fm.sweep(["prefix", "histogram"], epsilon=[0.5, 1.0], n=[4, 8], mechanisms=["rappor"])
    >>> len(table[table["status"] == "ok"])
    8
    """
    import pandas as pd

    sizes = [None] if n is None else list(n)
    axes = [list(workloads), sizes, list(epsilon), list(seeds)]
    for name, axis in zip(("workloads", "n", "epsilon", "seeds"), axes, strict=True):
        if not axis:
            raise BadValue(name, axis, "have at least one value", "give a list")
    found = []
    for queries, size, budget, seed in itertools.product(*axes):
        W = as_workload(queries, size if isinstance(queries, str) else None, seed=seed, root_seed=root_seed)
        given = {"delta": delta, "alpha": alpha, "seed": seed, "root_seed": root_seed}
        found.append(compare(W, budget, mechanisms, **given))
    return pd.concat(found, ignore_index=True)


@overload
def plan(
    queries: Any,
    epsilon: float,
    *,
    rmse: float | None = None,
    alpha: float | None = None,
    metric: str = "mse",
    seed: int = 0,
    root_seed: int = 0,
    step: Any = None,
    report: Any = None,
) -> Ranking: ...
@overload
def plan(
    *,
    concept_class: str,
    epsilon: float,
    alpha: float,
    attributes: int | None = None,
    domain_size: int | None = None,
    realizable: bool = False,
    refute: bool = False,
    failure: float | None = None,
) -> ClassPlan: ...
def plan(
    queries: Any = None,
    epsilon: float | None = None,
    *,
    rmse: float | None = None,
    alpha: float | None = None,
    metric: str = "mse",
    seed: int = 0,
    root_seed: int = 0,
    step: Any = None,
    report: Any = None,
    concept_class: str | None = None,
    **task: Any,
) -> Ranking | ClassPlan:
    """Return how many users a target error needs, by mechanism, or a class of concepts, and what no mechanism can do.

    Parameters
    ----------
    queries
        A workload, or whatever :func:`factormech.workload` makes one of.
    epsilon
        The privacy budget.
    rmse
        Root mean square error per query, as a share of the users: 0.01 is one percentage point.
    alpha
        The mean squared error, ``rmse`` squared; with ``metric="linf"`` the expected largest error. Give one of both.
    metric
        ``mse`` or ``linf``.
    seed, root_seed
        Of the solvers, as in a study.
    step
        A function that is called before each mechanism with how many are done, how many there are, and its name.
    report
        A function that is called with the objective and the lower bound that a solver has reached (``mse``).
    concept_class
        In the place of queries, a class of concepts that is to be learned, such as ``conjunctions``, ``thresholds`` or
        ``file:labels.csv``; ``alpha`` is then the loss beyond that of the best concept.
    **task
        With a class: ``attributes`` (the number of bits of a point) or ``domain_size`` (the number of points, of
        thresholds, points and halfspaces), ``realizable`` (some concept loses nothing), ``refute`` (tell data that a
        concept fits from data that none does) and ``failure`` (the probability of a failure, 0.1).

    Returns
    -------
    Ranking or ClassPlan
        ``best`` is the mechanism to use; ``table`` has all of them. The ``lower_bound`` of a ranking is in users,
        and so are the ``bounds`` of a plan for a class, each with its class of protocols.

    Raises
    ------
    BadValue
        If a number is wrong, all queries are constant, or the error of a constant answer is small enough.

    Examples
    --------
    >>> import factormech as fm
    >>> found = fm.plan(fm.workload("prefix", 4), epsilon=1.0, rmse=0.05)
    >>> found.best.mechanism, found.best.users
    ('optimised', 608)
    >>> fm.plan(concept_class="conjunctions", attributes=10, epsilon=1.0, alpha=0.05, refute=True).bound.protocol
    'non-interactive'
    """
    from factormech.mechanisms import ranking

    if concept_class is not None:
        given = {"queries": queries, "rmse": rmse, "metric": None if metric == "mse" else metric}
        return _plan_of_class(concept_class, epsilon, alpha, given, task)
    if task:
        raise BadValue(next(iter(task)), next(iter(task.values())), "be given with concept_class alone", "leave it out")
    if queries is None or epsilon is None:
        missing = "queries" if queries is None else "epsilon"
        raise BadValue(missing, None, "be given", "give a workload and a budget, or concept_class and a budget")
    if metric not in ("mse", "linf"):
        raise UnknownName("metric", metric, ("mse", "linf"))
    if metric == "linf" and rmse is not None:
        remedy = f"give alpha = {rmse:g} instead, the expected largest error"
        raise BadValue("rmse", rmse, "not be given for metric linf", remedy)
    W, target, epsilon = as_workload(queries), mean_square(rmse, alpha), check_budget(epsilon)
    check_target(W, target, metric, rmse)
    told: dict[str, Any] = {"seed": seed, "root_seed": root_seed, "step": step}
    if metric == "mse":
        return ranking.by_mean_squared_error(W, epsilon, target, **told, report=report)
    return ranking.by_largest_error(W, epsilon, target, **told)


def _plan_of_class(
    name: str, epsilon: float | None, alpha: float | None, given: dict[str, Any], task: dict[str, Any]
) -> ClassPlan:
    """The plan of a class; what is for workloads alone is refused."""
    from factormech.learning.planning import FAILURE, plan_class

    for key, value in given.items():
        if value is not None:
            raise BadValue(key, value, "not be given together with concept_class", "leave it out")
    known = {"attributes", "domain_size", "realizable", "refute", "failure"}
    for key, value in task.items():
        if key not in known:
            raise BadValue(key, value, f"be one of {', '.join(sorted(known))}", "leave it out")
    if epsilon is None or alpha is None:
        missing = "epsilon" if epsilon is None else "alpha"
        raise BadValue(missing, None, "be given", "give for example 0.1")
    failure = task.pop("failure", None)
    return plan_class(name, check_budget(epsilon), alpha, **task, failure=FAILURE if failure is None else failure)


def check_target(queries: Workload, alpha: float, metric: str, rmse: float | None = None) -> None:
    """Refuse a workload of constant queries, and a target that constant answers reach; ``rmse`` if that was given."""
    from factormech.arrays import check_dense_size
    from factormech.mechanisms.local.factorized.release import half_ranges
    from factormech.mechanisms.local.shrinkage import best_constant

    check_not_constant(queries)
    if metric == "mse":
        trivial = best_constant(queries.centred_gram()).error / queries.queries
        what = "the mean squared error of the best constant answer"
    else:
        check_dense_size(f"matrix of {queries.name}", 8 * queries.queries, queries.domain_size)
        trivial, what = (
            float(half_ranges(queries.matrix()).max(initial=0.0)),
            "the largest error of the best constant answer",
        )
    if alpha >= trivial:
        name, root = ("alpha", 1.0) if rmse is None else ("rmse", 0.5)
        rule = f"be below {trivial**root:.6g}, {'' if rmse is None else 'the root of '}{what}, which needs no users"
        example = f"give for example {(trivial / 10) ** root:.2g}"
        raise BadValue(name, alpha if rmse is None else rmse, rule, example)


def check_not_constant(queries: Workload) -> None:
    """Refuse a workload in which no query tells two user types apart: ‖WP‖_F = 0, up to rounding."""
    energy = queries.frobenius_squared()
    if energy - queries.total_squared() / queries.domain_size <= 1e-12 * energy:
        rule = "have a query whose answer differs between user types"
        remedy = "constant queries need no users: the number of users, which is public, answers them"
        raise BadValue("workload", queries.name, rule, remedy)


def lower_bound(
    queries: Any, epsilon: float, *, rmse: float | None = None, alpha: float | None = None, seed: int = 0
) -> float:
    """Return a lower bound on the worst variance of every unbiased linear ε-LDP strategy, or on its users for an error.

    Parameters
    ----------
    queries
        A workload, or whatever :func:`factormech.workload` makes one of.
    epsilon
        The privacy budget.
    rmse, alpha
        A target error as in :func:`plan`, for a bound on users; with neither, on the variance of one user.
    seed
        Of the solver that proves the bound.

    Returns
    -------
    float

    Raises
    ------
    BadValue
        If a number is wrong.

    Examples
    --------
    >>> import factormech as fm
    >>> W = fm.workload("prefix", 8)
    >>> 0 < fm.lower_bound(W, epsilon=1.0) <= fm.mechanism("hadamard", epsilon=1.0).fit(W).worst_variance
    True
    """
    from factormech.mechanisms.local.fitted import worst_case_bound

    W, epsilon = as_workload(queries), check_budget(epsilon)
    bound = max(worst_case_bound(W, epsilon, seed), 0.0)
    return bound if rmse is None and alpha is None else bound / (W.queries * mean_square(rmse, alpha))


def norm(
    queries: Any,
    kind: str,
    *,
    alpha: float | None = None,
    p: float | None = None,
    n: int | None = None,
    attributes: int | None = None,
) -> CertifiedNorm | PolynomialNorm:
    """Return a factorization norm of a workload as an interval that is certified.

    Parameters
    ----------
    queries
        A workload, or whatever :func:`factormech.workload` makes one of.
    kind
        One of :func:`norms`; ``gamma2``, ``gammaF`` and the like are understood.
    alpha
        The entrywise error, of the approximate norms.
    p
        The order of ``gamma-p``, at least 2.
    n
        The number of user types, where ``queries`` is a registered name.
    attributes
        The number d of attributes, for a class on sets of attributes by its name (for example ``conjunctions``): its
        norms are computed without its 2^d × 2^d matrix, to d = 30. ``{w}-way-marginals`` go to thousands of attributes;
        of them the answer has the exact numbers that prove both ends in the place of factors.

    Returns
    -------
    CertifiedNorm
        With ``lower``, ``upper`` and the relative ``gap``, the factors ``left`` and ``right``, and what proves both.

    Raises
    ------
    BadValue
        If there is no such norm, or α or p is missing, out of place or out of range.

    Examples
    --------
    >>> import factormech as fm
    >>> found = fm.norm(fm.workload("prefix", 8), "gamma-2")
    >>> found
    <CertifiedNorm 1.51048... to 1.51048..., gap ...e-07>
    >>> fm.norm("conjunctions", "gamma-2", attributes=12, alpha=0.1)
    <CertifiedNorm 8.66901... to 8.66901..., gap ...>
    """
    from factormech.norms import registry
    from factormech.norms.approximate import labels_of

    name = norm_name(kind, alpha)
    if attributes is not None:
        return _norm_of_sets(queries, name, attributes, alpha, p, n)
    asked = None if name == "gamma-p" else registry.quantity(name)
    check_norm(name, alpha, p)
    W = as_workload(queries, n)
    _check_size(W, p if asked is None else asked.exponent)
    if asked is None:
        return registry.solve("gamma-p", W, p=p, gap=registry.quantity("gamma-2").gap)
    return registry.compute(name, labels_of(W) if asked.labels else W, alpha=alpha)


def _norm_of_sets(
    queries: Any, name: str, attributes: int, alpha: float | None, p: float | None, n: int | None
) -> CertifiedNorm | PolynomialNorm:
    """A norm of a class on sets of attributes."""
    from factormech.norms.subsets.norms import norm_of

    if not isinstance(queries, str):
        raise BadValue("attributes", attributes, "be given with a name", "leave it out for a matrix or a workload")
    if n is not None:
        raise BadValue("n", n, "not be given together with attributes", "leave it out: there are 2^attributes users")
    check_norm(name, alpha, p)
    return norm_of(queries, attributes, name, alpha)


def norm_name(kind: str, alpha: float | None = None) -> str:
    """Return the registered name of a norm, however it was written; γ₂ with an α is the approximate one."""
    name = NORM_ALIASES.get(kind, kind)
    known = [*norms(), "gamma-p"]
    if name == "gamma-2" and alpha is not None:
        return "gamma-2-approximate"
    if name not in known and not name.startswith("gamma-p"):
        raise UnknownName("norm", kind, known)
    return name


def check_norm(name: str, alpha: float | None, p: float | None) -> None:
    """Refuse an α or a p that is missing, out of place or out of range."""
    from factormech.norms.registry import quantity

    tolerant = name != "gamma-p" and quantity(name).tolerant
    if alpha is not None and not tolerant:
        remedy = "leave it out: gamma-2, gamma-2-shifted, gamma-2-difference and eta have one"
        raise BadValue("alpha", alpha, f"not be given for {name}", remedy)
    if alpha is None and tolerant:
        raise BadValue("alpha", None, f"be given for {name}", "give for example 0.1")
    if alpha is not None and not 0.0 <= alpha < math.inf:
        raise BadValue("alpha", alpha, "be a finite number of at least 0", "give for example 0.1")
    if p is not None and name != "gamma-p":
        raise BadValue("p", p, f"not be given for {name}", "leave it out, or ask for gamma-p")
    if name == "gamma-p" and (p is None or not 2.0 <= p < math.inf):
        rule = "be given for gamma-p, a finite number of at least 2"
        raise BadValue("p", p, rule, "give for example 4 (gamma-2 is the limit of large p)")


def _check_size(W: Workload, exponent: float | None) -> None:
    from factormech.arrays import check_dense_size
    from factormech.norms.by_workload import suits
    from factormech.norms.registry import quantity

    k, n = W.queries, W.domain_size
    if exponent is None:
        check_dense_size(f"semidefinite matrices of {W.name}", _SEMIDEFINITE_COPIES, k + n, k + n)
    elif not suits(W, exponent, quantity("gamma-2").gap):
        check_dense_size(f"matrices of {W.name}", _DENSE_COPIES * k, n)


def _every_local(epsilon: float) -> list[Mechanism]:
    """All local mechanisms; the table is of worst variances, so ``optimised`` is the strategy of the least worst."""
    known = base.names()["local"]
    worst = base.mechanism("optimised", epsilon, objective="worst")
    return [worst if name == "optimised" else base.mechanism(name, epsilon) for name in known]


def _asked(one: str | Mechanism, epsilon: float, delta: float | None) -> Mechanism:
    """A mechanism by its name: δ goes to central ones."""
    if isinstance(one, Mechanism):
        return one
    central = base.family_of(one) == "central"
    return base.mechanism(one, epsilon, delta if central else None)


def _table(W: Workload, epsilon: float, alpha: float, seed: int, fits: Sequence[Fitted]) -> pd.DataFrame:
    """The rows of the fits, best first, and that of the lower bound; only local mechanisms are held against it."""
    import pandas as pd

    from factormech.bounds.registry import variance_bound
    from factormech.mechanisms.local.fitted import LocalFit
    from factormech.tables.kinds import format_named

    form = format_named("sample-complexity")
    point: dict[str, Any] = {
        **form.added,
        "study": "comparison",
        "workload": W.name,
        "domain_size": W.domain_size,
        "epsilon": epsilon,
        "seed": seed,
    }
    target: dict[str, Any] = {"metric": "mse", "alpha": alpha}
    bound: dict[str, Any] = {}
    if any(isinstance(one, LocalFit) for one in fits):
        least = mse_sample_complexity(variance_bound(BOUND, W, epsilon), W.queries, alpha)
        bound = {"lower_bound": least, "bound_name": BOUND}
    rows: list[dict[str, Any]] = [
        point | target | _row(one, alpha) | (bound if isinstance(one, LocalFit) else {}) for one in fits
    ]
    last = [point | target | {"mechanism": "lower-bound", "status": "bound"} | bound] if bound else []
    rows.sort(key=lambda row: (math.isnan(row["sample_complexity"]), row["sample_complexity"]))
    table = pd.DataFrame([*rows, *last], columns=list(form.columns))
    texts = ["bound_name", "status", "reason"]
    return table.assign(**table[texts].fillna(""))


def _row(fitted: Fitted, alpha: float) -> dict[str, Any]:
    """Return the row of one mechanism in the table."""
    found: dict[str, Any] = {"mechanism": variant(fitted.mechanism.name, fitted.spec.options)}
    found |= {"status": fitted.status, "reason": fitted.unavailable}
    found |= {"sample_complexity": fitted.sample_complexity(alpha)}
    found |= {"worst_variance": fitted.worst_variance, "average_variance": fitted.average_variance}
    return found | fitted.recorded()
