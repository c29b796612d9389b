"""Compiled protocols of selection: many runs of n one-bit reports each. Importing this module imports numba.

**Chance.** A run has a key. The k-th report on coordinate j is a function of (key, j, k) alone, the k-th output of
SplitMix64 (Steele, Lea & Flood, OOPSLA 2014) started from a hash of key and j. So all protocols, with all numbers of
users, meet the same reports: common random numbers. The lowest bit of the output says which of two parties simulates
the user (:mod:`factormech.learning.selection.sample_size`), the 53 highest are the uniform number that decides the
report.

Arrays of a run: ``probability`` (d, 2), of reporting 1 by coordinate and party; ``plays`` and ``ones``, (d, 2), how
many reports there were and how many of them were 1.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from factormech.arrays import FloatArray, IntArray
from factormech.compiled import compiled

ThresholdArray = npt.NDArray[np.uint64]

_GOLDEN = np.uint64(0x9E3779B97F4A7C15)
_FIRST, _SECOND = np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB)
_S30, _S27, _S31, _S11, _ONE = np.uint64(30), np.uint64(27), np.uint64(31), np.uint64(11), np.uint64(1)
_SCALE = 2.0**-53


@compiled()
def mixed(z: np.uint64) -> np.uint64:
    """The output function of SplitMix64."""
    z = (z ^ (z >> _S30)) * _FIRST
    z = (z ^ (z >> _S27)) * _SECOND
    return z ^ (z >> _S31)


@compiled()
def stream(key: np.uint64, name: int) -> np.uint64:
    """The key of a run's stream of this name."""
    return mixed(key ^ mixed(np.uint64(name + 1) * _GOLDEN))


@compiled()
def thresholds(probability: FloatArray) -> ThresholdArray:
    """⌈2⁵³p⌉ for p of (d, 2): a whole number m of 53 bits has m/2⁵³ < p just where it is below that."""
    limits = np.empty(probability.shape, dtype=np.uint64)
    for j in range(len(probability)):
        for party in range(2):
            limits[j, party] = np.uint64(np.ceil(probability[j, party] / _SCALE))
    return limits


@compiled()
def reports(
    limits: ThresholdArray, j: int, key: np.uint64, start: int, number: int, plays: IntArray, ones: IntArray
) -> int:
    """Draw so many reports on coordinate j from the ``start``-th on, key being that of the coordinate's stream.

    They are counted, and the number of those that are 1 is returned. Nothing but sums of whole numbers is kept, so
    that several reports are drawn at a time.
    """
    first, second = limits[j, 0], limits[j, 1]
    of_second, first_ones, second_ones = np.uint64(0), np.uint64(0), np.uint64(0)
    z = key + np.uint64(start) * _GOLDEN
    for k in range(number):
        drawn = mixed(z + np.uint64(k + 1) * _GOLDEN)
        party, level = drawn & _ONE, drawn >> _S11
        of_second += party
        second_ones += party & np.uint64(level < second)
        first_ones += (party ^ _ONE) & np.uint64(level < first)
    plays[j, 0] += number - np.int64(of_second)
    plays[j, 1] += np.int64(of_second)
    ones[j, 0] += np.int64(first_ones)
    ones[j, 1] += np.int64(second_ones)
    return int(first_ones + second_ones)


