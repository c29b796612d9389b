r"""A strategy made of patterns: its exact error, its reports, and what is decoded from them.

X = QᵀD⁻¹Q is diagonal in the characters χ of {0,1}^d with eigenvalue x_χ: the mean, over the public part of the
report, of γ_s² where Aᵀs = χ (``patterns.py``); for a permuted family, its mean over the parities of one size. A
workload whose centred Gram matrix C has the eigenvalues g_χ has

.. math:: \operatorname{tr}(X_c^+C) = \sum_\chi g_\chi / x_\chi, \qquad
          \text{variance per user} = \tfrac1n \sum_\chi g_\chi (1/x_\chi - 1),

the same for every user type, because the translations are transitive on the types and keep both Q and C.

The Walsh coefficient Σ_u N_uχ(u) of the data is estimated by Σ γ_s(−1)^{s·r}/x_χ over the reports with Aᵀs = χ: the
expectation of one report's term given the public part is γ_s²χ(u)/x_χ, whose mean over the public part is χ(u).
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import numpy.typing as npt

from factormech.arrays import FloatArray, IntArray, check_dense_size, check_epsilon
from factormech.errors import BadValue
from factormech.mechanisms.local.error_law import ErrorLaw
from factormech.mechanisms.local.reports import check_simulation
from factormech.mechanisms.local.strategy import RESIDUAL_LIMIT, Evaluation, StrategyMatrix
from factormech.mechanisms.local.symmetric.collection import PatternCollection, Placed, pattern_error_law
from factormech.mechanisms.local.symmetric.patterns import Channel, PatternFamily, characters, gains, permute
from factormech.privacy.guarantee import VERIFIED, Guarantee
from factormech.workloads import binary
from factormech.workloads.base import Workload

_BLOCK = 2**16  # users decoded at a time
_FEW_POINTS = 16  # up to here reports are decoded one by one, whatever their matrix
_USERS_LIMIT = 10_000_000
_CELLS_LIMIT = 2**23  # different reports that are counted
_CELLS_PER_USER = 16  # with fewer users than cells over this, decoding their reports is cheaper than reading the counts
_PERMUTATIONS_LIMIT = 8  # attributes whose permutations are listed for a dense matrix


@dataclass(frozen=True)
class PatternReports:
    """The reports that N users send.

    ``family`` and ``matrix`` say which A, ``permutation`` (N, d) how its attributes are moved (the identity where the
    family is not permuted), ``word`` is r. All but the word is drawn without looking at the user.
    """

    family: IntArray
    matrix: IntArray
    permutation: npt.NDArray[np.int8]
    word: IntArray

    def __len__(self) -> int:
        return len(self.word)


class SymmetricStrategy:
    """An ε-LDP strategy over n = 2^d types whose rows are the translates of patterns."""

    def __init__(self, attributes: int, families: Sequence[PatternFamily], epsilon: float) -> None:
        self.attributes = attributes
        self.epsilon = check_epsilon(epsilon)
        self.families = tuple(families)
        total = sum(f.weight for f in self.families)
        if abs(total - 1.0) > 1e-9:
            raise BadValue("sum of the weights", total, "be 1", "normalise the weights of all families together")
        if any(int(f.masks.max()) >= self.domain_size or int(f.masks.min()) < 1 for f in self.families):
            raise BadValue("masks", "out of range", f"be parities of {attributes} attributes", "use masks below 2^d")
        self.channels = tuple(Channel.of(f, self.epsilon) for f in self.families)
        self.privacy_loss = min(max(c.loss for c in self.channels), self.epsilon)

    @property
    def guarantee(self) -> Guarantee:
        return Guarantee(self.epsilon, ground=VERIFIED)

    @property
    def domain_size(self) -> int:
        return 1 << self.attributes

    @property
    def outputs(self) -> int:
        """The number of distinct reports, where permutations of a pattern are different reports."""
        orders = math.factorial(self.attributes)
        return sum(len(f.masks) * f.points * (orders if f.permuted else 1) for f in self.families)

    @cached_property
    def _gains(self) -> tuple[FloatArray, ...]:
        return tuple(gains(f, c) for f, c in zip(self.families, self.channels, strict=True))

    @cached_property
    def information(self) -> FloatArray:
        """x_χ, (n,), with x = 0 at the empty character: the eigenvalues of X_c."""
        x, by_size = np.zeros(self.domain_size), np.zeros(self.attributes + 1)
        for family, gamma in zip(self.families, self._gains, strict=True):
            step = max(1, _BLOCK * 16 // family.points)
            for start in range(0, len(family.masks), step):
                chi = characters(family.masks[start : start + step])
                added = np.outer(family.weights[start : start + step], gamma**2)
                if family.permuted:
                    by_size += np.bincount(np.bitwise_count(chi).ravel(), weights=added.ravel(), minlength=len(by_size))
                else:
                    x += np.bincount(chi.ravel(), weights=added.ravel(), minlength=len(x))
        if by_size.any():
            x += (by_size / [math.comb(self.attributes, j) for j in range(len(by_size))])[
                binary.popcounts(self.domain_size)
            ]
        x[0] = 0.0
        x.setflags(write=False)
        return x

    # Error -------------------------------------------------------------------------------------------------

    def residual(self, spectrum: FloatArray) -> float:
        """The part of the centred workload, in Frobenius norm, that lies outside the row space."""
        g = self._centred(spectrum)
        return math.sqrt(float(g[self.information <= 0].sum()) / max(float(g.sum()), np.finfo(float).tiny))

    def objective(self, spectrum: FloatArray) -> float:
        """tr(X_c⁺C) = Σ g_χ/x_χ; infinite where the workload is outside the row space."""
        g = self._centred(spectrum)
        asked = g > 0
        with np.errstate(divide="ignore"):
            return float(np.sum(g[asked] / self.information[asked]))

    def variance_per_user(self, spectrum: FloatArray) -> float:
        """(1/n)Σ g_χ(1/x_χ − 1): what a user of any type adds to the variance of the answers."""
        g = self._centred(spectrum)
        asked = g > 0
        x = self.information[asked]
        with np.errstate(divide="ignore"):
            return float(np.sum(g[asked] * ((1.0 - x) / x)) / self.domain_size)

    def _centred(self, spectrum: FloatArray) -> FloatArray:
        g = np.array(spectrum, dtype=float)
        if g.shape != (self.domain_size,):
            raise BadValue("shape of spectrum", g.shape, f"be ({self.domain_size},)", "give one number per character")
        g[0] = 0.0
        return g

    def evaluate(self, centred_gram: FloatArray) -> Evaluation:
        """The exact error on the workload with this C, which must be invariant under the translations."""
        g = spectrum_of(centred_gram)
        if g is None or len(g) != self.domain_size:
            return self.as_matrix().evaluate(centred_gram)
        residual = self.residual(g)
        value = self.variance_per_user(g) if residual <= RESIDUAL_LIMIT else math.nan
        return Evaluation(np.full(self.domain_size, value), residual, self.privacy_loss, self.outputs)

    # Dense, for small domains ------------------------------------------------------------------------------

    def as_matrix(self) -> StrategyMatrix:
        """The same strategy with its matrix, for small domains: equal patterns under permutations are one."""
        return StrategyMatrix(np.concatenate(list(self._rows())), self.epsilon)

    def _rows(self) -> Iterator[FloatArray]:
        n = self.domain_size
        u = np.arange(n)
        for family, channel, (masks, weights) in zip(self.families, self.channels, self._listings, strict=True):
            check_dense_size("matrix of the symmetric strategy", len(masks) * family.points, n)
            r = np.arange(family.points)[:, None]
            for A, weight in zip(masks, weights, strict=True):
                z = sum((np.bitwise_count(u & A[i]).astype(np.int64) & 1) << i for i in range(family.bits))
                yield weight * np.where(family.table[z ^ r], channel.high, channel.low)

    @cached_property
    def _listings(self) -> tuple[tuple[IntArray, FloatArray], ...]:
        return tuple(self._listed(family) for family in self.families)

    def _listed(self, family: PatternFamily) -> tuple[IntArray, FloatArray]:
        """Return all matrices of a family, equal ones together, and their probabilities."""
        if not family.permuted:
            return family.masks, family.weights
        if self.attributes > _PERMUTATIONS_LIMIT:
            rule = f"be at most {_PERMUTATIONS_LIMIT} to list their permutations"
            raise BadValue("attributes", self.attributes, rule, "use the spectrum")
        orders = np.array(list(itertools.permutations(range(self.attributes))))
        moved = permute(family.masks[:, None, :], orders).reshape(-1, family.bits)
        found, where = np.unique(moved, axis=0, return_inverse=True)
        weights = np.repeat(family.weights / len(orders), len(orders))
        return found, np.asarray(np.bincount(where.ravel(), weights=weights), dtype=float)

    # Reports -----------------------------------------------------------------------------------------------

    def randomise(self, users: IntArray, rng: np.random.Generator) -> PatternReports:
        """One simulated report of each user, given by type, (N,): seeded experiments, never private releases."""
        u = np.asarray(users)
        if u.ndim != 1 or u.dtype.kind not in "iu" or (u.size and not 0 <= u.min() <= u.max() < self.domain_size):
            rule = f"be whole numbers from 0 to {self.domain_size - 1}"
            raise BadValue("users", u.shape, rule, "give one type per user")
        chosen = rng.choice(len(self.families), size=len(u), p=_normalised([f.weight for f in self.families]))
        matrix, word = np.zeros(len(u), dtype=np.int64), np.zeros(len(u), dtype=np.int64)
        order = np.broadcast_to(np.arange(self.attributes, dtype=np.int8), (len(u), self.attributes)).copy()
        for index, (family, channel) in enumerate(zip(self.families, self.channels, strict=True)):
            who = np.flatnonzero(chosen == index)
            matrix[who] = rng.choice(len(family.masks), size=len(who), p=_normalised(family.weights))
            if family.permuted:
                order[who] = rng.permuted(order[who], axis=1)
            A = self._matrices(family, matrix[who], order[who])
            word[who] = _bits_of(A, u[who]) ^ _noise(family, channel, len(who), rng)
        return PatternReports(chosen.astype(np.int64), matrix, order, word)

    @staticmethod
    def _matrices(family: PatternFamily, matrix: IntArray, order: npt.NDArray[np.int8]) -> IntArray:
        A = family.masks[matrix]
        return permute(A, order) if family.permuted else A

    def coefficients(self, reports: PatternReports) -> FloatArray:
        """Unbiased estimates of the Walsh coefficients Σ_u N_uχ(u), (n,); 0 where the strategy says nothing."""
        totals = np.zeros(self.domain_size)
        for index, (family, gamma) in enumerate(zip(self.families, self._gains, strict=True)):
            who = np.flatnonzero(reports.family == index)
            if family.permuted or family.points <= _FEW_POINTS:
                step = max(1, _BLOCK * 16 // family.points)
                for start in range(0, len(who), step):
                    totals += self._totals_by_report(family, gamma, reports, who[start : start + step])
            else:
                self._add_totals_by_matrix(totals, family, gamma, reports, who)
        estimates = self._estimates(totals)
        estimates[0] = len(reports)
        return estimates

    def _estimates(self, totals: FloatArray) -> FloatArray:
        """Totals over the reports divided by what one report says, (n,)."""
        return np.divide(totals, self.information, out=np.zeros_like(totals), where=self.information > 0)

    def _totals_by_report(
        self, family: PatternFamily, gamma: FloatArray, reports: PatternReports, who: IntArray
    ) -> FloatArray:
        chi = characters(self._matrices(family, reports.matrix[who], reports.permutation[who]))
        odd = np.bitwise_count(reports.word[who][:, None] & np.arange(family.points)) & 1
        values = np.where(odd, -gamma, gamma)
        return np.asarray(np.bincount(chi.ravel(), weights=values.ravel(), minlength=self.domain_size))

    def _add_totals_by_matrix(
        self, totals: FloatArray, family: PatternFamily, gamma: FloatArray, reports: PatternReports, who: IntArray
    ) -> None:
        """Σ (−1)^{s·r} over the reports of one A is the Walsh transform of how often each r came."""
        by_matrix = who[np.argsort(reports.matrix[who], kind="stable")]
        used, starts = np.unique(reports.matrix[by_matrix], return_index=True)
        for which, part in zip(used, np.split(by_matrix, starts[1:]), strict=True):
            counts = np.bincount(reports.word[part], minlength=family.points).astype(float)
            totals[characters(family.masks[which])] += gamma * binary.transform(counts)

    def answers(self, reports: PatternReports, workload: Workload) -> FloatArray:
        """Unbiased estimates of the workload's answers on the data of the users who reported."""
        g = workload.centred_walsh_spectrum()
        if g is None:
            rule = "have a centred Gram matrix that u ⊕ v decides"
            raise BadValue("workload", workload.name, rule, "use the estimates of the data vector")
        residual = self.residual(g)
        if residual > RESIDUAL_LIMIT:
            remedy = "solve for this workload"
            raise BadValue("residual", residual, f"be at most {RESIDUAL_LIMIT:g} for workload {workload.name}", remedy)
        return workload.answer(binary.transform(self.coefficients(reports)) / self.domain_size)

    # Simulation --------------------------------------------------------------------------------------------

    def simulation_refusal(self, users: int) -> str:
        """Users are drawn one by one where their reports are kept, and some of them where these are counted."""
        return "" if users <= _USERS_LIMIT else f"{users} users are more than {_USERS_LIMIT} drawn one by one"

    @cached_property
    def _collection(self) -> PatternCollection | None:
        """The counter of reports, if these are few enough to be counted."""
        if any(f.permuted for f in self.families) and self.attributes > _PERMUTATIONS_LIMIT:
            return None
        cells = sum(len(masks) * f.points for (masks, _), f in zip(self._listings, self.families, strict=True))
        if cells > _CELLS_LIMIT:
            return None
        return PatternCollection(self.families, self.channels, self._gains, self._listings, self.domain_size)

    def simulate_estimates(self, counts: IntArray, trials: int, rng: np.random.Generator) -> FloatArray:
        """Centred estimates of the data vector, (types, trials)."""
        counts, trials = check_simulation(counts, self.domain_size, trials)
        collection, found = self._collection, np.empty((self.domain_size, trials))
        if collection is not None and counts.sum() * _CELLS_PER_USER > collection.cells:
            for trial in range(trials):
                found[:, trial] = self._estimates(collection.totals(collection.counts(counts, rng)))
        else:
            users = np.repeat(np.arange(self.domain_size), counts)
            for trial in range(trials):
                found[:, trial] = self.coefficients(self.randomise(users, rng))
        found[0] = 0.0
        return binary.transform(found) / self.domain_size

    def error_law(self, centred_gram: FloatArray) -> ErrorLaw:
        """Mean and variance of the squared error: by characters (``collection.py``), or else by the matrix."""
        g = spectrum_of(centred_gram)
        if g is None or len(g) != self.domain_size:
            return self.as_matrix().error_law(centred_gram)
        g[0] = 0.0
        parts = zip(self.families, self.channels, self._gains, self._listings, strict=True)
        placed = [Placed(family, channel, gamma, *listed) for family, channel, gamma, listed in parts]
        return pattern_error_law(centred_gram, g, self.information, self.evaluate(centred_gram).variance, placed)


def spectrum_of(centred_gram: FloatArray) -> FloatArray | None:
    """The eigenvalues of C by character, or nothing where u ⊕ v does not decide C_uv."""
    g = binary.spectrum_of(centred_gram)
    if g is not None:
        g[g < 1e-12 * g.max(initial=0.0)] = 0.0  # rounding of C
    return g


def _bits_of(A: IntArray, users: IntArray) -> IntArray:
    """Au for each user's own matrix, as bit masks."""
    z = np.zeros(len(users), dtype=np.int64)
    for i in range(A.shape[1]):
        z |= (np.bitwise_count(A[:, i] & users).astype(np.int64) & 1) << i
    return z


def _noise(family: PatternFamily, channel: Channel, users: int, rng: np.random.Generator) -> IntArray:
    """y: uniform in T with probability π, else uniform outside."""
    inside = rng.random(users) < channel.inside
    hit = family.ones[rng.integers(len(family.ones), size=users)]
    miss = family.zeros[rng.integers(len(family.zeros), size=users)]
    return np.where(inside, hit, miss)


def _normalised(weights: Sequence[float] | FloatArray) -> FloatArray:
    p = np.asarray(weights, dtype=float)
    return np.asarray(p / p.sum())
