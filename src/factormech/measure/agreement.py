"""Whether measured errors agree with exact ones over a whole grid: one verdict, at one simultaneous level."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from factormech.errors import BadValue
from factormech.local.error_law import SquaredError
from factormech.measure.tails import LEVEL, check_level, tail_probability, two_sided


class Compared(Protocol):
    """A point of a grid compared with its exact law: a ``Simulated``, or a row of a table made of one."""

    @property
    def trials(self) -> int: ...

    @property
    def ratio(self) -> float: ...

    @property
    def z(self) -> float: ...

    @property
    def p_value(self) -> float: ...

    @property
    def bias_ratio(self) -> float: ...

    @property
    def bias_p_value(self) -> float: ...

    @property
    def relative_variance(self) -> float: ...

    @property
    def relative_scale(self) -> float: ...


class ComparedCollection(Compared, Protocol):
    """A collection of a grid: a ``Collection``, or a row of its table. It was measured where the status is ``ok``."""

    @property
    def mechanism(self) -> str: ...

    @property
    def workload(self) -> str: ...

    @property
    def domain_size(self) -> int: ...

    @property
    def epsilon(self) -> float: ...

    @property
    def status(self) -> str: ...


@dataclass(frozen=True)
class Agreement:
    """Whether measured errors agree with exact ones over all points at once.

    Attributes
    ----------
    points, comparisons
        How many points were compared, and in how many ways in all: each point, and each pool of points, in its mean
        error and in its bias.
    worst
        What disagrees most: the place of a point in the order given, or the name of a pool.
    z
        The standardised deviation of its mean error.
    p_value
        Simultaneous, by Bonferroni's inequality over all comparisons, which need not be independent.
    level
        The chance, at most, of a disagreement where all is right.
    """

    points: int
    comparisons: int
    worst: Hashable
    z: float
    p_value: float
    level: float

    @property
    def passed(self) -> bool:
        """Whether nothing disagrees at the simultaneous level."""
        return self.p_value >= self.level


def agreement(
    results: Sequence[Compared], level: float = LEVEL, *, pools: Mapping[Hashable, Sequence[int]] | None = None
) -> Agreement:
    """Compare all points with their exact errors at one simultaneous level.

    ``pools`` names groups of points, by their places in ``results``, whose collections are independent: each group is
    also compared as one long experiment, which sees deviations too small for any of its points.
    """
    level = check_level(level)
    if not results:
        rule = "hold at least one measured point"
        raise BadValue("results", results, rule, "leave out refused and unavailable ones, and keep the others")
    for k, result in enumerate(results):
        if np.isnan(result.p_value) or np.isnan(result.bias_p_value):
            raise BadValue(f"results[{k}]", result, "have p-values", "leave out points that were not measured")
    found: list[tuple[float, float, Hashable]] = [
        (min(result.p_value, result.bias_p_value), result.z, k) for k, result in enumerate(results)
    ]
    for name, places in (pools or {}).items():
        found.append((*_pooled([results[k] for k in places]), name))
    p_value, z, worst = min(found, key=lambda entry: entry[0])
    return Agreement(len(results), 2 * len(found), worst, z, min(1.0, 2.0 * len(found) * p_value), level)


def collection_agreement(rows: Iterable[ComparedCollection], level: float = LEVEL) -> Agreement:
    """Whether all rows that were measured agree with their exact errors, at one simultaneous level.

    Rows are compared one by one, and pooled over populations, users and seeds: for each mechanism, workload, domain and
    budget, and for each mechanism and workload over all domains and budgets. Collections that differ in any of these
    are independent, given the users.
    """
    measured = [row for row in rows if row.status == "ok"]
    pools: dict[Hashable, list[int]] = {}
    for k, row in enumerate(measured):
        pools.setdefault((row.mechanism, row.workload), []).append(k)
        pools.setdefault((row.mechanism, row.workload, row.domain_size, row.epsilon), []).append(k)
    return agreement(measured, level, pools=pools)


def _pooled(results: Sequence[Compared]) -> tuple[float, float]:
    """The smaller p-value of the mean error and the bias of independent points taken together, and z of the former.

    The sum of the points' mean errors, each relative to its expectation, is again a quadratic form of the kind of
    ``tails.py``; its variance is the sum of theirs, its scale the largest.
    """
    live = [result for result in results if result.relative_variance > 0]
    if not live:
        return 1.0, 0.0
    trials = np.array([result.trials for result in live])
    variances = np.array([result.relative_variance for result in live])
    scales = np.array([result.relative_scale for result in live])
    law = SquaredError(float(len(live)), float(np.sum(variances / trials)), float(np.max(scales / trials)))
    bias_law = SquaredError(float(len(live)), float(np.sum(variances)), float(np.max(scales)))
    total = float(sum(result.ratio for result in live))
    bias = float(sum(result.bias_ratio for result in live))
    smaller = min(two_sided(total, law, 1), tail_probability(max(bias, bias_law.mean), bias_law, 1))
    return smaller, (total - law.mean) / float(np.sqrt(law.variance))
