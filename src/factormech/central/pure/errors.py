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
from factormech.central.pure.projection import Draws, Release
from factormech.central.sequential import LEVEL, Estimate, student
from factormech.unavailable import Unavailable


def errors_on(
    release: Release, data: Sequence[Any], rng: np.random.Generator, *, matrices: int = 12, draws: int = 50
) -> FloatArray | Unavailable:
    """‖Ŷ − Q(X)‖₂/√k, (data sets, matrices, draws): every data set sees the same matrices and noise."""
    matrices, draws = check_positive_integer("matrices", matrices), check_positive_integer("draws", draws)
    drawn = []
    for _ in range(matrices):
        one = release.draw(rng, draws)
        if isinstance(one, Unavailable):
            return one
        drawn.append(one)
    return errors_of(drawn, release.queries, data)


def errors_of(drawn: Sequence[Draws], queries: FloatArray, data: Sequence[Any]) -> FloatArray:
    """The same of noise that is there already; every n may use it again."""
    truths = []
    for counts in data:
        x = checked_counts(counts, queries.shape[1])
        truths.append(queries @ (x / x.sum()))
    found = [
        [np.linalg.norm(one.answers(counts) - truth[:, None], axis=0) for one in drawn]
        for counts, truth in zip(data, truths, strict=True)
    ]
    return np.array(found) / math.sqrt(len(queries))


def mean_error(errors: FloatArray, level: float = LEVEL) -> Estimate:
    """Of errors (matrices, draws): their mean, with an interval over the means of the matrices."""
    found = student(errors.mean(axis=1), level)
    return Estimate(found.value, max(0.0, found.low), found.high)
