r"""Mechanisms of pure differential privacy: the mean answers plus noise, noise laws, and projection.

**Guarantee.** Q(X) + Z/n is ε-private for data sets of the same n users but one, who is replaced. The proof is about
real numbers; `docs/pure-privacy.md` says in what sense floats and chains fall short of it.

**Error.** Nikolov's is err = E‖Z‖/(n√k), a mean of norms; the root mean square (E‖Z‖²/k)^{½}/n is at least that. Both
are the same for all data.

**Noise laws.** They are functions of the matrix that they protect; projection and JL release add such noise to the
mean answers. A law turns a matrix of columns V, (ℓ, N), into noise Z for which (1/n) Σ V_{x_i} + Z/n keeps one
guarantee, whatever V is: its shape and scale come from the differences V_x − V_y alone. So a law holds for TQ as for
Q, for every T that the data do not decide, and for all T at once if T is drawn without them (Nikolov, *Private query
release via the Johnson–Lindenstrauss transform*, SODA 2023, Lemma 3.1).

Anything with ``queries`` and ``draw(rng, trials)`` → (trials, ℓ), or a reason, is a noise here.

**Noise, then projection.** The exact Euclidean projection is on K, the hull of the columns of Q (Nikolov, Talwar &
Zhang, SIAM J. Comput. 45(2), 2016).

Ŷ = argmin_{y ∈ K} ‖Q(X) + Z/n − y‖. It is post-processing, and never moves away from Q(X) ∈ K; on every draw

.. math:: \lVert \hat Y - Q(X)\rVert^2 \le \langle Z/n, \hat Y - Q(X)\rangle
          \le \tfrac1n \max_x \langle Z, Q_x - Q(X)\rangle ,

as ⟨Q(X) + Z/n − Ŷ, Q(X) − Ŷ⟩ ≤ 0 at the projection. The release is biased: its error depends on the data.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Protocol

import numpy as np

from factormech.arrays import FloatArray, check_epsilon, check_positive_integer
from factormech.errors import BadValue, Unavailable, UnknownName
from factormech.mechanisms.central.moments import LEVEL, Estimate
from factormech.mechanisms.central.projection import Hull
from factormech.mechanisms.pure.bodies import body_of, checked_queries
from factormech.mechanisms.pure.knorm import DRAWS, Moments, PureNoise, ball_noise, knorm_noise, laplace_noise, scaled
from factormech.mechanisms.pure.recursive import recursive_noise
from factormech.mechanisms.pure.split import Aim, split_noise
from factormech.numerics.rounding import above
from factormech.privacy.gaussian import check_delta
from factormech.privacy.guarantee import CHAIN_LIMIT, REAL_LAW, Guarantee

# Mean answers of n users plus Z/n.


@dataclass(frozen=True)
class PureMechanism:
    """Q(X) + Z/n.

    Attributes
    ----------
    queries
        Q, (k, N): the answers of one user of each type.
    """

    name: str
    queries: FloatArray
    noise: PureNoise

    def __repr__(self) -> str:
        k, N = self.queries.shape
        return f"<PureMechanism {self.name}: {k} queries over {N} types, ε = {self.noise.epsilon:g}>"

    @property
    def guarantee(self) -> Guarantee:
        return Guarantee(self.noise.epsilon, ground=REAL_LAW if self.noise.exact else CHAIN_LIMIT)

    def moments(self, rng: np.random.Generator, draws: int = DRAWS, level: float = LEVEL) -> Moments | Unavailable:
        """Of the noise Z before division by n: draw them once, they serve every n."""
        return self.noise.moments(rng, draws, level)

    def simulate_release(self, data: Any, rng: np.random.Generator, trials: int = 1) -> FloatArray | Unavailable:
        """Mean answers of repeated releases, (k, trials), for experiments: a seed is known, so nothing is private."""
        x = checked_counts(data, self.queries.shape[1])
        users = float(x.sum())
        Z = self.noise.draw(rng, trials)
        if isinstance(Z, Unavailable):
            return Z
        return np.asarray((self.queries @ (x / users))[:, None] + Z.T / users)


def mean_error(moments: Moments, queries: int, users: float) -> Estimate:
    """E‖Z‖/(n√k)."""
    return scaled(moments.mean_norm, 1.0 / (users * math.sqrt(queries)))


def root_mean_square(moments: Moments, queries: int, users: float) -> Estimate:
    """(E‖Z‖²/k)^{½}/n."""
    square = moments.mean_square
    low, value, high = (math.sqrt(max(0.0, s) / queries) / users for s in (square.low, square.value, square.high))
    return Estimate(value, low, high)


def checked_counts(data: Any, types: int) -> FloatArray:
    """Return the number of users of each type as whole numbers, at least one user in all; refuse others."""
    x = np.asarray(data)
    if x.dtype.kind not in "biuf" or x.shape != (types,):
        rule = f"be counts of shape ({types},)"
        raise BadValue("data", f"{x.dtype.name} array of shape {x.shape}", rule, "give one count for each type")
    x = x.astype(np.float64)
    bad = np.flatnonzero(~((x >= 0.0) & (x <= 2.0**53) & (x == np.floor(x))))
    if bad.size:
        raise BadValue(
            f"data[{bad[0]}]", float(x[bad[0]]), "be a count", f"numbers of users are whole ({bad.size} such entries)"
        )
    if not x.any():
        raise BadValue("data", "all zeros", "count at least one user", "give a data set of n ≥ 1 users")
    return x


_RECURSIVE: dict[str, dict[str, Any]] = {
    "recursive": {"form": "projected", "split": "optimal"},
    "recursive-full": {"form": "projected", "split": "optimal", "depth": 1000},
    "recursive-equal": {"form": "projected", "split": "equal", "depth": 1000},
    "hardt-talwar": {"form": "hardt-talwar", "split": "equal", "depth": 1000},
    "hardt-talwar-optimal": {"form": "hardt-talwar", "split": "optimal", "depth": 1000},
}
_DIRECT: dict[str, Callable[[Any, float], PureNoise]] = {
    "laplace": laplace_noise,
    "l2-ball": ball_noise,
    "k-norm": knorm_noise,
}


_SPLIT: dict[str, Aim] = {"split": "noise", "split-for-projection": "projection"}


def names() -> list[str]:
    """The mechanisms of additive noise; ``recursive`` chooses its depth, the others of its kind go to the end."""
    return [*_DIRECT, *_RECURSIVE, "split"]


def build(name: str, queries: Any, epsilon: float, rng: np.random.Generator) -> PureMechanism | Unavailable:
    """The mechanism of this name for Q, (k, N); ``rng`` is for what recursive and split noise must estimate of Q."""
    Q, epsilon = checked_queries(queries), check_epsilon(epsilon)
    if name in _DIRECT:
        return PureMechanism(name, Q, _DIRECT[name](Q, epsilon))
    if name not in names():
        raise UnknownName("pure mechanism", name, names())
    noise = split_noise(Q, epsilon, rng) if name == "split" else recursive_noise(Q, epsilon, rng, **_RECURSIVE[name])
    return noise if isinstance(noise, Unavailable) else PureMechanism(name, Q, noise)


# Noise laws.

# What computed inverses of factors are scaled up by: more than their rounding.
_EXCESS = 1.0 + 1e-9


class Noise(Protocol):
    """Z, before division by the number of users."""

    @property
    def queries(self) -> int:
        """ℓ, its length."""
        ...

    def draw(self, rng: np.random.Generator, trials: int) -> FloatArray | Unavailable:
        """Draws of Z, (trials, ℓ)."""
        ...


@dataclass(frozen=True)
class Law:
    """A named law, its guarantee, and the noise of a matrix."""

    name: str
    guarantee: Guarantee
    of: Callable[[FloatArray], Noise | Unavailable]

    def draw(self, matrix: FloatArray, rng: np.random.Generator, trials: int) -> FloatArray | Unavailable:
        """Draws of the noise of a matrix (ℓ, N), (trials, ℓ); or why there are none."""
        noise = self.of(matrix)
        return noise if isinstance(noise, Unavailable) else noise.draw(rng, trials)


@dataclass(frozen=True)
class GaussianLaw:
    """N(0, σ²) in each of ℓ entries."""

    queries: int
    sigma: float

    def draw(self, rng: np.random.Generator, trials: int) -> FloatArray | Unavailable:
        return self.sigma * rng.standard_normal((check_positive_integer("trials", trials), self.queries))


def pure_law(name: str, epsilon: float, rng: np.random.Generator | None = None) -> Law:
    """Return a law of ε-private noise.

    Parameters
    ----------
    name
        ``k-norm``, ``l2-ball``, ``laplace``, ``split``, ``split-for-projection`` or a recursive mechanism.
    epsilon
        The privacy budget.
    rng
        For what recursive and split noise estimate of the matrix; the other laws take none.
    """
    epsilon = check_epsilon(epsilon)
    if name in _DIRECT:
        build = _DIRECT[name]
        ground = CHAIN_LIMIT if name == "k-norm" else REAL_LAW  # which law draws depends on the matrix
        return Law(name, Guarantee(epsilon, ground=ground), lambda V: build(V, epsilon))
    if name not in _SPLIT and name not in _RECURSIVE:
        raise UnknownName("noise", name, [*_DIRECT, *_RECURSIVE, *_SPLIT])
    if rng is None:
        raise BadValue("rng", "no generator", f"be given for {name}", "give numpy.random.default_rng(seed)")
    chance, guarantee = rng, Guarantee(epsilon, ground=CHAIN_LIMIT)
    if name in _SPLIT:
        return Law("split", guarantee, lambda V: split_noise(V, epsilon, chance, aim=_SPLIT[name]))
    return Law(name, guarantee, lambda V: recursive_noise(V, epsilon, chance, **_RECURSIVE[name]))


def gaussian_law(epsilon: float, delta: float) -> Law:
    """(ε, δ)-private Gaussian noise, σ calibrated to max‖V_x − V_y‖₂ (Balle & Wang, ICML 2018)."""
    from factormech.privacy.gaussian import standard_deviation

    epsilon, delta = check_epsilon(epsilon), check_delta(delta)

    def of(V: FloatArray) -> Noise:
        return GaussianLaw(len(V), standard_deviation(body_of(V).diameters[1], epsilon, delta))

    return Law("gaussian", Guarantee(epsilon, delta), of)


def concentrated_law(rho: float) -> Law:
    """ρ-zCDP Gaussian noise: σ = max‖V_x − V_y‖₂/√(2ρ) (Bun & Steinke, TCC 2016, Proposition 1.6)."""
    if isinstance(rho, bool) or not isinstance(rho, (int, float)) or not 0.0 < rho < math.inf:
        raise BadValue("rho", rho, "be a finite number above 0", "give for example 0.1")

    def of(V: FloatArray) -> Noise:
        return GaussianLaw(len(V), above(body_of(V).diameters[1] / math.sqrt(2.0 * rho), 4))

    return Law("gaussian", Guarantee(math.inf, 0.0, float(rho)), of)


@dataclass(frozen=True)
class ShapedNoise:
    """L times spherical noise: ``inner`` is that of the columns L⁺(V_x − c)."""

    shape: FloatArray
    inner: GaussianLaw

    @property
    def queries(self) -> int:
        return int(self.shape.shape[0])

    @property
    def mean_square(self) -> float:
        """E‖Z‖², exactly."""
        return float((self.inner.sigma * np.linalg.norm(self.shape)) ** 2)

    def draw(self, rng: np.random.Generator, trials: int) -> FloatArray | Unavailable:
        Z = self.inner.draw(rng, trials)
        return Z if isinstance(Z, Unavailable) else np.asarray(Z @ self.shape.T)


def shaped(law: Law) -> Law:
    """Return Gaussian noise of the same guarantee, shaped by the queries.

    With c the centre of the columns (of symmetry, or else their mean), V − c1ᵀ = LR is a factorization of least γ_F,
    and Z = Lz, z the noise of ``law`` for the columns of R: what a replaced user moves is L(R_x − R_y), so that the
    noise hides it as z hides R_x − R_y. Where the columns are symmetric about c, no Gaussian noise that is calibrated
    to the differences has a smaller E‖Z‖² by more than 10⁻⁶ of it: 2(V_x − c) is a difference of two columns, so that
    the ellipsoid of least trace around all differences is twice that around V − c, which L solves with a certified gap.

    Parameters
    ----------
    law
        One of :func:`gaussian_law` or :func:`concentrated_law`.
    """
    from factormech.norms.exact import factorization_norm

    def of(V: FloatArray) -> Noise | Unavailable:
        body = body_of(V)
        centre = 0.5 * (V.min(axis=1) + V.max(axis=1)) if body.symmetric else body.columns.mean(axis=1)
        if body.dimension == 0:
            return GaussianLaw(len(V), 0.0)
        L = factorization_norm(body.columns - centre[:, None], 2.0).left.dense()
        # These very columns are protected, not the computed R; the excess covers the rounding of L⁺.
        inner = law.of(_EXCESS * np.linalg.pinv(L) @ (body.columns - centre[:, None]))
        if not isinstance(inner, GaussianLaw):
            raise BadValue(
                "law", law.name, "be Gaussian noise of one deviation", "use gaussian_law or concentrated_law"
            )
        return ShapedNoise(L, inner)

    return Law(f"shaped-{law.name}", law.guarantee, of)


# Noise, then projection.


class Draws(Protocol):
    """Noise drawn once, which serves every data set and every n."""

    def answers(self, data: Any) -> FloatArray:
        """Released mean answers, (k, draws), of counts (N,)."""
        ...


class Release(Protocol):
    """A mechanism whose error depends on the data."""

    @property
    def queries(self) -> FloatArray:
        """Q, (k, N)."""
        ...

    @property
    def guarantee(self) -> Guarantee:
        """Its guarantee."""
        ...

    def draw(self, rng: np.random.Generator, draws: int) -> Draws | Unavailable:
        """All the randomness of ``draws`` releases; one random matrix, if there is any, for all of them."""
        ...


@dataclass(frozen=True)
class NoisyDraws:
    """Q(X) + Z/n, projected on ``hull`` if there is one; ``noise`` is (draws, k)."""

    queries: FloatArray
    noise: FloatArray
    hull: Hull | None

    def answers(self, data: Any) -> FloatArray:
        x = checked_counts(data, self.queries.shape[1])
        users = float(x.sum())
        Y = self.queries @ (x / users) + self.noise / users
        return (Y if self.hull is None else self.hull.project_all(Y).points).T


@dataclass(frozen=True)
class NoisyRelease:
    """Additive noise, with (``projected``) or without the projection on K."""

    queries: FloatArray
    law: Law
    projected: bool = True

    @classmethod
    def of(cls, queries: Any, law: Law, *, projected: bool = True) -> NoisyRelease:
        """For a query matrix Q, (k, N)."""
        return cls(checked_queries(queries), law, projected)

    @property
    def name(self) -> str:
        return f"{self.law.name}-projection" if self.projected else self.law.name

    @property
    def guarantee(self) -> Guarantee:
        return self.law.guarantee

    @cached_property
    def hull(self) -> Hull:
        """K."""
        return Hull(np.unique(self.queries, axis=1))

    def draw(self, rng: np.random.Generator, draws: int) -> NoisyDraws | Unavailable:
        Z = self.law.draw(self.queries, rng, draws)
        if isinstance(Z, Unavailable):
            return Z
        return NoisyDraws(self.queries, Z, self.hull if self.projected else None)

    def simulate_release(self, data: Any, rng: np.random.Generator, trials: int = 1) -> FloatArray | Unavailable:
        """Answers of repeated releases, (k, trials), for experiments: a seed is known, so nothing is private."""
        found = self.draw(rng, trials)
        return found if isinstance(found, Unavailable) else found.answers(data)
