r"""Noise laws as functions of the matrix they protect: what projection and JL release add to the mean answers.

A law turns a matrix of columns V, (ℓ, N), into noise Z for which (1/n) Σ V_{x_i} + Z/n keeps one guarantee, whatever V
is: its shape and scale come from the differences V_x − V_y alone. So a law holds for TQ as for Q, for every T that the
data do not decide, and for all T at once if T is drawn without them (Nikolov, *Private query release via the
Johnson–Lindenstrauss transform*, SODA 2023, Lemma 3.1).

Anything with ``queries`` and ``draw(rng, trials)`` → (trials, ℓ), or a reason, is a noise here.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from factormech.arrays import FloatArray, check_epsilon, check_positive_integer
from factormech.central.pure.bodies import body_of
from factormech.errors import BadValue, UnknownName
from factormech.gaussian import check_delta
from factormech.numerics.rounding import above
from factormech.privacy import CHAIN_LIMIT, REAL_LAW, Guarantee
from factormech.unavailable import Unavailable


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
    of: Callable[[FloatArray], Noise]


@dataclass(frozen=True)
class GaussianLaw:
    """N(0, σ²) in each of ℓ entries."""

    queries: int
    sigma: float

    def draw(self, rng: np.random.Generator, trials: int) -> FloatArray | Unavailable:
        return self.sigma * rng.standard_normal((check_positive_integer("trials", trials), self.queries))


def pure_law(name: str, epsilon: float) -> Law:
    """ε-private noise: ``k-norm`` of K − K, ``l2-ball`` or ``laplace``."""
    from factormech.central.pure import knorm

    known = {"k-norm": knorm.knorm_noise, "l2-ball": knorm.ball_noise, "laplace": knorm.laplace_noise}
    if name not in known:
        raise UnknownName("noise", name, known)
    epsilon = check_epsilon(epsilon)
    build = known[name]
    ground = CHAIN_LIMIT if name == "k-norm" else REAL_LAW  # which law draws depends on the matrix
    return Law(name, Guarantee(epsilon, ground=ground), lambda V: build(V, epsilon))


def gaussian_law(epsilon: float, delta: float) -> Law:
    """(ε, δ)-private Gaussian noise, σ calibrated to max‖V_x − V_y‖₂ (Balle & Wang, ICML 2018)."""
    from factormech.central.gaussian import standard_deviation

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
