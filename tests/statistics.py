"""Statistical tests with a stated chance of a false alarm: what simulations are held against."""

from __future__ import annotations

import numpy as np
from scipy.stats import binom, chi2, norm, t

from factormech.arrays import FloatArray

FALSE_ALARM = 1e-6


def binomial_p_value(successes: int, trials: int, probability: float) -> float:
    """That independent trials succeed with this probability: both tails exactly, the smaller one doubled."""
    below, above = binom.cdf(successes, trials, probability), binom.sf(successes - 1, trials, probability)
    return min(1.0, 2.0 * float(min(below, above)))


def at_most_p_value(successes: int, trials: int, probability: float) -> float:
    """That they succeed with at most this probability: the upper tail exactly."""
    return float(binom.sf(successes - 1, trials, probability))


def student_p_value(values: FloatArray, mean: float) -> float:
    """That many independent numbers have this mean, with their own spread."""
    score = (values.mean() - mean) / (values.std(ddof=1) / np.sqrt(len(values)))
    return 2.0 * float(t.sf(abs(score), len(values) - 1))


def mean_p_value(samples: FloatArray, mean: FloatArray, covariance: FloatArray) -> float:
    """That vectors (coordinates, trials) have this mean: z of each coordinate, Bonferroni.

    Coordinates must be sums of many bounded terms; those without variance must be right exactly.
    """
    variance = np.diagonal(covariance)
    gap = samples.mean(axis=1) - mean
    still = variance <= 0
    if np.any(np.abs(gap[still]) > 1e-9):
        return 0.0
    if still.all():
        return 1.0
    z = gap[~still] / np.sqrt(variance[~still] / samples.shape[1])
    return min(1.0, 2 * len(z) * float(norm.sf(np.abs(z).max())))


def covariance_p_value(samples: FloatArray, mean: FloatArray, covariance: FloatArray) -> float:
    """That they have this covariance about this mean: z of each entry with its own sample spread, Bonferroni."""
    centred = samples - mean[:, None]
    rows, columns = np.triu_indices(len(mean))
    products = centred[rows] * centred[columns]
    spread = products.std(axis=1) / np.sqrt(samples.shape[1])
    live = spread > 0
    z = (products.mean(axis=1) - covariance[rows, columns])[live] / spread[live]
    return min(1.0, 2 * len(z) * float(norm.sf(np.abs(z).max())))


def table_p_value(found: FloatArray, expected: FloatArray) -> float:
    """Pearson's χ² for counts of outcomes; rare outcomes (fewer than 10 expected) are put together."""
    rare = expected < 10
    groups = [(found[~rare], expected[~rare]), (found[rare].sum(keepdims=True), expected[rare].sum(keepdims=True))]
    seen = np.concatenate([group[0] for group in groups])
    due = np.concatenate([group[1] for group in groups])
    if np.any(seen[due == 0] > 0):
        return 0.0
    seen, due = seen[due > 0], due[due > 0]
    return float(chi2.sf(np.sum((seen - due) ** 2 / due), len(due) - 1))
