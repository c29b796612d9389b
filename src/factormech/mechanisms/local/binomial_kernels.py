r"""Compiled binomial numbers, each of a law of its own, and small samples of urns: what collections are made of.

NumPy prepares its sampler anew for every pair of a number and a probability, which costs more than the draw; here what
is prepared is little. With p ≤ 1/2 (else what is left over is drawn):

* means below :data:`INVERTED`: inversion of one uniform number along k = 0, 1, … by

  .. math:: P(0) = (1-p)^n, \qquad P(k) = P(k-1)\,\frac{n-k+1}{k}\,\frac{p}{1-p};

* above: the transformed rejection with squeeze BTRS (Hörmann, "The generation of binomial random variates", J. Stat.
  Comput. Simul. 46, 1993), whose last test compares with P(k) itself, by Stirling's series.

The law differs from the binomial one by rounding of doubles alone. Importing this module imports numba (half a second),
so its users import it where they need it.
"""

from __future__ import annotations

import math

import numpy as np

from factormech.arrays import FloatArray, IntArray
from factormech.compiled import compiled

# Means from which rejection is used: its hat is one from 10 on.
INVERTED = 10.0
# Numbers up to which as many uniform ones are drawn.
COUNTED = 3
# ``stirling_tail`` of the k at which its series is not exact to the last digits.
_TAILS = np.array(
    [math.lgamma(k + 1) - ((k + 0.5) * math.log(k + 1) - (k + 1) + 0.5 * math.log(2 * math.pi)) for k in range(16)]
)


@compiled()
def stirling_tail(k: float) -> float:
    """ln k! − [(k + 1/2) ln(k + 1) − (k + 1) + ln(2π)/2]."""
    if k < 16.0:
        tail: float = _TAILS[int(k)]
        return tail
    x = 1.0 / (k + 1.0)
    y = x * x
    return x * (1.0 / 12.0 - y * (1.0 / 360.0 - y * (1.0 / 1260.0 - y * (1.0 / 1680.0 - y / 1188.0))))


@compiled()
def counted(n: int, p: float, rng: np.random.Generator) -> int:
    """Return how many of a few uniform numbers are below p."""
    found = 0
    for _ in range(n):
        found += rng.random() < p
    return found


@compiled()
def inverted(n: int, p: float, log_rest: float, rng: np.random.Generator) -> int:
    """A binomial number of small mean, p ≤ 1/2; ``log_rest`` is ln(1 − p)."""
    odds = p / (1.0 - p)
    first = math.exp(n * log_rest)
    while True:
        left, probability = rng.random(), first
        for k in range(n + 1):
            if left < probability:
                return k
            left -= probability
            probability *= (n - k) * odds / (k + 1)
            if probability < 1e-300:
                break  # rounding of the sum of all: once in 10¹⁵ draws


@compiled()
def log_ratio(k: float, mode: float, n: int, odds: float) -> float:
    """ln P(k)/P(mode)."""
    below, above = n - k, n - mode
    return (
        (mode + 0.5) * math.log((mode + 1.0) / (odds * (above + 1.0)))
        + (n + 1.0) * math.log1p((k - mode) / (below + 1.0))
        + (k + 0.5) * math.log(odds * (below + 1.0) / (k + 1.0))
        + (stirling_tail(mode) + stirling_tail(above) - stirling_tail(k) - stirling_tail(below))
    )


@compiled()
def rejected(n: int, p: float, rng: np.random.Generator) -> int:
    """A binomial number of mean 10 or more, p ≤ 1/2."""
    spread = math.sqrt(n * p * (1.0 - p))
    b = 1.15 + 2.53 * spread
    a = -0.0873 + 0.0248 * b + 0.01 * p
    centre, squeeze = n * p + 0.5, 0.92 - 4.2 / b
    while True:
        u, v = rng.random() - 0.5, rng.random()
        room = 0.5 - abs(u)
        if room == 0.0:
            continue
        k = math.floor((2.0 * a / room + b) * u + centre)
        if room >= 0.07 and v <= squeeze:
            return int(k)
        if k < 0 or k > n or v == 0.0:
            continue
        v *= (2.83 + 5.1 / b) * spread / (a / (room * room) + b)
        if math.log(v) <= log_ratio(k, math.floor((n + 1) * p), n, p / (1.0 - p)):
            return int(k)


@compiled()
def binomial(n: int, p: float, log_rest: float, rng: np.random.Generator) -> int:
    """Return how many of n happen, each with probability p ≤ 1/2; ``log_rest`` is ln(1 − p)."""
    if n <= COUNTED:
        return counted(n, p, rng)
    return inverted(n, p, log_rest, rng) if n * p < INVERTED else rejected(n, p, rng)


@compiled()
def prepared(shares: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return min(p, 1 − p) of each probability p, at least 0 despite rounding, and ln max(p, 1 − p)."""
    less, logs = np.empty(shares.size), np.empty(shares.size)
    for i in range(shares.size):
        less[i] = max(min(shares[i], 1.0 - shares[i]), 0.0)
        logs[i] = math.log1p(-less[i])
    return less, logs


@compiled()
def parts(state: IntArray, shares: FloatArray, rng: np.random.Generator) -> IntArray:
    """A binomial part of each number of the lines of ``state``, with one probability for each column."""
    less, logs = prepared(shares)
    found = np.zeros(state.shape, dtype=np.int64)
    for i in range(state.shape[0]):
        for j in range(state.shape[1]):
            if state[i, j] > 0:
                drawn = binomial(state[i, j], less[j], logs[j], rng)
                found[i, j] = drawn if shares[j] <= 0.5 else state[i, j] - drawn
    return found


@compiled()
def take_few(
    state: IntArray, samples: IntArray, most: int, rng: np.random.Generator, found: IntArray, left: IntArray
) -> bool:
    """Add to ``found`` what ``samples`` draws of each line of ``state`` without replacement, one by one, hit.

    Lines with more than ``most`` draws are left to others, with the number of their draws in ``left``; whether any are.
    """
    rest, any_left = np.empty(state.shape[1], dtype=np.int64), False
    for i in range(state.shape[0]):
        left[i] = samples[i] if samples[i] > most else 0
        any_left |= samples[i] > most
        if samples[i] == 0 or samples[i] > most:
            continue
        total = 0
        for j in range(state.shape[1]):
            rest[j] = state[i, j]
            total += rest[j]
        for drawn in range(samples[i]):
            number, j = int(rng.random() * (total - drawn)), 0
            while number >= rest[j]:
                number -= rest[j]
                j += 1
            rest[j] -= 1
            found[i, j] += 1
    return any_left


@compiled()
def split(
    state: IntArray,
    left_share: FloatArray,
    left_joins: IntArray,
    right_joins: IntArray,
    rng: np.random.Generator,
    below: IntArray,
) -> None:
    """Split every count of ``state``, (classes, trials), and add its two parts to the classes of ``below`` they join.

    Of nobody's reports none go left, and no chance is needed for that.
    """
    less, logs = prepared(left_share)
    for place in range(state.shape[0]):
        for trial in range(state.shape[1]):
            number = state[place, trial]
            if number > 0:
                drawn = binomial(number, less[place], logs[place], rng)
                left = drawn if left_share[place] <= 0.5 else number - drawn
                below[left_joins[place], trial] += left
                below[right_joins[place], trial] += number - left
