r"""The minimum number of users for one query, and a lower bound for a workload, under local differential privacy.

**One query.** The bound comes from two distributions on the query's two extreme types, and is solved exactly. Let r
be the query's range, max − min over the types, and 0 < θ ≤ r/2. The pair puts ½ ± θ/r on the type of the largest
value and the rest on that of the smallest: the answers differ by 2θ.

**Randomized response is best.** On two types every ε-LDP report y is a function of the randomized response of the type,
with fresh randomness: with p = e^ε/(1+e^ε), K(y|1) = (p·r(y|1) − (1−p)·r(y|0))/(2p−1) ≥ 0 and K(y|0) likewise, both
sums being 1. So n users know no more than a binomial number of n coins of bias ½ ± η, η = tanh(ε/2)·θ/r; of a
sequential protocol too, as each report may choose its K from those before it.

**Two points.** If the expected error is at most α on both, 2α ≥ E_λ|a − q(λ)| + E_μ|a − q(μ)| ≥ 2θ(1 − TV), and
1 − TV = 2·P(most coins are wrong, ties counted half): the regularised incomplete beta function I_{½−η}(m+1, m+1) for
n = 2m + 1 and for 2m + 2 coins. So the risk of n users is at least max_θ 2θ·I, and for each pair the answer of
the majority attains 2θ·I.

The answer of a whole workload errs by no less than each of its rows does.

**A workload.** The bound comes with its proof.

**Statement.** A mechanism has *expected error α* with n users if for every distribution λ on the types, the users being
drawn from it independently, E‖answers − Wλ‖_∞ ≤ α. Let U be a certificate (``witness``) of θ and G = W•U/γ₂*(U), t > 1
and tα ≤ θ. A non-interactive ε-LDP mechanism of expected error α has at least

.. math:: n \ge \max\Bigl(\frac{\mathrm{kl}(\tfrac1{2t})}{\kappa(e^\varepsilon-1)^2},\;
          \frac{4\ln(t^2/(2t-1))}{c\,(e^\varepsilon-1)^2}\Bigr)\Bigl(\frac{G}{t\alpha}\Bigr)^2

users, κ and c as in ``divergence``. *Proof.* Take the pairs of half-gap tα. On λ_v^n and μ_v^n answer v errs by at most
α in expectation, and 2α ≥ E_λ|a − q_v(λ)| + E_μ|a − q_v(μ)| ≥ 2tα(1 − TV), as the two distances add up to 2tα (Le Cam):
TV ≥ 1 − 1/t for **every** v, whatever π̂. That is β = 1/(2t) in ``divergence``, with ‖M̃‖ ≤ 2tα/G. ∎ (Markov's inequality
on each error instead, as in Edmonds, Nikolov & Ullman, STOC 2020, gives β = 1/t and a quarter of it for small α.) With
constants that are not explicit it is Theorem 20 of Edmonds (PhD thesis, 2023), by γ̂₂(W, α).

If U allows a centre ν with a share φ of its column weights (``witness``) the bound is about φe^ε times as large:

.. math:: n \ge \frac{\ln(t^2/(2t-1))}{\sinh^2(\varepsilon/2)}\cdot\frac{w_*^2}{-\ln(1-w_*^2)}\,\varphi
          \Bigl(\frac{G}{t\alpha}\Bigr)^2 ,

and a sequential protocol has at least ln(t²/(2t−1))φ/(4κ'sinh²(ε/2))·(G/tα)² users, as all pairs share μ_v = ν. The
centre exists at small α whatever the workload, and at every α for parities.

**t** is chosen best. G(θ) is bounded on both sides where it has been solved and falls in θ, so a few solves show that
no other t would give much more.

**Problems within.** The bound for some of the queries on some of the types holds for all of them: a certificate with
zeros elsewhere is one of W. So every second type is tried, again and again (the prefix of half the domain is within the
prefix of the whole), and, where the rows have few different numbers of entries, the rows with one number each (2-way
marginals within those of at most two ways). With more types the best certificate need not leave room for a centre, so
that without them the bound could fall as a problem grows.

The answers of fewer users than a single query needs (``single``) count too: the larger bound is reported.

**Data sets instead of distributions.** A mechanism whose expected error on each data set of n users is at most α has
expected error at most α + r/(2√n) for each single answer on each distribution, r the largest range of a row, and only
single answers are used above: so n is at least the bound at α + r/(2√n).
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any
from typing import Protocol as Interface

import numpy as np

from factormech.arrays import FloatArray, IntArray, check_epsilon
from factormech.bounds.hard import divergence
from factormech.bounds.hard.certificate import BestWitness, Witness, best_witness, certify, nothing
from factormech.bounds.hard.divergence import PROTOCOLS, Protocol
from factormech.errors import BadValue, UnknownName
from factormech.norms.certified import checked_matrix

# One query.

# Standardised gaps 2η√n that are tried: the best is near 1.5 for many users; few users are at the end θ = r/2.
_GAPS = np.geomspace(0.2, 4.0, 600)
# The incomplete beta function of scipy is right to about 1e-12.
_MARGIN = 1e-9


def risk(value_range: float, epsilon: float, users: int) -> float:
    """Return an expected error that every protocol of this many users has somewhere, for a query of this range.

    That is the worst expected error over all distributions of the users' types, pure ε, sequential or not.
    """
    from scipy.special import betainc

    r, e = _checked_range(value_range), check_epsilon(epsilon)
    if isinstance(users, bool) or not isinstance(users, (int, np.integer)) or users < 0:
        raise BadValue("users", users, "be a whole number of at least 0", "give for example 1000")
    if users == 0:
        return 0.5 * r
    t, m = math.tanh(0.5 * e), (int(users) - 1) // 2
    theta = np.minimum(0.5 * r, _GAPS * r / (2.0 * t * math.sqrt(2 * m + 1)))
    error = betainc(m + 1.0, m + 1.0, 0.5 - t * theta / r)
    return float((2.0 * theta * error).max()) * (1.0 - _MARGIN)


def users_for_query(value_range: float, epsilon: float, alpha: float) -> int:
    """The least number of users whose ``risk`` is at most α; fewer cannot answer the query to expected error α."""
    if not 0.0 < alpha < math.inf:
        raise BadValue("alpha", alpha, "be a finite number above 0", "give for example 0.1")
    if _checked_range(value_range) == 0.0 or risk(value_range, epsilon, 0) <= alpha:
        return 0
    low, high = 0, 1
    while risk(value_range, epsilon, high) > alpha:
        low, high = high, 2 * high
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if risk(value_range, epsilon, middle) > alpha else (low, middle)
    return high


def _checked_range(value_range: float) -> float:
    if not 0.0 <= value_range < math.inf:
        raise BadValue("value_range", value_range, "be a finite number of at least 0", "give max - min of the query")
    return float(value_range)


# A workload.

# t is sought on this grid: neighbours differ by less than 1e-4 in the bound.
_GRID = np.geomspace(1.01, 64.0, 1200)
_SOLVES = 6
_ENOUGH, _WORTH = 1.01, 1.002
# Problems within have so many types at least, and rows are grouped where they have at most so many kinds.
_FEWEST, _KINDS = 4, 4


class Pairs(Interface):
    """What the bounds use of pairs of laws: a ``Witness``, or the same numbers of a matrix that is not written out."""

    @property
    def theta(self) -> float: ...

    @property
    def strength(self) -> float: ...

    def norm(self, theta: float) -> float:
        """At least ‖M̃‖ of the pairs of half-gap θ'."""
        ...

    def row_mass(self, theta: float) -> float:
        """At least the largest ‖λ_v − μ_v‖₁ of the pairs of half-gap θ'."""
        ...

    def share(self, theta: float, protocol: Protocol = "non-interactive") -> float:
        """φ of the pairs of half-gap θ' around a centre; 0 where there are none."""
        ...


