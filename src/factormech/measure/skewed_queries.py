"""Random signs with some queries longer than the others; errors of releases whose choices are made on other noise."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from factormech.arrays import FloatArray
from factormech.central.pure.errors import mean_error
from factormech.central.sequential import Estimate

# Intervals of errors miss with this probability.
LEVEL = 0.01


def lengths(queries: int, long: int, skew: float) -> FloatArray:
    """The scale of each query, (k,): the first ``long`` are ``skew`` times the others; their mean square is 1."""
    found = np.ones(queries)
    found[:long] = skew
    return np.asarray(found / math.sqrt(float((found**2).mean())))


def signs(queries: int, types: int, rng: np.random.Generator) -> FloatArray:
    """Independent signs, (k, N)."""
    return rng.choice(np.array([-1.0, 1.0]), (queries, types))


@dataclass(frozen=True)
class Chosen:
    """The release and the data set that one half of the noise chose, and their error on the other half."""

    release: int
    data: int
    error: Estimate


def chosen(errors: FloatArray) -> Chosen:
    """Of errors (releases, data sets, matrices, draws): the release whose worst data are best, on its worst data.

    The first half of the matrices chooses both and the second measures, so that a choice is no part of its own error.
    """
    half = errors.shape[2] // 2
    first = errors[:, :, :half].mean(axis=(2, 3))
    release = int(np.argmin(first.max(axis=1)))
    data = int(np.argmax(first[release]))
    return Chosen(release, data, mean_error(errors[release, data, half:], LEVEL))
