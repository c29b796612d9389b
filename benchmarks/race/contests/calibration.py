"""Gaussian calibration: σ for (ε, δ), and ε for ρ and δ, many at a time."""

from __future__ import annotations

import itertools
import math

import numpy as np
from benchmarks.race.contest import OURS, Contest, Contestant, Work

RHO = 0.3


def pairs(count: int) -> list[tuple[float, float]]:
    """(ε, δ): ε from 0.1 to 10 and δ from 1e-12 to 1e-3, as many as asked for."""
    side = math.isqrt(count - 1) + 1
    grid = itertools.product(np.geomspace(0.1, 10.0, side).tolist(), np.geomspace(1e-12, 1e-3, side).tolist())
    return list(itertools.islice(grid, count))


def deviations(count: int, lent: float | None) -> Work:
    """Ours: the least σ of the Gaussian mechanism."""
    from factormech.privacy.gaussian import gaussian_noise_multiplier

    asked = pairs(count)
    return Work((np.array(asked),), lambda: [gaussian_noise_multiplier(*pair) for pair in asked], list)


def deviations_dp_accounting(count: int, lent: float | None) -> Work:
    """The same by dp-accounting."""
    from dp_accounting import gaussian_mechanism

    asked = pairs(count)
    solve = gaussian_mechanism.get_sigma_gaussian
    return Work((np.array(asked),), lambda: [solve(*pair) for pair in asked], list)


def deltas(count: int) -> list[float]:
    return np.geomspace(1e-12, 1e-2, count).tolist()


def epsilons(count: int, lent: float | None) -> Work:
    """Ours: the ε of 0.3-zCDP at each δ."""
    from factormech.privacy.composition import concentrated_epsilon

    asked = deltas(count)
    return Work((np.array(asked),), lambda: [concentrated_epsilon(RHO, delta) for delta in asked], list)


def epsilons_opendp(count: int, lent: float | None) -> Work:
    """The same by opendp, of a Gaussian mechanism of that ρ, made once."""
    import opendp.prelude as dp

    dp.enable_features("contrib")
    space = dp.atom_domain(T=float, nan=False), dp.absolute_distance(T=float)
    noise = dp.c.make_zCDP_to_approxDP(dp.m.make_gaussian(*space, scale=math.sqrt(0.5 / RHO)))
    asked = deltas(count)

    def run() -> list[float]:
        profile = noise.map(1.0)
        return [profile.epsilon(delta=delta) for delta in asked]

    return Work((np.array(asked),), run, list)


CONTESTS = (
    Contest(
        "gaussian-sigma",
        "Gaussian noise for (ε, δ)",
        "pairs",
        (
            Contestant(OURS, OURS, deviations, (100, 400)),
            Contestant("dp-accounting", "dp-accounting", deviations_dp_accounting, (100, 400), peers=True),
        ),
        1e-8,
        "σ to a relative 1e-8",
        4,
        "first σ",
    ),
    Contest(
        "zcdp-epsilon",
        "ε of 0.3-zCDP for δ",
        "δs",
        (
            Contestant(OURS, OURS, epsilons, (100, 400)),
            Contestant("opendp", "opendp", epsilons_opendp, (100, 400), peers=True, unlike="calls a library in Rust"),
        ),
        1e-6,
        "ε to a relative 1e-6",
        4,
        "first ε",
    ),
)
