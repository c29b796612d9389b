r"""Simulate what the estimator of a subset mechanism needs of the reports of a whole population, exactly.

A report S of size s adds g_s(1_S − s/n) to the estimate of the centred data vector (``subsets.py``): what is needed is
h = Σ g_s 1_S over all reports. There are 2ⁿ outputs, so sums of reports are out of reach; two exact ways lead to h.

**Mixture.** Given s, a user of type u reports with a probability proportional to 1 + (a_s−1)1_S(u). So with probability
w_s = (a_s−1)s/(n+(a_s−1)s) the report is *forced*: u and a uniform set of s − 1 other types; else it is *free*, a
uniform set of s types whatever u.

**User by user**, in blocks: a uniform set of a given size is that of the smallest among n uniform numbers, that of u
being put first where the report is forced.

**Type by type**, for any number of users: the reports in which r of the R types not yet decided are still to be chosen
are alike; each contains the next of those types with probability r/R, independently. So the number of reports in each
state (s, r) is followed from type to type, by one binomial each. A forced report skips its own type, so forced reports
whose own type is still to come (R is one less) are followed apart. Those of one type are exchangeable with the others
of their size, so when their own type v comes, how many of them are in each state r is multivariate hypergeometric:
they are taken out, contain v, and go on as free ones do from there.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from factormech.arrays import FloatArray, IntArray

# Work of one trial, in uniform numbers (10 ns each), above which a simulation is refused: about a second of one core.
WORK_LIMIT = 1e8
_CELLS_LIMIT = 2**21  # numbers held at once
_FEW = 150  # draws of one row up to which they are made one by one
_HYPERGEOMETRIC_LIMIT = 10**9  # NumPy's, on the number of users of one size


@dataclass(frozen=True)
class SubsetLaw:
    """A subset mechanism as a mixture: the sizes that occur and say something, and what they weigh.

    Attributes
    ----------
    domain_size
        n.
    sizes
        The sizes 0 < s < n that occur, ascending.
    forced, free
        The probabilities that a report has this size and is forced, or free.
    silent
        The probability of an empty or full set, which says nothing.
    weights
        g_s.
    """

    domain_size: int
    sizes: IntArray
    forced: FloatArray
    free: FloatArray
    silent: float
    weights: FloatArray

    def work_by_users(self, users: int) -> float:
        """Return the work of one trial, user by user: a uniform number for each user and type."""
        return float(users) * self.domain_size

    def work_by_types(self, users: int) -> float:
        """Return the work of one trial, type by type: sizes that occur, about √n states of each; fitted to times."""
        sizes = float(np.minimum(users * (self.forced + self.free), 1.0).sum())
        return float(55.0 * self.domain_size**1.5 * sizes)

    def refusal(self, users: int) -> str:
        """Why that many users cannot be simulated, or nothing."""
        work = min(self.work_by_users(users), self.work_by_types(users))
        if work > WORK_LIMIT:
            return (
                f"simulating {users} users takes the work of {work:.1e} random numbers a trial, above the limit of "
                f"{WORK_LIMIT:.0e}; ask for fewer users or a smaller domain"
            )
        if users >= _HYPERGEOMETRIC_LIMIT:
            return f"{users} users are above the {_HYPERGEOMETRIC_LIMIT:.0e} that the hypergeometric sampler can take"
        return ""

    def sample(self, counts: IntArray, trials: int, rng: np.random.Generator) -> FloatArray:
        """The sums h for ``counts`` users by type, (types, trials), by the cheaper of the two ways."""
        users = int(counts.sum())
        if self.work_by_users(users) <= self.work_by_types(users):
            return self.sample_by_users(counts, trials, rng)
        return self.sample_by_types(counts, trials, rng)

    # User by user ------------------------------------------------------------------------------------------

    def sample_by_users(self, counts: IntArray, trials: int, rng: np.random.Generator) -> FloatArray:
        """The sums h, from one report for each user."""
        h = np.zeros((self.domain_size, trials))
        types = np.repeat(np.arange(self.domain_size), counts)
        block = max(1, _CELLS_LIMIT // self.domain_size)
        for trial in range(trials):
            for start in range(0, len(types), block):
                h[:, trial] += self._reports(types[start : start + block], rng)
        return h

    def _reports(self, types: IntArray, rng: np.random.Generator) -> FloatArray:
        """Σ g_s 1_S over one report of each of these users."""
        k = len(self.sizes)
        cell = np.searchsorted(np.cumsum([*self.forced, *self.free]), rng.random(len(types)), side="right")
        speaks = cell < 2 * k  # beyond are the sets that say nothing
        cell, types = cell[speaks], types[speaks]
        which, forced = cell % k, cell < k
        keys = rng.random((len(types), self.domain_size))
        keys[np.flatnonzero(forced), types[forced]] = -1.0
        last = self.sizes[which] - 1
        if k == 1:  # only the s-th smallest is needed
            ordered = np.partition(keys, self.sizes[0] - 1, axis=1)
        else:
            ordered = np.sort(keys, axis=1)
        member = keys <= ordered[np.arange(len(types)), last][:, None]
        return np.asarray(self.weights[which] @ member.astype(float))

    # Type by type ------------------------------------------------------------------------------------------

    def sample_by_types(self, counts: IntArray, trials: int, rng: np.random.Generator) -> FloatArray:
        """The sums h, from the numbers of reports in each state."""
        block = max(1, _CELLS_LIMIT // (len(self.sizes) * int(self.sizes.max(initial=0) + 1 + self.domain_size)))
        sizes = [min(block, trials - start) for start in range(0, trials, block)]
        return np.concatenate([self._sample_by_types(counts, size, rng) for size in sizes], axis=1)

    def _sample_by_types(self, counts: IntArray, trials: int, rng: np.random.Generator) -> FloatArray:
        n = self.domain_size
        own, free = self._split(counts, trials, rng)
        used = np.flatnonzero(own.any(axis=(0, 1)) | free.any(axis=0))
        own, s, g = own[:, :, used], self.sizes[used], self.weights[used]
        r = np.arange(int(s.max(initial=0)) + 1)
        waiting = np.zeros((trials, len(s), len(r)), dtype=np.int64)
        passed = np.zeros_like(waiting)
        waiting[:, np.arange(len(s)), s - 1] = own.sum(axis=1)
        passed[:, np.arange(len(s)), s] = free[:, used]
        h = np.zeros((n, trials))
        for v in range(n):
            taken = _take(waiting, own[:, v], rng)
            waiting -= taken
            up = _binomial(waiting, r / max(n - v - 1, 1), rng)
            up_passed = _binomial(passed, r / (n - v), rng)
            h[v] = (own[:, v] + (up + up_passed).sum(axis=2)) @ g
            _choose(waiting, up)
            _choose(passed, up_passed)
            passed += taken
        return h

    def _split(self, counts: IntArray, trials: int, rng: np.random.Generator) -> tuple[IntArray, IntArray]:
        """Return how many reports are forced, by (trial, type, size), and free, by (trial, size)."""
        rest = np.array([*self.free, self.silent])
        shares = np.array([*self.forced, rest.sum()])
        forced = rng.multinomial(counts, shares / shares.sum(), size=(trials, self.domain_size))
        free = rng.multinomial(forced[:, :, -1].sum(axis=1), rest / max(rest.sum(), np.finfo(float).tiny))
        return forced[:, :, :-1], free[:, :-1]


def _binomial(state: IntArray, share: FloatArray, rng: np.random.Generator) -> IntArray:
    """Binomial parts of the counts of a state array, ``share`` being along its last axis; zeros are skipped."""
    from factormech.mechanisms.local.binomial_kernels import parts

    return parts(state.reshape(-1, len(share)), np.minimum(share, 1.0), rng).reshape(state.shape)


def _choose(state: IntArray, up: IntArray) -> None:
    """Move the reports that contain the type of this turn: one less is still to be chosen."""
    state -= up
    state[..., :-1] += up[..., 1:]


def _take(state: IntArray, samples: IntArray, rng: np.random.Generator) -> IntArray:
    """Draw ``samples`` from each row (last axis) without replacement: multivariate hypergeometric.

    Few are drawn one by one, many down the halvings.
    """
    from factormech.mechanisms.local.binomial_kernels import take_few

    lines = np.ascontiguousarray(state).reshape(-1, state.shape[-1])
    found, many = np.zeros_like(lines), np.zeros(len(lines), dtype=np.int64)
    if take_few(lines, np.ascontiguousarray(samples).reshape(-1), _FEW, rng, found, many):
        rows = np.flatnonzero(many)
        found[rows] = _take_many(lines[rows], many[rows], rng)
    return found.reshape(state.shape)


def _take_many(state: IntArray, samples: IntArray, rng: np.random.Generator) -> IntArray:
    """The same: how many are taken from the left half of a row is hypergeometric; so down the halvings."""
    width = state.shape[-1]
    depth = max(width - 1, 0).bit_length()
    level = np.zeros((*state.shape[:-1], 1 << depth), dtype=np.int64)
    level[..., :width] = state
    pyramid = [level]
    for _ in range(depth):
        level = level[..., 0::2] + level[..., 1::2]
        pyramid.append(level)
    found = samples[..., None]
    for level in reversed(pyramid[:-1]):
        left, halves = np.zeros(found.shape, dtype=np.int64), level.reshape(-1)
        cells = np.flatnonzero(found)
        if cells.size:
            taken = rng.hypergeometric(halves[2 * cells], halves[2 * cells + 1], found.reshape(-1)[cells])
            left.reshape(-1)[cells] = taken
        found = np.stack([left, found - left], axis=-1).reshape(*state.shape[:-1], -1)
    return np.asarray(found[..., :width])