@dataclass(frozen=True)
class ReleaseBound:
    """A number of users that no mechanism needs fewer than.

    Attributes
    ----------
    users
        The bound; ``least_users`` rounded up.
    formula
        ``hard-pairs`` or ``single-query``, whichever is larger.
    pairs, single
        Both bounds.
    t, theta
        The best t and half-gap tα of the pairs (0 where they prove nothing).
    witness
        The certificate.
    ceiling
        What the best certificate and the best t could make of ``pairs`` at most, as far as it was solved.
    """

    epsilon: float
    alpha: float
    protocol: Protocol
    users: float
    formula: str
    pairs: float
    single: int
    t: float
    theta: float
    witness: Witness
    ceiling: float

    @property
    def least_users(self) -> int:
        """The least whole number of users that the bound leaves possible."""
        return math.ceil(self.users)


def lower_bound_release(
    workload: Any, epsilon: float, alpha: float, *, protocol: Protocol = "non-interactive", gap: float = 2e-3
) -> ReleaseBound:
    """The least number of users for expected ℓ_∞ error ≤ α on every distribution, pure ε-LDP.

    Parameters
    ----------
    workload
        W, (k, N); answers are Wλ for the distribution λ of the types.
    alpha
        The expected error max_v |answer_v − W_v•λ|.
    protocol
        ``non-interactive``, or ``sequential`` for interactive protocols that speak to each user once.
    gap
        Relative accuracy to which each certificate is solved.
    """
    W = checked_matrix("workload", workload)
    epsilon = check_epsilon(epsilon)
    if not 0.0 < alpha < math.inf:
        raise BadValue("alpha", alpha, "be a finite number above 0", "give for example 0.1")
    if protocol not in PROTOCOLS:
        raise UnknownName("protocol", protocol, PROTOCOLS)
    widest = float(np.ptp(W, axis=1).max())
    single = users_for_query(widest, epsilon, alpha)
    search = _searched(_CertificateSearch(W, epsilon, alpha, protocol, gap), {})
    users = max(search.users, float(single))
    formula = "hard-pairs" if search.users > single else "single-query"
    return ReleaseBound(
        epsilon, alpha, protocol, users, formula, search.users, single, search.t, search.t * alpha, search.witness,
        max(float(search.potentials().max(initial=0.0)), search.users),
    )  # fmt: skip


