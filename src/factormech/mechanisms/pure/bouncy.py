r"""Directions of K-norm noise from the bouncy particle sampler, the gauge of a body, and what draws are worth.

**What draws are worth.** Effective sample size, R̂, intervals, and identities that the law of a chain must fulfil.
Effective sample sizes and R̂ are those of Vehtari, Gelman, Simpson, Carpenter & Bürkner (Bayesian Analysis 16, 2021)
without ranks: chains are split in halves, autocorrelations summed over Geyer's initial monotone sequence of pairs
(Statistical Science 7, 1992).

**Identities.** Let η be the gradient of the gauge: ‖x‖_B = ⟨η, x⟩. Integration by parts of a function h against
e^{−‖x‖_B} gives E ∂_i h = E h η_i (Stein's identity). The radius is independent and Gamma(d), so that for h homogeneous
of degree p the directions alone fulfil

.. math:: E\, ∂_i h(D) = (d + p - 1)\, E\, h(D) η_i(D) , \qquad
          E\,φ'(D_i)(1 - D_iη_i) = (d - 1)\,E\,φ(D_i) η_i ,

the second for h = ‖x‖φ(x_i/‖x‖). A sampler that draws radii from their own law cannot test itself by its radii; these
identities have no radius. Radii are tested only where the chain moves them.

**The gauge ‖z‖_B of a body.** A walk over its facet cones finds it with its own proof, and audits the privacy. Each
value comes between ⟨η, z⟩/max|⟨a_i, η⟩|, which any η proves from below, and ‖u‖₁ with Au = z, from above.

**The sampler.** Every run has a diagnosis. The chain lives on exp(−‖x‖_B) in coordinates in which it has about unit
deviation in every direction (the gauge does not care), and a velocity lasts about 1/``REFRESHMENT`` deviations. The
frame of a body makes its columns a round cloud, and that makes most bodies round enough: a pilot finds their size.
Four chains start from independent random facets; the first places of each are thrown away. Where they are not worth
enough, their own places tell the shape of the body, and other chains are run in coordinates that make it round. A run
whose diagnosis finds a fault is refused: no errors come from a chain that has not mixed.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.stats import gamma, norm, t

from factormech.arrays import FloatArray, IntArray, check_positive_integer
from factormech.errors import BadValue, Unavailable
from factormech.mechanisms.central.moments import LEVEL, Estimate
from factormech.mechanisms.pure.bodies import Body

if TYPE_CHECKING:
    from factormech.mechanisms.pure.facet_walk import Cone


# What draws are worth.

# A chain of which one of these does not hold gives no errors.
LARGEST_R_HAT = 1.02
SMALLEST_EFFECTIVE = 400.0
SMALLEST_P_VALUE = 1e-6
LARGEST_RESIDUAL = 1e-6


@dataclass(frozen=True)
class Diagnosis:
    """How well chains of directions have mixed.

    Attributes
    ----------
    effective
        The smallest effective sample size of the coordinates of D, their squares, ‖D‖, ‖D‖² and the gauge.
    r_hat
        The largest split R̂ of the same.
    law
        p-value of what the law must fulfil, at the effective sample sizes: Stein's identities of the directions, and
        Gamma(d) of gauges that the chain moves itself.
    residual
        The largest relative difference between two computations of the gauge at the recorded places.
    walls, bounces
        Facet cones crossed and bounces taken, in all.
    """

    effective: float
    r_hat: float
    law: float
    residual: float
    walls: int
    bounces: int

    @property
    def shortage(self) -> float:
        """How many times longer the chains should have been, roughly, to be worth enough and to agree.

        Effective sizes grow with the length, and R̂² − 1 falls as their inverse, so that R̂ − 1 does.
        """
        worth = SMALLEST_EFFECTIVE / max(self.effective, 1.0)
        return max(worth, (self.r_hat - 1.0) / (LARGEST_R_HAT - 1.0))

    @property
    def fault(self) -> str | None:
        """Why the draws must not be used, if they must not."""
        if not self.residual <= LARGEST_RESIDUAL:
            return f"the gauge of the chain is off by {self.residual:.2g} of itself: rounding has won"
        if not self.r_hat <= LARGEST_R_HAT:
            return f"the chains have not mixed: R̂ = {self.r_hat:.3f} > {LARGEST_R_HAT}"
        if not self.effective >= SMALLEST_EFFECTIVE:
            return f"the chains are worth {self.effective:.0f} independent draws, fewer than {SMALLEST_EFFECTIVE:.0f}"
        if not self.law >= SMALLEST_P_VALUE:
            return f"the chain does not follow its law: p = {self.law:.2g}"
        return None


@dataclass(frozen=True)
class Sample:
    """Directions (chains, draws, d); without a ``diagnosis`` they are independent."""

    chains: FloatArray
    diagnosis: Diagnosis | None = None

    @property
    def directions(self) -> FloatArray:
        """All of them, (chains × draws, d)."""
        return self.chains.reshape(-1, self.chains.shape[-1])

    def mean(self, of: Callable[[FloatArray], FloatArray], level: float = LEVEL) -> Estimate:
        """The mean of a function of directions, (…, d) → (…), with an interval by the central limit theorem."""
        return mean_of(of(self.chains), self.diagnosis is None, level)


def mean_of(values: FloatArray, independent: bool, level: float = LEVEL) -> Estimate:
    """The mean of draws (chains, draws) with an interval; Student's, at the effective number of a chain's."""
    value = float(values.mean())
    count = float(values.size) if independent else max(2.0, effective_size(values))
    half = float(t.isf(level / 2, count - 1.0)) * float(values.std(ddof=1)) / math.sqrt(count)
    return Estimate(value, value - half, value + half)


def effective_size(values: FloatArray) -> float:
    """How many independent draws the mean of the chains ``values``, (chains, draws), is worth: at most their number."""
    x = _halves(values)
    m, n = x.shape
    within, between = float(x.var(axis=1, ddof=1).mean()), float(x.mean(axis=1).var(ddof=1))
    if within == 0.0:
        return float(m * n) if between == 0.0 else 1.0
    total = within * (n - 1) / n + between
    spectrum = np.fft.rfft(x - x.mean(axis=1, keepdims=True), 2 * n)
    covariance = np.fft.irfft(np.abs(spectrum) ** 2, 2 * n)[:, :n].mean(axis=0) / n
    correlation = 1.0 - (within - covariance * n / (n - 1)) / total
    correlation[0] = 1.0
    pairs = correlation[: n // 2 * 2].reshape(-1, 2).sum(axis=1)
    below = np.flatnonzero(pairs <= 0.0)
    pairs = np.minimum.accumulate(pairs[: below[0]] if below.size else pairs)
    return float(min(m * n / max(2.0 * pairs.sum() - 1.0, 1e-9), m * n))


def r_hat(values: FloatArray) -> float:
    """Split R̂ of chains (chains, draws): 1 where all halves agree."""
    x = _halves(values)
    n = x.shape[1]
    within, between = float(x.var(axis=1, ddof=1).mean()), float(x.mean(axis=1).var(ddof=1))
    if within == 0.0:
        return 1.0 if between == 0.0 else math.inf
    return math.sqrt((n - 1) / n + between / within)


def radial_p_value(gauges: FloatArray, dimension: int) -> float:
    """That the gauges (chains, draws) of a chain are Gamma(d): their probability integrals, in mean and in square.

    Under the law v = 2F(‖z‖) − 1 is uniform on [−1, 1]. The means of v and of v² are tested at their own effective
    sizes, and the smaller p-value is doubled.
    """
    v = 2.0 * gamma.cdf(gauges, dimension) - 1.0
    scores = [
        (v.mean(), math.sqrt(1.0 / 3.0 / effective_size(v))),
        ((v**2).mean() - 1.0 / 3.0, math.sqrt(4.0 / 45.0 / effective_size(v**2))),
    ]
    return min(1.0, 2.0 * min(2.0 * float(norm.sf(abs(gap) / spread)) for gap, spread in scores))


def stein_p_value(directions: FloatArray, normals: FloatArray) -> float:
    """That directions with the gradients η of the gauge there, both (chains, draws, d), fulfil Stein's identities.

    E[φ'(D_i)(1 − D_iη_i) − (d − 1)φ(D_i)η_i] = 0 for φ = s·tanh(D_i/s) and sD_i²/(s² + D_i²), s the root mean square
    of D_i. Both are bounded: powers of D_i have tails too long for the means of some hundred draws to be normal. Each
    of the 2d means is tested at its own effective size, and the smallest p-value is multiplied by 2d.
    """
    d = directions.shape[-1]
    s = np.sqrt((directions**2).mean(axis=(0, 1)))
    t = np.divide(directions, s, out=np.zeros_like(directions), where=s > 0.0)
    fields = [(np.tanh(t), 1.0 / np.cosh(t) ** 2), (t**2 / (1.0 + t**2), 2.0 * t / (1.0 + t**2) ** 2)]
    scores = [slope * (1.0 - directions * normals) - (d - 1) * s * field * normals for field, slope in fields]
    values = np.concatenate(scores, axis=-1)
    # What is constant but for rounding, as in one dimension, cannot fail.
    moving = [values[..., i] for i in range(2 * d) if np.ptp(values[..., i]) > 1e-9]
    sizes = [abs(float(v.mean())) / float(v.std()) * math.sqrt(effective_size(v)) for v in moving]
    return float(min(1.0, 4 * d * norm.sf(max(sizes, default=0.0))))


def diagnose(
    chains: FloatArray, lengths: FloatArray, gauges: FloatArray, law: float, residual: float, counts: IntArray
) -> Diagnosis:
    """The diagnosis of directions (chains, draws, d), their Euclidean ``lengths`` as answers and the ``gauges``."""
    d = chains.shape[-1]
    functions = [chains[..., i] for i in range(d)] + [chains[..., i] ** 2 for i in range(d)]
    functions += [lengths, lengths**2, gauges]
    effective = min(effective_size(values) for values in functions)
    largest = max(r_hat(values) for values in functions)
    return Diagnosis(effective, largest, law, residual, int(counts[0]), int(counts[1]))


def _halves(values: FloatArray) -> FloatArray:
    """Every chain as two."""
    half = values.shape[1] // 2
    return np.concatenate([values[:, :half], values[:, values.shape[1] - half :]])


# The gauge ‖z‖_B of a body.

_AGREE = 1e-9  # by how much the two sides of a gauge may differ, next to it


class Gauge:
    """‖·‖_B for many points, each found from the last."""

    def __init__(self, body: Body) -> None:
        if body.dimension == 0:
            raise BadValue("queries", body.columns.shape, "have two different columns", "nothing here needs noise")
        self.body = body

    def of(self, answers: Any) -> FloatArray:
        """‖z‖_B of each line z of ``answers``, (t, k); infinite outside the span of B."""
        Z = np.atleast_2d(np.asarray(answers, dtype=np.float64))
        X = Z @ self.body.inverse.T
        outside = np.linalg.norm(self.body.answers(X) - Z, axis=1) > 1e-9 * np.linalg.norm(Z, axis=1)
        return np.where(outside, np.inf, self.of_coordinates(X))

    def of_coordinates(self, points: FloatArray) -> FloatArray:
        """‖x‖ of each line of ``points``, (t, d) in the coordinates of the body."""
        low, high = self.interval(points)
        # The two sides of a point close to 0 differ by rounding of the size of its neighbours.
        if not np.all(high - low <= _AGREE * np.maximum(high, high.max(initial=0.0))):
            worst = float((high - low).max())
            raise BadValue(
                "points", points.shape, f"have a gauge in floats; its two sides differ by {worst:.2g}", "scale"
            )
        return low

    def interval(self, points: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Lower and upper bounds of the gauges of the lines of ``points``."""
        from factormech.mechanisms.pure import facet_walk

        body, t = self.body, len(points)
        cone, start = starting_cone(body.generators, not body.symmetric, np.random.default_rng(0))
        goals = np.zeros((t, body.generators.shape[1]))
        goals[:, : body.dimension] = points
        low, high = np.empty(t), np.empty(t)
        limit = 1000 * (body.dimension + 10)
        if facet_walk.gauges(cone, start, goals, low, high, limit) < t:
            raise BadValue("points", points.shape, "be reached by a walk over the facets", "scale the queries alike")
        return low, high


def starting_cone(generators: FloatArray, lifted: bool, rng: np.random.Generator) -> tuple[Cone, FloatArray]:
    """A facet cone of conv(±a_i) and a random point inside it, of gauge 1; of a lifted body, at height 0."""
    from factormech.mechanisms.pure import facet_walk

    basis, signs = polar_vertex(generators, lifted, rng)
    cone = facet_walk.cone_of(generators, basis, signs)
    weights = np.asarray(rng.uniform(0.5, 1.5, len(basis)))
    if lifted:
        weights[signs > 0] /= 2.0 * weights[signs > 0].sum()
        weights[signs < 0] /= 2.0 * weights[signs < 0].sum()
    weights /= weights.sum()
    start = (signs * weights) @ generators[basis]
    if lifted:
        start[-1] = 0.0
    return cone, start


def polar_vertex(generators: FloatArray, lifted: bool, rng: np.random.Generator) -> tuple[Any, FloatArray]:
    """A vertex of {η : |⟨a_i, η⟩| ≤ 1}: m independent columns that it meets, and the signs with which it does.

    From a boundary point, a random direction orthogonal to the columns already met leads to the next. The first two
    of a lifted body are its ends in one direction, so that both signs occur, as coefficients that sum to 0 need.
    """
    A, m = generators, generators.shape[1]
    eta = np.asarray(rng.standard_normal(m))
    if lifted:
        eta[-1] = 0.0
        heights = A @ eta
        eta[-1] = -0.5 * (heights.max() + heights.min()) / A[0, -1]
    heights = A @ eta
    eta /= np.abs(heights).max()
    met = [int(np.argmax(np.abs(heights)))]
    if lifted:
        met = [int(np.argmax(heights)), int(np.argmin(heights))]
    while len(met) < m:
        free = np.linalg.qr(A[met].T, mode="complete")[0][:, len(met) :]
        move = free @ rng.standard_normal(free.shape[1])
        heights, slopes = A @ eta, A @ move
        moving = np.abs(slopes) > 1e-9 * np.abs(slopes).max()
        moving[met] = False
        steps = np.full(len(A), np.inf)
        steps[moving] = (1.0 - np.sign(slopes[moving]) * heights[moving]) / np.abs(slopes[moving])
        nearest = int(np.argmin(steps))
        eta += max(0.0, float(steps[nearest])) * move
        met.append(nearest)
    return np.array(met, dtype=np.int64), np.sign(A[met] @ eta)


# The sampler.

CHAINS = 4
REFRESHMENT = 0.8  # new velocities per deviation travelled
# At 160 × 512 random signs four chains of 500 places are worth 550 draws and take 45 s; the cost grows like d⁴.
LARGEST_DIMENSION = 160
_UNUSED = 50
_LEAST = 500  # places recorded by a chain at least: fewer say nothing of mixing
_MOST_TIME = 4.0  # chains that are too short by no more than this are run again, with more time between places
_TRIES = 3
_PILOT = 50  # places recorded by each run of the pilot


@dataclass(frozen=True)
class ChainDirections:
    """The chain of a body; ``interval`` is the time, in deviations travelled, between two recorded places."""

    body: Body
    refreshment: float = REFRESHMENT
    interval: float = 1.0
    radial: bool = True
    name: str = "chain"

    @property
    def second_moment(self) -> FloatArray | None:
        return None

    def sample(self, rng: np.random.Generator, trials: int) -> Sample | Unavailable:
        """At least ``trials`` directions from four chains, as long as ``_LEAST`` at least; or why they are refused.

        Chains that are too short are run again in coordinates that the first ones teach, with more time between the
        places, and once more if they are still too short, but not by much.
        """
        trials = check_positive_integer("trials", trials)
        d = self.body.dimension
        if d > LARGEST_DIMENSION:
            return Unavailable(f"K-norm noise is sampled in at most {LARGEST_DIMENSION} dimensions, here are {d}")
        found, stretch, time = self._tried(rng, self._size * np.eye(d), chain_length(trials), 1.0), None, 1.0
        for again in range(1, _TRIES):
            short = 0.0 if isinstance(found, Unavailable) or found.diagnosis is None else found.diagnosis.shortage
            if not short > 1.0 or isinstance(found, Unavailable) or (again > 1 and short > _MOST_TIME):
                break
            # As many places, farther apart, by other random numbers.
            stretch = rounder(found.chains) if stretch is None else stretch
            time *= 1.5 * min(short, _MOST_TIME)
            found = self._tried(rng, stretch, chain_length(trials), time)
        if isinstance(found, Sample) and found.diagnosis is not None and found.diagnosis.fault is not None:
            return Unavailable(found.diagnosis.fault)
        return found

    def _tried(self, rng: np.random.Generator, stretch: FloatArray, draws: int, time: float) -> Sample | Unavailable:
        """The directions of four chains with ``time`` intervals between their places, whatever they are worth."""
        runs = [self._run(stretch, one, draws, time) for one in rng.spawn(CHAINS)]
        if any(run is None for run in runs):
            return Unavailable("the walk over the facets was lost to rounding: queries too unlike in size")
        found = [run for run in runs if run is not None]
        gauges = np.array([run.gauges for run in found])
        places = np.array([run.places for run in found]) / gauges[..., None]
        law = stein_p_value(places, np.array([run.normals for run in found]))
        if not self.radial:
            law = min(law, radial_p_value(gauges, self.body.dimension))
        chains = places @ stretch.T
        lengths = np.linalg.norm(self.body.answers(chains), axis=-1)
        counts = np.array([run.counts for run in found]).sum(axis=0)
        residual = max(run.residual for run in found)
        return Sample(chains, diagnose(chains, lengths, gauges, law, residual, counts))

    @cached_property
    def _size(self) -> float:
        """The deviation of a coordinate: from a guess, the gauges of random directions, a pilot finds it.

        It depends on the body alone.
        """
        d = self.body.dimension
        theta = np.random.default_rng(0).standard_normal((8, d))
        theta /= np.linalg.norm(theta, axis=1, keepdims=True)
        size = math.sqrt(d) / float(Gauge(self.body).of_coordinates(theta).mean())
        runs = [self._run(size * np.eye(d), one, _PILOT) for one in np.random.default_rng(0).spawn(2)]
        found = [d / run.gauges[:, None] * run.places for run in runs if run is not None]
        return size * float(np.sqrt((np.concatenate(found) ** 2).mean())) if found else size

    def _run(self, stretch: FloatArray, rng: np.random.Generator, draws: int, time: float = 1.0) -> _Chain | None:
        """One chain after its burn-in; nothing if rounding has lost the walk."""
        from factormech.mechanisms.pure import facet_walk

        d, lifted = self.body.dimension, not self.body.symmetric
        columns = self.body.generators.copy()
        columns[:, :d] = np.linalg.solve(stretch, columns[:, :d].T).T
        cone, place = starting_cone(columns, lifted, rng)
        place *= rng.standard_gamma(d)
        velocity = np.zeros(len(place))
        velocity[:d] = rng.standard_normal(d)
        unused = _UNUSED + draws // 10
        places, gauges = np.empty((unused + draws, len(place))), np.empty(unused + draws)
        normals, counts, residual = np.empty_like(places), np.zeros(3, dtype=np.int64), np.zeros(1)
        arguments = (
            self.refreshment,
            self.interval * time,
            self.radial,
            rng,
            places,
            normals,
            gauges,
            counts,
            residual,
        )
        if facet_walk.bounce(cone, int(lifted), place, velocity, *arguments) < len(places):
            return None
        return _Chain(places[unused:, :d], normals[unused:, :d], gauges[unused:], counts, float(residual[0]))


def rounder(chains: FloatArray) -> FloatArray:
    """S, (d, d), with x = S y for a y of about unit deviation in every direction, from directions (chains, draws, d).

    At a gauge near d, x has d² times their second moment. It is mixed with a round one in equal parts: chains that are
    not worth much know no small eigenvalue.
    """
    D = chains.reshape(-1, chains.shape[-1])
    d = D.shape[1]
    moment = d**2 * (D.T @ D) / len(D)
    return np.linalg.cholesky(0.5 * (moment + np.trace(moment) / d * np.eye(d)))


@dataclass(frozen=True)
class _Chain:
    """One chain: its places with η and gauge there, the counts of events, and the largest relative gap of a gauge."""

    places: FloatArray
    normals: FloatArray
    gauges: FloatArray
    counts: IntArray
    residual: float


def chain_length(trials: int) -> int:
    """Places that each of the chains records for this many trials."""
    return max(_LEAST, math.ceil(trials / CHAINS))
