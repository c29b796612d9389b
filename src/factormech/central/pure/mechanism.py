r"""Mechanisms of pure differential privacy: the mean answers of n persons plus Z/n.

**Guarantee.** Q(X) + Z/n is ε-private for data sets of the same n persons but one, who is replaced. The proof is about
real numbers; `docs/pure-privacy.md` says in what sense floats and chains fall short of it.

**Error.** Nikolov's is err = E‖Z‖/(n√k), a mean of norms; the root mean square (E‖Z‖²/k)^{½}/n is at least that. Both
are the same for all data.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from factormech.arrays import FloatArray, check_epsilon
from factormech.central.pure.bodies import checked_queries
from factormech.central.pure.knorm import DRAWS, Moments, PureNoise, ball_noise, knorm_noise, laplace_noise, scaled
from factormech.central.pure.recursive import recursive_noise
from factormech.central.sequential import LEVEL, Estimate
from factormech.errors import BadValue, UnknownName
from factormech.privacy import CHAIN_LIMIT, REAL_LAW, Guarantee
from factormech.unavailable import Unavailable


@dataclass(frozen=True)
class PureMechanism:
    """Q(X) + Z/n.

    Attributes
    ----------
    queries
        Q, (k, N): the answers of one person of each type.
    """

    name: str
    queries: FloatArray
    noise: PureNoise

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
    """Whole numbers of persons of each type, at least one person in all."""
    x = np.asarray(data)
    if x.dtype.kind not in "biuf" or x.shape != (types,):
        rule = f"be counts of shape ({types},)"
        raise BadValue("data", f"{x.dtype.name} array of shape {x.shape}", rule, "give one count for each type")
    x = x.astype(np.float64)
    bad = np.flatnonzero(~((x >= 0.0) & (x <= 2.0**53) & (x == np.floor(x))))
    if bad.size:
        raise BadValue(
            f"data[{bad[0]}]", float(x[bad[0]]), "be a count", f"persons are whole ({bad.size} such entries)"
        )
    if not x.any():
        raise BadValue("data", "all zeros", "count at least one person", "give a data set of n ≥ 1 persons")
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


def names() -> list[str]:
    """The mechanisms of additive noise; ``recursive`` chooses its depth, the others of its kind go to the end."""
    return [*_DIRECT, *_RECURSIVE]


def build(name: str, queries: Any, epsilon: float, rng: np.random.Generator) -> PureMechanism | Unavailable:
    """The mechanism of this name for Q, (k, N); ``rng`` is for what a recursive one must estimate of Q."""
    Q, epsilon = checked_queries(queries), check_epsilon(epsilon)
    if name in _DIRECT:
        return PureMechanism(name, Q, _DIRECT[name](Q, epsilon))
    if name not in _RECURSIVE:
        raise UnknownName("pure mechanism", name, names())
    noise = recursive_noise(Q, epsilon, rng, **_RECURSIVE[name])
    return noise if isinstance(noise, Unavailable) else PureMechanism(name, Q, noise)
