r"""Patterns of all d attributes: sets with a prescribed power spectrum, for spectra with many parities.

The bound is attained by x_χ ∝ √g_χ, so the sets of a strategy should have, on average, |Ŝ(χ)|² in these proportions.
Each set starts as the points where a stationary Gaussian field of that spectrum is above its threshold, and is then
improved as a hologram is (Gerchberg & Saxton, Optik 35, 1972): keep the signs of Ŝ(χ), put the magnitudes that are
wanted, transform back, keep the k largest points. Two corrections make the average right rather than each set:

* a set aims at what the sets before it left open, so that the error of the mean falls like 1/R with the number R of
  sets and not like 1/√R;
* thresholds leak from the characters with much power to those with little, so the magnitudes of each class of
  characters (of one eigenvalue, or of near ones) are raised or lowered by a factor that follows the power found.

All sets have the size k that carries the most information, so the trace of X is the largest possible and only its
proportions are to be reached.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from factormech.arrays import FloatArray, IntArray
from factormech.bounds.staircase import best_subset_size, largest_information
from factormech.local.symmetric.patterns import PatternFamily

_CLASSES = 32
_LEAST = 0.1  # of the mean aim: a set never gives up a character that others have served
_STEP = 0.3  # exponent of the correction of a class
_FIRST = 4  # times as many steps for the first set, which finds the corrections


def solve(spectrum: FloatArray, epsilon: float, sets: int, steps: int, rng: np.random.Generator) -> list[PatternFamily]:
    """R sets of equal weight, translated but not permuted, for the eigenvalues g_χ (entry 0 is not looked at)."""
    n = len(spectrum)
    size = best_subset_size(n, epsilon)
    roots = np.sqrt(spectrum)
    roots[0] = 0.0
    wanted = roots * (largest_information(n, epsilon) / roots.sum())
    classes = _classes(roots)
    unit = largest_information(n, epsilon) / (size / n * (1.0 - size / n))  # of x per unit of |Ŝ|²
    found, factors = np.zeros(n), np.ones(int(classes.max()) + 1)
    masks = (1 << np.arange(n.bit_length() - 1, dtype=np.int64))[None, :]
    families = []
    for i in range(sets):
        aim = np.maximum((i + 1) * wanted - found, _LEAST * wanted)
        aim *= wanted.sum() / aim.sum()
        table, power = _shape(aim, classes, factors, size, unit, steps * (_FIRST if i == 0 else 1), rng)
        found += power
        families.append(PatternFamily(table, masks, np.array([1.0 / sets]), permuted=False))
    return families


def _shape(
    aim: FloatArray,
    classes: IntArray,
    factors: FloatArray,
    size: int,
    unit: float,
    steps: int,
    rng: np.random.Generator,
) -> tuple[npt.NDArray[np.bool_], FloatArray]:
    """One set, and its x; ``factors`` is corrected in place."""
    from factormech.local.symmetric.kernels import transform_in_place

    n, magnitudes = len(aim), np.sqrt(aim)
    due = np.bincount(classes, weights=aim)
    asked = due > 0
    field = factors[classes] * magnitudes * rng.standard_normal(n)
    for step in range(steps + 1):
        transform_in_place(field)
        table = np.zeros(n, dtype=np.bool_)
        table[np.argpartition(field, n - size)[n - size :]] = True
        hat = table.astype(float)
        transform_in_place(hat)
        power = hat**2 * (unit / n**2)
        power[0] = 0.0
        if step < steps:
            got = np.bincount(classes, weights=power)
            factors[asked] *= np.clip(due[asked] / np.maximum(got[asked], 1e-300), 0.5, 2.0) ** _STEP
            field = np.copysign(factors[classes] * magnitudes, hat)
            field[0] = 0.0
    return table, power


def _classes(roots: FloatArray) -> IntArray:
    """Characters of one eigenvalue together; where there are too many eigenvalues, by rank."""
    values, classes = np.unique(np.round(roots / roots.max(), 12), return_inverse=True)
    if len(values) > _CLASSES:
        classes = np.argsort(np.argsort(roots, kind="stable"), kind="stable") * _CLASSES // len(roots)
    return np.asarray(classes, dtype=np.int64)
