"""Errors of K-norm noise on one matrix of random signs, next to the Gaussian width of its body, as rows."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from factormech.bounds.packing.lower import lower_bound, prepare
from factormech.errors import Unavailable
from factormech.mechanisms.pure.bodies import gaussian_width
from factormech.mechanisms.pure.errors import candidates
from factormech.mechanisms.pure.knorm import knorm_noise, scaled
from factormech.seeds import rng_for
from factormech.studies.asked import Asked
from factormech.studies.measures.pure import LEVEL, signs, users_of
from factormech.studies.pure import PROJECTED, RAW
from factormech.studies.pure_random_points import CHOOSING, Found, QueriesWithData, everywhere, projected, thinned

# Relative width of the interval of w(K).
WIDTH = 0.02


def measured(k: int, N: int, asked: Asked) -> Iterator[dict[str, Any]]:
    """The rows of one shape."""

    def chance(stream: str) -> np.random.Generator:
        return rng_for(asked.seed, "pure-constants", str(k), str(N), stream)

    Q, epsilon = signs(k, N, chance("queries")), asked["epsilon"]
    users = tuple(users_of(product, epsilon) for product in asked["users_times_epsilon"])
    streams = chance("data")
    setup = QueriesWithData(Q, epsilon, users, tuple(candidates(Q, n, streams) for n in users))
    width = gaussian_width(Q, chance("width"), WIDTH).mean.value
    ready, found = prepare(Q), _found(setup, asked, chance)
    for i, (product, n) in enumerate(zip(asked["users_times_epsilon"], users, strict=True)):
        bound = lower_bound(ready, n, epsilon)
        for mechanism in (RAW, PROJECTED):
            row = {
                "queries": k,
                "domain_size": N,
                "users_times_epsilon": product,
                "mechanism": mechanism,
                "epsilon": epsilon,
            }
            row |= {"users": n, "width": width, "lower_bound": bound.value, "bound_method": bound.method}
            if isinstance(found, Unavailable):
                yield row | {"reason": found.reason}
                continue
            one = found[mechanism][i]
            ends = {"l2_error": one.error.value, "low": max(0.0, one.error.low), "high": one.error.high}
            yield row | ends | {"error_constant": one.error.value * product / (2.0 * width), "sparsity": one.sparsity}


def _found(setup: QueriesWithData, asked: Asked, chance: Any) -> dict[str, list[Found]] | Unavailable:
    """The errors of both mechanisms at every n, from one sample of directions."""
    noise = knorm_noise(setup.queries, setup.epsilon)
    sample = noise.directions.sample(chance("k-norm"), asked["directions"])
    if isinstance(sample, Unavailable):
        return sample
    norms = sample.mean(lambda D: np.sqrt(noise.squared_lengths(D)), LEVEL)
    Z = thinned(noise, sample, CHOOSING + asked["draws"], chance("radius"))
    return {
        RAW: everywhere(setup, scaled(norms, noise.dimension / setup.epsilon)),
        PROJECTED: projected(setup, Z, sample.diagnosis is None),
    }
