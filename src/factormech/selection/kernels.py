"""Compiled protocols of selection: many runs of n one-bit reports each. Importing this module imports numba.

**Chance.** A run has a key. The k-th report on coordinate j is a function of (key, j, k) alone, the k-th output of
SplitMix64 (Steele, Lea & Flood, OOPSLA 2014) started from a hash of key and j. So all protocols, with all numbers of
users, meet the same reports: common random numbers. The lowest bit of the output says which of two parties simulates
the user (:mod:`factormech.selection.disjointness`), the 53 highest are the uniform number that decides the report.

Arrays of a run: ``probability`` (d, 2), of reporting 1 by coordinate and party; ``plays`` and ``ones``, (d, 2), how
many reports there were and how many of them were 1.
"""

from __future__ import annotations

import numpy as np

from factormech.arrays import FloatArray, IntArray
from factormech.compiled import compiled

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
def report(probability: FloatArray, j: int, key: np.uint64, k: int, plays: IntArray, ones: IntArray) -> int:
    """Draw the k-th report on coordinate j, key being that of the coordinate's stream, and count it."""
    z = mixed(key + np.uint64(k + 1) * _GOLDEN)
    party = np.int64(z & _ONE)
    bit = 1 if np.float64(z >> _S11) * _SCALE < probability[j, party] else 0
    plays[j, party] += 1
    ones[j, party] += bit
    return bit


@compiled()
def bonuses(users: int, d: int) -> FloatArray:
    """√(max(ln(n/(ds)), 0)/s) for s = 0, 1, … as far as it is above 0; ∞ for s = 0."""
    bonus = np.empty(max(-(-users // d), 1))
    bonus[0] = np.inf
    for s in range(1, bonus.size):
        bonus[s] = np.sqrt(max(np.log(users / (d * float(s))), 0.0) / float(s))
    return bonus


@compiled()
def moss(
    probability: FloatArray, users: int, bonus: FloatArray, key: np.uint64, plays: IntArray, ones: IntArray
) -> IntArray:
    """MOSS (Audibert & Bubeck, COLT 2009): each user reports on the coordinate of the largest index.

    The index of a coordinate with s reports of mean μ̂ is μ̂ + √(max(ln(n/(ds)), 0)/s), and ∞ with none (``bonuses``).
    A tree of winners finds the largest in log₂ d comparisons. Returns how often each coordinate was reported on.
    """
    d = probability.shape[0]
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
    for _ in range(users):
        j = tree[1]
        total[j] += report(probability, j, keys[j], count[j], plays, ones)
        count[j] += 1
        s = count[j]
        index = total[j] / float(s) + (bonus[s] if s < bonus.size else 0.0)
        node = size + j
        top[node] = index
        while node > 1:
            other = node ^ 1
            if top[other] > index or (top[other] == index and other < node):
                j, index = tree[other], top[other]
            node >>= 1
            tree[node], top[node] = j, index
    return count


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
        choice[r] = np.argmax(moss(probability[r], users, bonus, keys[r], plays[r], ones[r]))


@compiled()
def uniform_runs(
    probability: FloatArray, users: int, keys: FloatArray, plays: IntArray, ones: IntArray, choice: IntArray
) -> None:
    """MOSS, then the coordinate of a user drawn uniformly."""
    bonus = bonuses(users, probability.shape[1])
    for r in range(choice.size):
        choice[r] = drawn(moss(probability[r], users, bonus, keys[r], plays[r], ones[r]), keys[r])


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
        best, most = 0, -1
        for i in range(repetitions):
            more = i < left % repetitions
            share, bonus = left // repetitions + (1 if more else 0), longer if more else shorter
            key = stream(keys[r], -3 - i) if i > 0 else keys[r]
            candidate = drawn(moss(probability[r], share, bonus, key, plays[r], ones[r]), key)
            fresh, total = stream(stream(keys[r], -100 - i), candidate), 0
            for k in range(validation):
                total += report(probability[r], candidate, fresh, k, plays[r], ones[r])
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
        alive = np.arange(d)
        count, total = np.zeros(d, dtype=np.int64), np.zeros(d, dtype=np.int64)
        for i in range(rounds):
            budget = users * (i + 1) // rounds - users * i // rounds
            for place in range(alive.size):
                j = alive[place]
                key = stream(keys[r], j)
                for _ in range(budget // alive.size + (1 if place < budget % alive.size else 0)):
                    total[j] += report(probability[r], j, key, count[j], plays[r], ones[r])
                    count[j] += 1
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
        best, most = 0, -1.0
        for j in range(d):
            key, total = stream(keys[r], j), 0
            number = users // d + (1 if j < users % d else 0)
            for k in range(number):
                total += report(probability[r], j, key, k, plays[r], ones[r])
            mean = total / max(number, 1)
            if mean > most:
                best, most = j, mean
        choice[r] = best