@compiled()
def bonuses(users: int, d: int) -> FloatArray:
    """√(max(ln(n/(ds)), 0)/s) for s = 0, 1, … as far as it is above 0; ∞ for s = 0."""
    bonus = np.empty(max(-(-users // d), 1))
    bonus[0] = np.inf
    for s in range(1, bonus.size):
        bonus[s] = np.sqrt(max(np.log(users / (d * float(s))), 0.0) / float(s))
    return bonus


@compiled()
def crowned(tree: IntArray, top: FloatArray, node: int, index: float) -> tuple[float, float]:
    """Give the leaf ``node`` of the winner another index; the largest indices that it met on its left and right.

    Its coordinate wins still where it is above what it met on its left and not below what it met on its right: of equal
    indices the first one wins.
    """
    j, left, right = tree[node], -np.inf, -np.inf
    top[node] = index
    while node > 1:
        other = node ^ 1
        rival = top[other]
        if other < node:
            left = max(left, rival)
            better = rival >= index
        else:
            right = max(right, rival)
            better = rival > index
        j, index = tree[other] if better else j, rival if better else index
        node >>= 1
        tree[node], top[node] = j, index
    return left, right


@compiled()
def moss(
    limits: ThresholdArray, users: int, bonus: FloatArray, key: np.uint64, plays: IntArray, ones: IntArray
) -> IntArray:
    """MOSS (Audibert & Bubeck, COLT 2009): each user reports on the coordinate of the largest index.

    The index of a coordinate with s reports of mean μ̂ is μ̂ + √(max(ln(n/(ds)), 0)/s), and ∞ with none (``bonuses``).
    A tree of winners finds the largest in log₂ d comparisons; a coordinate that goes on winning is asked again until it
    is no better than those that it met (``crowned``). Returns how often each coordinate was reported on.
    """
    d = limits.shape[0]
    size = 1
    while size < d:
        size *= 2
    # By node of the tree: the coordinate of the largest index below it, the first of equal ones, and that index.
    tree, top = np.empty(2 * size, dtype=np.int64), np.full(2 * size, -np.inf)
    for j in range(size):
        tree[size + j] = j
        if j < d:
            top[size + j] = np.inf
    for node in range(size - 1, 0, -1):
        tree[node], top[node] = tree[2 * node], top[2 * node]
    keys = np.empty(d, dtype=np.uint64)
    for j in range(d):
        keys[j] = stream(key, j)
    count, total = np.zeros(d, dtype=np.int64), np.zeros(d, dtype=np.int64)
    asked, last, left, right = 0, -1, np.inf, np.inf
    while asked < users:
        j = tree[1]
        if j != last:
            left, right = np.inf, np.inf  # not known: one report, then they are
        asked += while_best(limits, j, keys[j], users - asked, bonus, left, right, count, total, plays, ones)
        s = count[j]
        left, right = crowned(tree, top, size + j, total[j] / float(s) + (bonus[s] if s < bonus.size else 0.0))
        last = j
    return count


@compiled()
def while_best(
    limits: ThresholdArray,
    j: int,
    key: np.uint64,
    most: int,
    bonus: FloatArray,
    left: float,
    right: float,
    count: IntArray,
    total: IntArray,
    plays: IntArray,
    ones: IntArray,
) -> int:
    """Draw reports on j while its index is above ``left`` and not below ``right``, one of them at least; how many."""
    first, second = limits[j, 0], limits[j, 1]
    start, sum_ = int(count[j]), int(total[j])
    s, of_second, second_ones = start, 0, 0
    z = key + np.uint64(start) * _GOLDEN
    while True:
        z += _GOLDEN
        drawn = mixed(z)
        party = int(drawn & _ONE)
        bit = int(drawn >> _S11 < (second if party else first))
        of_second += party
        second_ones += party & bit
        sum_ += bit
        s += 1
        index = sum_ / float(s) + (bonus[s] if s < bonus.size else 0.0)
        if s - start == most or index <= left or index < right:
            break
    plays[j, 0] += s - start - of_second
    plays[j, 1] += of_second
    ones[j, 0] += sum_ - total[j] - second_ones
    ones[j, 1] += second_ones
    count[j], total[j] = s, sum_
    return s - start


@compiled()
def drawn(count: IntArray, key: np.uint64) -> int:
    """The coordinate of a user drawn uniformly."""
    total = 0
    for j in range(count.size):
        total += count[j]
    rest = np.float64(stream(key, -2) >> _S11) * _SCALE * total
    for j in range(count.size):
        rest -= count[j]
        if rest < 0.0:
            return j
    return int(np.argmax(count))


@compiled()
def most_played_runs(
    probability: FloatArray, users: int, keys: FloatArray, plays: IntArray, ones: IntArray, choice: IntArray
) -> None:
    """MOSS, then the coordinate with the most reports."""
    bonus = bonuses(users, probability.shape[1])
    for r in range(choice.size):
        choice[r] = np.argmax(moss(thresholds(probability[r]), users, bonus, keys[r], plays[r], ones[r]))


@compiled()
def uniform_runs(
    probability: FloatArray, users: int, keys: FloatArray, plays: IntArray, ones: IntArray, choice: IntArray
) -> None:
    """MOSS, then the coordinate of a user drawn uniformly."""
    bonus = bonuses(users, probability.shape[1])
    for r in range(choice.size):
        choice[r] = drawn(moss(thresholds(probability[r]), users, bonus, keys[r], plays[r], ones[r]), keys[r])


@compiled()
def validated_runs(
    probability: FloatArray,
    users: int,
    keys: FloatArray,
    plays: IntArray,
    ones: IntArray,
    choice: IntArray,
    repetitions: int,
    validation: int,
) -> None:
    """``repetitions`` candidates by MOSS and a uniform user, each of them given ``validation`` fresh reports."""
    left, d = users - repetitions * validation, probability.shape[1]
    # Candidates have at most one user more than others.
    shorter, longer = bonuses(left // repetitions, d), bonuses(left // repetitions + 1, d)
    for r in range(choice.size):
        best, most, limits = 0, -1, thresholds(probability[r])
        for i in range(repetitions):
            more = i < left % repetitions
            share, bonus = left // repetitions + (1 if more else 0), longer if more else shorter
            key = stream(keys[r], -3 - i) if i > 0 else keys[r]
            candidate = drawn(moss(limits, share, bonus, key, plays[r], ones[r]), key)
            fresh = stream(stream(keys[r], -100 - i), candidate)
            total = reports(limits, candidate, fresh, 0, validation, plays[r], ones[r])
            if total > most:
                best, most = candidate, total
        choice[r] = best


@compiled()
def halving_runs(
    probability: FloatArray, users: int, keys: FloatArray, plays: IntArray, ones: IntArray, choice: IntArray
) -> None:
    """Sequential halving (Karnin, Koren & Somekh, ICML 2013): rounds of equal size, the better half goes on.

    All reports on a coordinate count, not those of the last round alone.
    """
    d = probability.shape[1]
    rounds, size = 0, 1
    while size < d:
        size *= 2
        rounds += 1
    for r in range(choice.size):
        alive, limits = np.arange(d), thresholds(probability[r])
        count, total = np.zeros(d, dtype=np.int64), np.zeros(d, dtype=np.int64)
        for i in range(rounds):
            budget = users * (i + 1) // rounds - users * i // rounds
            for place in range(alive.size):
                j = alive[place]
                key = stream(keys[r], j)
                share = budget // alive.size + (1 if place < budget % alive.size else 0)
                total[j] += reports(limits, j, key, count[j], share, plays[r], ones[r])
                count[j] += share
            means = total[alive] / np.maximum(count[alive], 1)
            order = np.argsort(-means, kind="mergesort")
            alive = alive[order[: (alive.size + 1) // 2]]
        choice[r] = alive[0]


@compiled()
def one_coordinate_runs(
    probability: FloatArray, users: int, keys: FloatArray, plays: IntArray, ones: IntArray, choice: IntArray
) -> None:
    """User i reports on coordinate i mod d, whatever the others say; the largest mean."""
    d = probability.shape[1]
    for r in range(choice.size):
        best, most, limits = 0, -1.0, thresholds(probability[r])
        for j in range(d):
            number = users // d + (1 if j < users % d else 0)
            mean = reports(limits, j, stream(keys[r], j), 0, number, plays[r], ones[r]) / max(number, 1)
            if mean > most:
                best, most = j, mean
        choice[r] = best
