r"""Errors of releases on given data: E‖Ŷ − Q(X)‖₂/√k (the mean of norms that Nikolov, SODA 2023, calls err), simulated.

Draws through one random matrix T depend on each other, so an interval counts matrices, not draws: it is Student's over
the means of the matrices. A release without a random matrix draws its noise ``matrices`` times over, to the same end;
noise from a Markov chain has its chain's own diagnosis.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from factormech.arrays import FloatArray, check_positive_integer
from factormech.central.pure.mechanism import checked_counts
from factormech.central.pure.projection import Release
from factormech.central.sequential import LEVEL, Estimate
from factormech.local.strategy import Unavailable


def errors_on(
    release: Release, data: Sequence[Any], rng: np.random.Generator, *, matrices: int = 12, draws: int = 50
) -> FloatArray | Unavailable:
    """‖Ŷ − Q(X)‖₂/√k, (data sets, matrices, draws): every data set sees the same matrices and noise."""
    matrices, draws = check_positive_integer("matrices", matrices), check_positive_integer("draws", draws)
    Q = release.queries
    truths = []
    for counts in data:
        x = checked_counts(counts, Q.shape[1])
        truths.append(Q @ (x / x.sum()))
    found = np.empty((len(truths), matrices, draws))
    for m in range(matrices):
        drawn = release.draw(rng, draws)
        if isinstance(drawn, Unavailable):
            return drawn
        for i, (counts, truth) in enumerate(zip(data, truths, strict=True)):
            found[i, m] = np.linalg.norm(drawn.answers(counts) - truth[:, None], axis=0)
    return found / math.sqrt(len(Q))


def mean_error(errors: FloatArray, level: float = LEVEL) -> Estimate:
    """Of errors (matrices, draws): their mean, with an interval over the means of the matrices."""
    from scipy.special import stdtrit

    means = errors.mean(axis=1)
    value, m = float(means.mean()), len(means)
    if m < 2:
        return Estimate(value, 0.0, math.inf)
    half = float(stdtrit(m - 1, 1.0 - level / 2.0)) * float(means.std(ddof=1)) / math.sqrt(m)
    return Estimate(value, max(0.0, value - half), value + half)
