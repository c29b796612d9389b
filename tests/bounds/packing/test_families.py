"""Sizes of families of sets and codes: against exhaustive search, exact sums and tables of codes."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest

from factormech.bounds.packing.families import KINDS, log_words, separation, set_families


@pytest.mark.parametrize("N", [2, 3, 5, 6, 7])
def test_no_family_is_larger_than_the_largest(N: int) -> None:
    found = set_families(N)
    for s, t, L in zip(found.size.tolist(), found.overlap.tolist(), found.log_count.tolist(), strict=True):
        sets = [frozenset(c) for c in itertools.combinations(range(N), s)]
        apart = np.array([[0.0 if a == b else float(len(a & b) <= t) for a in sets] for b in sets])
        exact = separation(apart, exact=True)
        assert math.log(exact.upper[0]) >= L


def test_known_largest_codes_are_not_exceeded() -> None:
    """A(n, 2δ, w), Brouwer, Shearer, Sloane & Smith 1990: (n, w, t): size."""
    known = {(8, 4, 2): 14, (8, 3, 1): 8, (12, 6, 4): 132, (16, 4, 2): 140, (16, 6, 3): 112, (24, 8, 4): 759}
    for (N, s, t), most in known.items():
        found = set_families(N)
        here = (found.size == s) & (found.overlap == t)
        if here.any():
            assert found.log_count[here][0] <= math.log(most)
            assert found.log_count[here][0] >= 0.4 * math.log(most)


@pytest.mark.parametrize("N", [16, 40, 256])
def test_each_count_is_that_of_its_theorem(N: int) -> None:
    """Whole-number arithmetic, for every entry: the logarithm is below, and within 1e-9."""
    found = set_families(N)
    q = next(q for q in itertools.count(N) if q & (q - 1) == 0 or all(q % p for p in range(2, math.isqrt(q) + 1)))
    for s, t, L, kind in zip(found.size, found.overlap, found.log_count, found.kind, strict=True):
        s, t, name = int(s), int(t), KINDS[kind]
        if name == "gilbert":
            exact = math.log(math.comb(N, s)) - math.log(
                sum(math.comb(s, i) * math.comb(N - s, s - i) for i in range(t + 1, s + 1))
            )
        elif name == "graham-sloane":
            exact = math.log(math.comb(N, s)) - (s - t - 1) * math.log(q)
        elif name == "disjoint":
            assert t == 0
            exact = math.log(N // s)
        else:
            p = math.exp(L / (t + 1))
            assert s <= round(p) <= N // s
            exact = (t + 1) * math.log(round(p))
        assert exact >= L
        assert exact == pytest.approx(L, rel=1e-9)


def test_all_theorems_are_used() -> None:
    used = {KINDS[kind] for N in (7, 256, 4096) for kind in set_families(N).kind}
    assert used == set(KINDS)


@pytest.mark.parametrize("length", [1, 2, 3, 5, 8])
def test_words_are_no_more_than_there_are(length: int) -> None:
    table = {  # A(n, d)
        1: [2], 2: [4, 2], 3: [8, 4, 2], 5: [32, 16, 4, 2, 2], 8: [256, 128, 20, 16, 4, 2, 2, 2],
    }  # fmt: skip
    found = log_words(length, np.arange(1, length + 1))
    assert np.all(found <= np.log(table[length]))
    assert np.all(found >= math.log(2) * (1 - 1e-12))
    assert found[0] >= math.log(2.0**length) * (1 - 1e-9)


def test_gilberts_codes_are_below_the_exact_sum_and_near_it() -> None:
    for length in (30, 200):
        D = np.arange(1, length // 4)
        found = log_words(length, D)
        for d, L in zip(D.tolist(), found.tolist(), strict=True):
            exact = length * math.log(2) - math.log(sum(math.comb(length, i) for i in range(d)))
            assert max(exact, math.log(4 * length)) >= L
            assert exact - 0.6 <= L


def test_no_words_beyond_the_length() -> None:
    assert log_words(4, np.array([5])).tolist() == [0.0]
