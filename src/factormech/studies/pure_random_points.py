"""Errors of pure mechanisms on one matrix of random signs, as rows: noise is drawn once and serves all n and data sets.

Some draws choose the worst data among the candidates, and for JL release the number of rows; the others measure. The
candidates depend on the queries and n alone, so the choice of rows costs no privacy (it is
:func:`factormech.mechanisms.pure.jl.tuned_rows` on common draws).
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from factormech.arrays import FloatArray
from factormech.bounds.packing.lower import lower_bound, prepare
from factormech.errors import Unavailable
from factormech.mechanisms.central.moments import Estimate
from factormech.mechanisms.central.projection import Hull
from factormech.mechanisms.pure.bodies import body_of
from factormech.mechanisms.pure.bouncy import Sample, mean_of
from factormech.mechanisms.pure.errors import candidates, mean_error
from factormech.mechanisms.pure.jl import JLDraws, JLRelease
from factormech.mechanisms.pure.knorm import KNormNoise, ball_noise, knorm_noise, scaled
from factormech.mechanisms.pure.mechanism import Draws, NoisyDraws, pure_law
from factormech.mechanisms.pure.recursive import ladder, noise_of
from factormech.seeds import rng_for
from factormech.studies.asked import Asked
from factormech.studies.measures.pure import LEVEL, laplace_norm, users_of

# Directions behind the norms of noise, and the draws that choose the worst data.
_DIRECTIONS, CHOOSING, _CHOOSING_MATRICES = 2000, 16, 2


@dataclass(frozen=True)
class QueriesWithData:
    """One matrix with the data sets tried at each n."""

    queries: FloatArray
    epsilon: float
    users: tuple[int, ...]
    data: tuple[list[tuple[str, FloatArray]], ...]


@dataclass(frozen=True)
class Found:
    """The error at one n: where data decide, on the worst found; ``chosen_by`` is the error that chose it."""

    error: Estimate
    family: str | None = None
    sparsity: int | None = None
    chosen_by: float = 0.0


def measured(name: str, k: int, N: int, asked: Asked) -> Iterator[dict[str, Any]]:
    """The rows of one shape."""
    signs = rng_for(asked.seed, "pure-random-queries", name, "queries").integers(0, 2, (k, N))
    Q = np.asarray(2.0 * signs - 1.0, dtype=np.float64)
    epsilon, products = asked["epsilon"], asked["users_times_epsilon"]
    users = tuple(users_of(product, epsilon) for product in products)
    chance = rng_for(asked.seed, "pure-random-queries", name, "data")
    setup = QueriesWithData(Q, epsilon, users, tuple(candidates(Q, n, chance) for n in users))
    ready = prepare(Q, name=name)
    bounds = [lower_bound(ready, n, epsilon) for n in users]
    for mechanism, rows, found in _every(setup, name, asked):
        best = _best(found, len(users)) if mechanism == "jl" else None
        for ell, results in zip(rows, found, strict=True):
            for i, (product, n, bound) in enumerate(zip(products, users, bounds, strict=True)):
                yield {
                    "shape": name,
                    "queries": k,
                    "domain_size": N,
                    "epsilon": epsilon,
                    "mechanism": mechanism,
                    "jl_rows": ell,
                    "users_times_epsilon": product,
                    "users": n,
                    "is_best": int(best is None or rows[best[i]] == ell),
                    "lower_bound": bound.value,
                    "bound_method": bound.method,
                    **_told(results, i),
                }


def _told(results: list[Found] | Unavailable, i: int) -> dict[str, Any]:
    if isinstance(results, Unavailable):
        return {"reason": results.reason}
    one = results[i]
    ends = {"l2_error": one.error.value, "low": max(0.0, one.error.low), "high": one.error.high}
    return {**ends, "data_family": one.family, "sparsity": one.sparsity}


def _best(found: list[list[Found] | Unavailable], places: int) -> list[int]:
    """For each n the index of the rows of least error, on the draws that choose."""
    errors = np.full((len(found), places), np.inf)
    for a, results in enumerate(found):
        if not isinstance(results, Unavailable):
            errors[a] = [one.chosen_by for one in results]
    return [int(at) for at in errors.argmin(axis=0)]


def _every(
    setup: QueriesWithData, name: str, asked: Asked
) -> Iterator[tuple[str, list[int], list[list[Found] | Unavailable]]]:
    """Each mechanism with its numbers of rows (0 where there are none) and their errors at every n."""

    def chance(*stream: str) -> np.random.Generator:
        return rng_for(asked.seed, "pure-random-queries", name, *stream)

    Q, epsilon, draws = setup.queries, setup.epsilon, asked["draws"]
    asked_for = asked["mechanisms"]
    knorm = knorm_noise(Q, epsilon)
    wanted = {"k-norm", "k-norm-projection"} & set(asked_for)
    sample = knorm.directions.sample(chance("k-norm"), _DIRECTIONS) if wanted else None
    for mechanism in asked_for:
        if mechanism == "jl":
            rows = sorted(ell for ell in asked["rows"] if ell <= len(Q))
            yield mechanism, rows, [_jl(setup, ell, asked, chance("jl", str(ell))) for ell in rows]
        elif mechanism == "laplace":
            yield mechanism, [0], [everywhere(setup, _laplace(Q, epsilon))]
        elif mechanism == "recursive-full":
            yield mechanism, [0], [_recursive(setup, chance("recursive"))]
        elif mechanism == "l2-ball-projection":
            Z = ball_noise(Q, epsilon).draw(chance("l2-ball"), CHOOSING + draws)
            yield mechanism, [0], [Z if isinstance(Z, Unavailable) else projected(setup, Z[None], True)]
        elif sample is None or isinstance(sample, Unavailable):
            yield mechanism, [0], [sample or Unavailable("no noise was drawn")]
        elif mechanism == "k-norm":
            norms = sample.mean(lambda D: np.sqrt(knorm.squared_lengths(D)), LEVEL)
            yield mechanism, [0], [everywhere(setup, scaled(norms, knorm.dimension / epsilon))]
        else:
            independent = sample.diagnosis is None
            Z = thinned(knorm, sample, CHOOSING + draws, chance("radius"))
            yield mechanism, [0], [projected(setup, Z, independent)]


def _laplace(Q: FloatArray, epsilon: float) -> Estimate:
    """E‖Z‖ exactly."""
    moving = int((np.ptp(Q, axis=1) > 0).sum())
    value = body_of(Q).diameters[0] / epsilon * laplace_norm(moving)
    return Estimate(value, value, value)


def _recursive(setup: QueriesWithData, rng: np.random.Generator) -> list[Found] | Unavailable:
    """The recursion to its end, with the best shares of ε."""
    steps = ladder(setup.queries, rng, form="projected", draws=_DIRECTIONS)
    if isinstance(steps, Unavailable):
        return steps
    moments = noise_of(steps, setup.epsilon, depth=steps.depths).moments(rng, _DIRECTIONS, LEVEL)
    return moments if isinstance(moments, Unavailable) else everywhere(setup, moments.mean_norm)


def everywhere(setup: QueriesWithData, norm: Estimate) -> list[Found]:
    """Noise without projection: E‖Z‖/(n√k) on all data."""
    return [Found(scaled(norm, 1.0 / (n * math.sqrt(len(setup.queries))))) for n in setup.users]


def thinned(noise: KNormNoise, sample: Sample, draws: int, rng: np.random.Generator) -> FloatArray:
    """Z, (chains, draws per chain, k): places of the chains far apart, each with a radius of its own."""
    chains = sample.chains
    step = max(1, chains.shape[0] * chains.shape[1] // draws)
    D = chains[:, ::step]
    radius = rng.standard_gamma(noise.dimension, D.shape[:2]) / noise.epsilon
    return np.asarray((radius[..., None] * D) @ noise.frame.T)


def projected(setup: QueriesWithData, Z: FloatArray, independent: bool) -> list[Found]:
    """Noise (chains, draws, k) and projection, on the worst data found."""
    Q = setup.queries
    k, hull = len(Q), Hull(np.unique(Q, axis=1))
    cut = max(1, round(CHOOSING / Z.shape[0]))
    choosing = NoisyDraws(Q, Z[:, :cut].reshape(-1, k), hull)
    measuring = NoisyDraws(Q, Z[:, cut:].reshape(-1, k), hull)
    found = []
    for data in setup.data:
        means = [_errors(Q, choosing, counts).mean() for _, counts in data]
        at = int(np.argmax(means))
        family, counts = data[at]
        errors = _errors(Q, measuring, counts).reshape(Z.shape[0], -1)
        estimate = mean_of(errors, independent, LEVEL)
        found.append(Found(estimate, family, int(np.count_nonzero(counts)), float(means[at])))
    return found


def _jl(setup: QueriesWithData, rows: int, asked: Asked, rng: np.random.Generator) -> list[Found] | Unavailable:
    """JL release with this many rows, Gaussian matrices and K-norm noise of TK − TK, on the worst data found."""
    Q, matrices = setup.queries, asked["matrices"]
    release = JLRelease.of(Q, pure_law("k-norm", setup.epsilon), rows)
    each = max(2, asked["draws"] // matrices)
    drawn: list[JLDraws] = []
    for _ in range(_CHOOSING_MATRICES + matrices):
        one = release.draw(rng, each)
        if isinstance(one, Unavailable):
            return one
        drawn.append(one)
    choosing, measuring = drawn[:_CHOOSING_MATRICES], drawn[_CHOOSING_MATRICES:]
    found = []
    for data in setup.data:
        means = [np.mean([_errors(Q, one, counts) for one in choosing]) for _, counts in data]
        at = int(np.argmax(means))
        family, counts = data[at]
        estimate = mean_error(np.array([_errors(Q, one, counts) for one in measuring]), LEVEL)
        found.append(Found(estimate, family, int(np.count_nonzero(counts)), float(means[at])))
    return found


def _errors(Q: FloatArray, draws: Draws, counts: FloatArray) -> FloatArray:
    """‖Ŷ − Q(X)‖/√k, (draws,)."""
    truth = Q @ (counts / counts.sum())
    return np.asarray(np.linalg.norm(draws.answers(counts) - truth[:, None], axis=0) / math.sqrt(len(Q)))
