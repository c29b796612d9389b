r"""An interior-point method for the best weights of given extreme reports, which may be a million.

With the columns ζ_S of ``exact.py``, R a root of the workload and Ξ(p) = Σ p_S ζ_Sζ_Sᵀ, it solves

.. math:: \min_{p\ge0}\; \operatorname{tr}(R^\top\Xi(p)^{-1}R) + \sum_S p_S \quad\text{subject to}\quad
          \sum_S p_S\zeta_S = 0 .

The first term is homogeneous of degree −1: at the optimum it equals Σp, and p/Σp is the distribution with the least
tr(RᵀΞ⁻¹R) = (Σp)². With Z = Ξ⁻¹R and M = ZZᵀ the conditions of optimality are, for a multiplier μ and slacks s ≥ 0,

.. math:: s_S = 1 - \zeta_S^\top M\zeta_S - \mu^\top\zeta_S, \qquad p_Ss_S = 0, \qquad \sum_S p_S\zeta_S = 0 .

**Newton.** Replace p_Ss_S = 0 by p_Ss_S = τ, and let D = Diag(p/s). A change of p changes M by −(Ξ⁻¹dΞM + MdΞΞ⁻¹);
eliminating ds and dp leaves equations in svec(dΞ) and dμ, n(n+1)/2 − 1 unknowns whatever the number of columns is. The
matrix needs only the moments Σ D_S ff' of f, f' ∈ {svec(ζζᵀ), ζ}. It is regular also where M is singular, as it is for
workloads of low rank.

**Lower bound.** For any Z and μ let κ = max_S ζᵀZZᵀζ + μᵀζ. Every distribution p over the columns with mean zero has
tr(ZᵀΞZ) = Σp_S ζᵀZZᵀζ ≤ κ, so tr(RᵀΞ⁺R) ≥ tr(RᵀZ)²/κ by Cauchy–Schwarz. Every iterate gives such a bound, however far
from optimal it is; the best one is kept.

**Centring.** Where the best Ξ is singular M is far from linear in p, and s can be left behind while p_Ss_S falls. So
the weights aim at the present τ and no lower while κ − 1 is far above Σ p_Ss_S.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Protocol

import numpy as np
import scipy.linalg

from factormech.arrays import FloatArray
from factormech.mechanisms.local.optimal.problem import Report, Step, Stopped
from factormech.numerics.vectors import pack, product, unpack

# A step goes up to this fraction of the way to the boundary, and aims at no less than this fraction of τ.
FRACTION_TO_BOUNDARY = 0.9
LEAST_CENTRING = 1e-2
# κ − 1 may be this many times the mean of p_Ss_S, relatively, before τ waits for it.
LAG = 30.0
# Without progress of the gap in this many iterations, rounding has the last word.
PATIENCE = 12
# |Σ p_Sζ_S| above which an iterate is not yet feasible.
FEASIBLE = 1e-8


class ExtremeColumns(Protocol):
    """The columns, by what the method asks of them; a vector over sets is flat."""

    def __len__(self) -> int: ...

    def forms(self, M: FloatArray, mu: FloatArray) -> FloatArray:
        """ζᵀMζ + μᵀζ of every column."""
        ...

    def moments(self, weights: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Σ w ζζᵀ and Σ w ζ."""
        ...

    def squared_moments(self, weights: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Σ w ff', f and f' in {svec(ζζᵀ), ζ}."""
        ...


@dataclass(frozen=True)
class Interior:
    """What was found.

    Attributes
    ----------
    weights
        p, a distribution over the columns; its mean column is zero up to ``FEASIBLE``.
    objective
        tr(RᵀΞ(p)⁻¹R).
    lower_bound
        No distribution with mean zero has less.
    dual, multiplier
        Z and μ, which prove it.
    iterations, stopped
        As in ``Optimised``.
    """

    weights: FloatArray
    objective: float
    lower_bound: float
    dual: FloatArray
    multiplier: FloatArray
    iterations: int
    stopped: Stopped


@dataclass(frozen=True)
class InteriorPoint:
    """An iterate: p, s, μ and what follows from p."""

    p: FloatArray
    s: FloatArray
    mu: FloatArray
    mean: FloatArray
    inverse: FloatArray
    Z: FloatArray

    @classmethod
    def of(cls, columns: ExtremeColumns, R: FloatArray, p: FloatArray, s: FloatArray, mu: FloatArray) -> InteriorPoint:
        """Ξ(p) must be regular, else ``LinAlgError``."""
        X, mean = columns.moments(p)
        factor = scipy.linalg.cho_factor(X, lower=True)
        inverse = scipy.linalg.cho_solve(factor, np.eye(len(X)))
        return cls(p, s, mu, mean, 0.5 * (inverse + inverse.T), scipy.linalg.cho_solve(factor, R))

    @property
    def M(self) -> FloatArray:
        """ZZᵀ."""
        return self.Z @ self.Z.T


class BestSoFar:
    """The best weights and the best bound so far; they need not come from one iterate."""

    def __init__(self, root: FloatArray) -> None:
        self.bound, self.objective, self.waiting = 0.0, np.inf, -1
        self.dual, self.multiplier = root, np.zeros(len(root))
        self.weights: FloatArray = np.zeros(0)

    @property
    def gap(self) -> float:
        """objective ÷ bound − 1."""
        return self.objective / self.bound - 1.0 if self.bound > 0.0 else np.inf

    def see(self, point: InteriorPoint, trace: float, kappa: float) -> None:
        """Learn from an iterate with tr(RᵀZ) = ``trace`` and the largest form ``kappa``."""
        before = self.gap
        if trace > 0.0 and kappa > 0.0 and trace**2 / kappa > self.bound:
            self.bound, self.dual, self.multiplier = trace**2 / kappa, point.Z, point.mu
        total = float(point.p.sum())
        if float(np.abs(point.mean).max()) <= FEASIBLE * total and trace * total < self.objective:
            self.objective, self.weights = trace * total, point.p / total
        self.waiting = 0 if self.gap < 0.9 * before else self.waiting + 1


def minimise(
    columns: ExtremeColumns, root: FloatArray, start: FloatArray, *, gap: float, iteration_limit: int, report: Report
) -> Interior:
    """Follow the path from the positive weights ``start`` until the relative gap is ``gap``; see the module.

    Parameters
    ----------
    columns
        Enough of them to span the space, with 0 in the interior of their hull.
    root
        R, (r, k), where ζ is in r dimensions.
    start
        Any positive weights; those of mean zero are best.
    """
    R, record = root, BestSoFar(root)
    point: InteriorPoint | None = _first(columns, R, start)
    stopped: Stopped = "stalled"
    for iteration in range(iteration_limit + 1):
        if point is None:
            break
        values = columns.forms(point.M, point.mu)
        kappa, trace = float(values.max()), float(np.sum(R * point.Z))
        record.see(point, trace, kappa)
        report(Step("interior point", iteration, iteration_limit, record.objective, record.bound))
        if record.gap <= gap or record.waiting > PATIENCE or iteration == iteration_limit:
            stopped = "gap" if record.gap <= gap else "iteration_limit" if iteration == iteration_limit else "stalled"
            break
        # tr(RᵀΞ⁻¹R) and Σp are equal on the path, and Σp·s is what they exceed the optimum by.
        lagging = kappa - 1.0 > LAG * float(point.p @ point.s) / trace
        point = _step(columns, R, point, 1.0 - values - point.s, lagging)
    return Interior(record.weights, record.objective, record.bound, record.dual, record.multiplier, iteration, stopped)


def _first(columns: ExtremeColumns, R: FloatArray, start: FloatArray) -> InteriorPoint:
    """``start`` in the scale where both terms of the objective are equal, unit slacks."""
    ones, zeros = np.ones(len(columns)), np.zeros(len(R))
    point = InteriorPoint.of(columns, R, start, ones, zeros)
    scale = np.sqrt(float(np.sum(R * point.Z)) / float(start.sum()))
    return InteriorPoint.of(columns, R, start * scale, ones, zeros)


def _step(
    columns: ExtremeColumns, R: FloatArray, point: InteriorPoint, residual: FloatArray, lagging: bool
) -> InteriorPoint | None:
    """A predictor and corrector step (Mehrotra, SIAM J. Optim. 2(4), 1992); None where rounding makes it impossible.

    ``residual`` is 1 − ζᵀMζ − μᵀζ − s.
    """
    try:
        newton = Newton(columns, point, residual)
        p, s = point.p, point.s
        dp, ds, _ = newton.direction(np.zeros_like(p))
        reach = min(_reach(p, dp), _reach(s, ds))
        now = float(p @ s)
        then = float((p + reach * dp) @ (s + reach * ds))
        centring = min(max((then / now) ** 3, LEAST_CENTRING), 1.0)
        tau = (1.0 if lagging else centring) * now / len(p)
        dp, ds, dmu = newton.direction(tau - dp * ds)
        reach = min(1.0, FRACTION_TO_BOUNDARY * min(_reach(p, dp), _reach(s, ds)))
        return InteriorPoint.of(columns, R, p + reach * dp, s + reach * ds, point.mu + reach * dmu)
    except (np.linalg.LinAlgError, ValueError):
        return None


def _reach(x: FloatArray, change: FloatArray) -> float:
    """The largest step up to 1/``FRACTION_TO_BOUNDARY`` that keeps x + step·change ≥ 0."""
    with np.errstate(divide="ignore", invalid="ignore"):
        steps = np.where(change < 0.0, -x / change, np.inf)
    return float(min(steps.min(), 1.0 / FRACTION_TO_BOUNDARY))


class Newton:
    """The linear system of one iterate, factored once for both directions."""

    def __init__(self, columns: ExtremeColumns, point: InteriorPoint, residual: FloatArray) -> None:
        self.columns, self.point, self.residual = columns, point, residual
        self.D = point.p / point.s
        B22, B21, B11 = columns.squared_moments(self.D)
        E = 2.0 * product(point.inverse, point.M)
        system = np.block([[np.eye(len(E)) + B22 @ E, -B21], [-B21.T @ E, B11]])
        if not np.isfinite(system).all():
            raise np.linalg.LinAlgError("the system overflows")
        self.factor, self.pivots, singular = scipy.linalg.lapack.dgetrf(system)
        if singular:
            raise np.linalg.LinAlgError("the system is singular")

    def direction(self, products: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
        """dp, ds and dμ towards p_Ss_S = ``products``."""
        point, r = self.point, len(self.point.inverse)
        base = products / point.s - point.p - self.D * self.residual
        second, first = self.columns.moments(base)
        right = np.concatenate([pack(second), -point.mean - first])
        solution, _ = scipy.linalg.lapack.dgetrs(self.factor, self.pivots, right)
        dX, dmu = unpack(solution[:-r], r), solution[-r:]
        half = -point.inverse @ dX @ point.M
        forms = self.columns.forms(half + half.T, dmu)
        return base + self.D * forms, self.residual - forms, dmu