def users_at(witness: Pairs, epsilon: float, alpha: float, t: float, protocol: Protocol = "non-interactive") -> float:
    """The bound of one certificate at one t; 0 where the certificate does not reach tα."""
    theta = math.nextafter(t * alpha, math.inf)
    if theta > witness.theta or witness.strength <= 0.0 or t <= 1.0:
        return 0.0
    norm, mass = witness.norm(theta), witness.row_mass(theta)
    share = witness.share(theta, protocol)
    users = divergence.users_around_centre(norm, epsilon, 0.5 / t, share, mass, protocol=protocol)
    if protocol == "sequential":
        # The pairs of ``users_around_centre`` share their μ, so the cruder bound holds for them as well.
        plain = divergence.users_to_distinguish(norm, epsilon, 0.5 / t, protocol=protocol)
        return max(users, plain if share > 0.0 else 0.0)
    return max(users, divergence.users_to_distinguish(norm, epsilon, 0.5 / t, row_mass=mass))


def best_t(witness: Pairs, epsilon: float, alpha: float, protocol: Protocol = "non-interactive") -> tuple[float, float]:
    """The largest bound of one certificate, and its t."""
    reach = witness.theta
    ends = [t for t in (*_GRID.tolist(), reach / alpha * (1.0 - 1e-12)) if 1.0 < t <= reach / alpha]
    return max(((users_at(witness, epsilon, alpha, t, protocol), t) for t in ends), default=(0.0, 0.0))


def _searched(search: _CertificateSearch, known: dict[bytes, _CertificateSearch]) -> _CertificateSearch:
    """The search for W and for the problems within it, each solved once."""
    W = search.W
    key = W.tobytes() + repr(W.shape).encode()
    if key in known:
        return known[key]
    known[key] = search
    search.run()
    for rows, columns in _within(W):
        part = _CertificateSearch(W[np.ix_(rows, columns)], search.epsilon, search.alpha, search.protocol, search.gap)
        search.keep(rows, columns, _searched(part, known))
    return search


