"""Functions of matrices that remember their last results by what is in them: one strategy serves every budget."""

from __future__ import annotations

import functools
import hashlib
from collections.abc import Callable
from typing import TypeVar

import numpy as np

from factormech.arrays import FloatArray

# Calls whose results are kept: how many of each function, and of how many numbers at most.
KEPT, KEPT_SIZE = 8, 2**21

Result = TypeVar("Result")


def kept(function: Callable[..., Result]) -> Callable[..., Result]:
    """A function of matrices of floats whose last results are kept; its callers share them and must not change them."""
    memory: dict[tuple[tuple[tuple[int, ...], bytes], ...], Result] = {}

    @functools.wraps(function)
    def call(*matrices: FloatArray) -> Result:
        if sum(matrix.size for matrix in matrices) > KEPT_SIZE:
            return function(*matrices)
        key = tuple(_content(matrix) for matrix in matrices)
        found = memory.pop(key) if key in memory else function(*matrices)
        memory[key] = found  # the last one asked for is the last in the dictionary
        while len(memory) > KEPT:
            del memory[next(iter(memory))]
        return found

    return call


def _content(matrix: FloatArray) -> tuple[tuple[int, ...], bytes]:
    """What a matrix of floats is known by."""
    values = np.ascontiguousarray(matrix, dtype=np.float64)
    return matrix.shape, hashlib.sha256(values.data).digest()
