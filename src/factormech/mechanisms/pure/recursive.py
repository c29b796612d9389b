r"""The recursive mechanism: orthogonal subspaces, each with K-norm noise of its own share of ε.

**Subspaces** (Hardt & Talwar, STOC 2010, Section 7; Nikolov, SODA 2023, Lemma 4.4). W₁ is spanned by the bottom ⌈d/2⌉
eigenvectors of the covariance of a uniform point of B = K − K; the recursion goes on with the projection of B to the
others, and the last subspace is all that is left. A body long in few directions gives those a small noise dimension.

**Noise**, in two forms, both private by composition of M_i(X) = P_{W_i}Q(X) + Z_i/n:

* ``projected`` (Nikolov, Lemma 4.5): Z_i is K-norm noise of P_{W_i}B, E‖ε_iZ_i‖² = c_i =
  m_i(m_i + 1)·E‖D_i‖², m_i = dim W_i;
* ``hardt-talwar``: Z_i is the projection to W_i of K-norm noise of the current body, of dimension d_i, so that c_i =
  d_i(d_i + 1)·E‖P_{W_i}D‖².

The body is always K − K: noise shaped by the projection of K alone would be 2ε-private at best.

**Budget.** E‖Z‖² = Σ c_i/ε_i² under Σ ε_i = ε is least at ε_i ∝ c_i^{1/3} (``optimal``; Lagrange: c_i/ε_i³ is the same
for all i), with the value (Σ c_i^{1/3})³/ε²; ``equal`` shares give m²·Σ c_i/ε². Any estimates of the c_i are good
enough for privacy, as they depend on Q alone.

**Depth.** Stopping after t subspaces costs (Σ_{i<t} c_i^{1/3} + c^{1/3})³, c of the whole remaining body;
``depth=None`` takes the least. Depth 1 is K-norm noise. It depends on Q alone too, so that it costs no privacy.

**Random subspaces.** E‖Z‖ includes the randomness of the ladder of subspaces, for every form, depth and split of ε at
once. The subspaces follow from covariances that are estimated, so that the error is random even before any noise:
E‖Z‖ given a ladder depends on it. Independent ladders, each with noise of its own, give independent means, and
Student's interval over them holds for the expectation over both.

Within one ladder each body is drawn from once. The Z_i of one depth are of different bodies, so that they are
independent, and

.. math:: \lVert Z\rVert^2 = \sum_i \lVert ε_i Z_i\rVert^2/ε_i^2

has the right law for every depth and split. Bodies that two forms share have the same draws in both.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Literal

import numpy as np

from factormech.arrays import FloatArray, check_epsilon, check_positive_integer
from factormech.errors import Unavailable, UnknownName
from factormech.mechanisms.central.moments import LEVEL, Estimate
from factormech.mechanisms.pure.bodies import body_of, checked_queries
from factormech.mechanisms.pure.bouncy import CHAINS, Sample, chain_length, mean_of
from factormech.mechanisms.pure.directions import Directions, directions_of
from factormech.mechanisms.pure.knorm import DRAWS, KNormNoise, Moments, knorm_noise

# The mechanism.

Form = Literal["projected", "hardt-talwar"]
Split = Literal["optimal", "equal"]
FORMS, SPLITS = ("projected", "hardt-talwar"), ("optimal", "equal")


@dataclass(frozen=True)
class Stage:
    """One subspace: the noise on it at ε = 1, and its cost c.

    ``noise`` gives answers (k): F maps the directions of the body straight into W.
    """

    noise: KNormNoise
    dimension: int
    cost: float


@dataclass(frozen=True)
class Ladder:
    """The stages of every depth: ``halves[:t-1]`` and then ``wholes[t-1]`` for depth t."""

    form: Form
    halves: tuple[Stage, ...]
    wholes: tuple[Stage, ...]

    @property
    def depths(self) -> int:
        """The largest depth."""
        return len(self.wholes)

    def stages(self, depth: int) -> tuple[Stage, ...]:
        """The stages of one depth."""
        return (*self.halves[: depth - 1], self.wholes[depth - 1])

    def cost(self, depth: int, split: Split = "optimal") -> float:
        """ε²·E‖Z‖² as the estimated costs have it."""
        costs = np.array([stage.cost for stage in self.stages(depth)])
        if split == "equal":
            return float(depth**2 * costs.sum())
        return float(np.cbrt(costs).sum() ** 3)

    def best_depth(self, split: Split = "optimal") -> int:
        """Return the depth of the least ``cost``."""
        return 1 + int(np.argmin([self.cost(depth, split) for depth in range(1, self.depths + 1)]))


@dataclass(frozen=True)
class RecursiveNoise:
    """Z = Σ Z_i over orthogonal subspaces, with Σ ε_i ≤ ε in exact arithmetic."""

    stages: tuple[Stage, ...]
    shares: tuple[float, ...]
    epsilon: float

    @property
    def queries(self) -> int:
        return self.stages[0].noise.queries

    @property
    def exact(self) -> bool:
        return all(stage.noise.exact for stage in self.stages)

    def draw(self, rng: np.random.Generator, trials: int) -> FloatArray | Unavailable:
        total = np.zeros((check_positive_integer("trials", trials), self.queries))
        for stage, share in zip(self.stages, self.shares, strict=True):
            Z = stage.noise.draw(rng, trials)
            if isinstance(Z, Unavailable):
                return Z
            total += Z / share
        return total

    def moments(self, rng: np.random.Generator, draws: int = DRAWS, level: float = LEVEL) -> Moments | Unavailable:
        """E‖Z‖² is the sum over the stages, and ‖Z‖² = Σ‖Z_i‖² with independent radii, as they are orthogonal."""
        low = high = value = 0.0
        squares, diagnoses = np.zeros(1), []
        for stage, share in zip(self.stages, self.shares, strict=True):
            sample = stage.noise.directions.sample(rng, CHAINS * chain_length(draws))
            if isinstance(sample, Unavailable):
                return sample
            lengths = stage.noise.squared_lengths(sample.chains).reshape(CHAINS, -1)
            d = stage.noise.dimension
            squares = squares + lengths * (rng.standard_gamma(d, lengths.shape) / share) ** 2
            part = stage.noise.mean_square(sample, level / len(self.stages))
            value, low, high = value + part.value / share**2, low + part.low / share**2, high + part.high / share**2
            diagnoses += [] if sample.diagnosis is None else [sample.diagnosis]
        return Moments(Estimate(value, low, high), mean_of(np.sqrt(squares), not diagnoses, level), tuple(diagnoses))


def recursive_noise(
    queries: Any,
    epsilon: float,
    rng: np.random.Generator,
    *,
    form: Form = "projected",
    split: Split = "optimal",
    depth: int | None = None,
) -> RecursiveNoise | Unavailable:
    """The recursive mechanism's noise; ``rng`` is for estimates of covariances that no formula gives.

    A ``depth`` beyond the last is the last; None takes the depth of least estimated cost.
    """
    steps = ladder(queries, rng, form=form, depth=depth)
    return steps if isinstance(steps, Unavailable) else noise_of(steps, epsilon, split=split, depth=depth)


def noise_of(steps: Ladder, epsilon: float, *, split: Split = "optimal", depth: int | None = None) -> RecursiveNoise:
    """The noise of one depth of a ladder, which serves every ε, split and depth."""
    epsilon = check_epsilon(epsilon)
    if split not in SPLITS:
        raise UnknownName("split", split, SPLITS)
    chosen = steps.best_depth(split) if depth is None else min(check_positive_integer("depth", depth), steps.depths)
    stages = steps.stages(chosen)
    return RecursiveNoise(stages, shares_of(np.array([stage.cost for stage in stages]), epsilon, split), epsilon)


def ladder(
    queries: Any, rng: np.random.Generator, *, form: Form = "projected", depth: int | None = None, draws: int = DRAWS
) -> Ladder | Unavailable:
    """All stages to a depth (None: until one dimension is left), with costs from formulas or ``draws`` directions."""
    found = ladders(queries, rng, (form,), depth=depth, draws=draws)
    return found if isinstance(found, Unavailable) else found[form]


def ladders(
    queries: Any,
    rng: np.random.Generator,
    forms: Sequence[Form],
    *,
    depth: int | None = None,
    draws: int = DRAWS,
    noise: KNormNoise | None = None,
) -> dict[Form, Ladder] | Unavailable:
    """The ladders of several forms of noise on the same subspaces, with the same bodies.

    ``noise`` is that of the whole body at ε = 1, where it is there already: it knows how to start its chains.
    """
    for form in forms:
        if form not in FORMS:
            raise UnknownName("form", form, FORMS)
    Q = checked_queries(queries)
    noise = knorm_noise(Q, 1.0) if noise is None else noise
    R = np.linalg.qr(noise.frame)[0]
    halves: dict[Form, list[Stage]] = {form: [] for form in forms}
    wholes: list[Stage] = []
    while True:
        covariance = _covariance(noise, R, rng, draws)
        if isinstance(covariance, Unavailable):
            return covariance
        d = R.shape[1]
        wholes.append(Stage(noise, d, d * (d + 1) * float(np.trace(covariance))))
        if d <= 1 or len(wholes) == depth:
            return {form: Ladder(form, tuple(halves[form]), tuple(wholes)) for form in forms}
        vectors = np.linalg.eigh(covariance)[1]
        low, R = R @ vectors[:, : (d + 1) // 2], R @ vectors[:, (d + 1) // 2 :]
        for form in forms:
            half = _half(noise, low, Q, form, rng, draws)
            if isinstance(half, Unavailable):
                return half
            halves[form].append(half)
        body = body_of(R.T @ Q)
        noise = KNormNoise(R @ body.frame, directions_of(body), 1.0)


def shares_of(costs: FloatArray, epsilon: float, split: Split = "optimal") -> tuple[float, ...]:
    """The ε_i, whose sum as real numbers is at most ε. A stage of cost 0 has no noise and would take nothing."""
    weights = np.cbrt(costs) if split == "optimal" else np.ones(len(costs))
    weights = np.maximum(weights, 1e-6 * weights.max(initial=0.0)) if weights.any() else np.ones(len(costs))
    shares = [float(share) for share in epsilon * weights / weights.sum()]
    while sum(map(Fraction, shares)) > Fraction(epsilon):
        shares = [share * (1.0 - 2.0**-52) for share in shares]
    return tuple(shares)


def _half(
    noise: KNormNoise, W: FloatArray, queries: FloatArray, form: Form, rng: np.random.Generator, draws: int
) -> Stage | Unavailable:
    """The stage of the subspace spanned by the orthonormal columns of W, (k, m)."""
    projected = form == "projected"
    part = projected_noise(W, queries) if projected else KNormNoise(W @ (W.T @ noise.frame), noise.directions, 1.0)
    covariance = _covariance(part, W, rng, draws)
    if isinstance(covariance, Unavailable):
        return covariance
    d = part.dimension
    return Stage(part, W.shape[1], d * (d + 1) * float(np.trace(covariance)))


def projected_noise(W: FloatArray, queries: FloatArray) -> KNormNoise:
    """Return K-norm noise at ε = 1 of the body projected to the span of the orthonormal columns of W, (k, m)."""
    body = body_of(W.T @ queries)
    return KNormNoise(W @ body.frame, directions_of(body), 1.0)


def _covariance(noise: KNormNoise, basis: FloatArray, rng: np.random.Generator, draws: int) -> FloatArray | Unavailable:
    """E D Dᵀ of the directions as answers, in the coordinates of an orthonormal ``basis``, (k, d)."""
    inside = noise.directions.second_moment
    G = basis.T @ noise.frame
    if inside is None:
        sample = noise.directions.sample(rng, draws)
        if isinstance(sample, Unavailable):
            return sample
        D = sample.directions
        inside = D.T @ D / len(D)
    return np.asarray(G @ inside @ G.T)


# Random subspaces.


@dataclass(frozen=True)
class Drawn:
    """Directions of a body, (chains, draws, d), and radii of law Gamma(d) for them."""

    directions: Directions
    chains: FloatArray
    radii: FloatArray


class LadderDraws:
    """The noise of the bodies of a ladder, drawn where it is first asked for."""

    def __init__(self, rng: np.random.Generator, draws: int) -> None:
        self._rng = rng
        self._draws = CHAINS * chain_length(draws)
        self._drawn: dict[int, Drawn] = {}

    def squares(self, noise: KNormNoise) -> FloatArray | Unavailable:
        """‖εZ‖² of one stage, (draws,)."""
        key = id(noise.directions)
        if key not in self._drawn:
            sample = noise.directions.sample(self._rng, self._draws)
            if not isinstance(sample, Sample):
                return sample
            radii = self._rng.standard_gamma(noise.dimension, sample.chains.shape[:2])
            self._drawn[key] = Drawn(noise.directions, sample.chains, radii)  # which keeps the id from another's use
        drawn = self._drawn[key]
        return np.ravel(noise.squared_lengths(drawn.chains) * drawn.radii**2)

    def norms(self, steps: Ladder, depth: int, split: Split) -> FloatArray | Unavailable:
        """‖Z‖ at ε = 1 of one depth of a ladder, (draws,): E‖Z‖² is the mean of their squares."""
        noise = noise_of(steps, 1.0, split=split, depth=depth)
        total = np.zeros(self._draws)
        for stage, share in zip(noise.stages, noise.shares, strict=True):
            squares = self.squares(stage.noise)
            if isinstance(squares, Unavailable):
                return squares
            total += squares / share**2
        return np.sqrt(total)