def _within(W: FloatArray) -> Iterator[tuple[IntArray, IntArray]]:
    """Rows and columns of problems: every second type; the rows with each of a few numbers of entries not 0."""
    half, whole = np.arange(0, W.shape[1], 2), np.arange(W.shape[1])
    if len(half) >= _FEWEST:
        rows = np.sort(np.unique(W[:, half], axis=0, return_index=True)[1])
        rows = rows[np.ptp(W[np.ix_(rows, half)], axis=1) > 0.0]
        if len(rows):
            yield rows, half
    sizes = np.where(np.ptp(W, axis=1) > 0.0, np.count_nonzero(W, axis=1), 0)
    kinds = np.unique(sizes[sizes > 0])
    if 1 < len(kinds) <= _KINDS:
        yield from ((np.flatnonzero(sizes == kind), whole) for kind in kinds)


class _CertificateSearch:
    """Certificates at a few θ = tα, until no other t could do much better."""

    def __init__(self, W: FloatArray, epsilon: float, alpha: float, protocol: Protocol, gap: float) -> None:
        self.W, self.epsilon, self.alpha, self.protocol, self.gap = W, epsilon, alpha, protocol, gap
        self.half_range = 0.5 * float(np.ptp(W, axis=1).max())
        self.grid = _GRID[alpha * _GRID < self.half_range]
        self.uppers = np.full(len(self.grid), math.inf)
        self.users, self.t = 0.0, 0.0
        self.witness = nothing(W.shape, alpha)

    def run(self) -> None:
        place, before = 0, 0.0
        for _ in range(_SOLVES if len(self.grid) else 0):
            found = best_witness(self.W, self.alpha * float(self.grid[place]), gap=self.gap)
            self.take(found, place)
            if self.users <= before * _WORTH:
                return
            before = self.users
            potentials = self.potentials()
            place = int(np.argmax(potentials))
            if potentials[place] <= _ENOUGH * self.users or not math.isfinite(potentials[place]):
                return

    def take(self, found: BestWitness, place: int) -> None:
        """Keep a better bound; G falls in θ, so its upper end holds for all larger t."""
        self.uppers[place:] = np.minimum(self.uppers[place:], found.upper)
        users, t = best_t(found.witness, self.epsilon, self.alpha, self.protocol)
        if users > self.users:
            self.users, self.t, self.witness = users, t, found.witness

    def keep(self, rows: IntArray, columns: IntArray, part: _CertificateSearch) -> None:
        """Keep the certificate of some rows and columns, with zeros elsewhere, if it is better."""
        if part.users <= self.users:
            return
        U = np.zeros_like(self.W)
        U[np.ix_(rows, columns)] = part.witness.matrix
        witness = certify(self.W, U, part.t * self.alpha, gap=0.1 * self.gap)
        users, t = best_t(witness, self.epsilon, self.alpha, self.protocol)
        if users > self.users:
            self.users, self.t, self.witness = users, t, witness

    def potentials(self) -> FloatArray:
        """Return the bound that a certificate as strong as the upper end would prove at each t."""
        values = np.zeros(len(self.grid))
        for i, (t, upper) in enumerate(zip(self.grid.tolist(), self.uppers.tolist(), strict=True)):
            theta = t * self.alpha
            norm = 2.0 * theta / upper if upper > 0.0 else math.inf
            mass = min(2.0, 2.0 * theta / self.half_range)
            if not math.isfinite(norm):
                continue
            ideal = divergence.users_around_centre(norm, self.epsilon, 0.5 / t, 1.0, mass, protocol=self.protocol)
            crude = divergence.users_to_distinguish(norm, self.epsilon, 0.5 / t, protocol=self.protocol, row_mass=mass)
            values[i] = max(ideal, crude)
        return values
