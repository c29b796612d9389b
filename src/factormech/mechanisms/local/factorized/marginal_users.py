r"""Users that all marginals of one width take, from above and from below, to thousands of attributes.

Nothing here has the size of the domain, 2^d; and only collections that are run have that of the queries, k = 2^w C(d,
w): the norms are programs in w + 1 numbers (``norms.subsets.marginals``).

**Above.** Users send a column of A through the half sphere. Its report BZ has E e^{λ⟨BZ,θ⟩} = C + S with C the mean of
cosh(λB⟨Z,θ⟩) over the whole sphere (Z and −Z differ in the odd part S alone). For two independent reports of one user
Jensen's inequality gives E e^{λ⟨BZ − m,θ⟩} ≤ (C + S)(C − S) ≤ C² ≤ e^{λ²B²/d}, and B²/d < πc²/2, c = coth(ε/2): a
subgaussian proxy πc²‖θ‖², in every dimension. Drawing the user adds (1 + 2a)²/4 (Hoeffding), so with Γ = γ̂₂(W, a)

.. math:: n = \left\lceil 2\ln(2k)\,\bigl(πc^2Γ^2 + (1+2a)^2/4\bigr)/(α-a)^2 \right\rceil

users have E‖answers − Wλ‖_∞ ≤ α on every law λ: *guaranteed*. By the central limit theorem half of the first term is
enough: *predicted*, no guarantee.

**Below.** The bound of ``bounds.hard.release`` for the pairs of ``norms.subsets.marginals``. All rows and all columns
are alike, so the weights of the columns are uniform, and the uniform law is a centre of all pairs as long as no mass
exceeds it: φ is 1 or 0.

**Run.** With χ_T the parity of the signs of the attributes of T, W̃_{S,y} = Σ_{T⊆S} f_{|T|}χ_T(y)χ_T(x). So A_x has
the coordinates c_{|T|}χ_T(x) for 1 ≤ |T| ≤ w, c_t² = |f_t|√(C(w,t)/C(d,t))/Γ, which is a unit vector, and answers are
f_0 + Σ_T f_{|T|}χ_T(y)Y_T/c_{|T|}, Y the mean of the reports. Flips of attributes carry all types into each other.
"""

from __future__ import annotations

import math
from itertools import combinations
from math import comb

import numpy as np

from factormech.arrays import FloatArray, check_epsilon
from factormech.bounds.hard.divergence import Protocol
from factormech.bounds.hard.release import best_t, users_for_query
from factormech.norms.subsets.marginals import best_coefficients, best_polynomial, checked_sizes, hardness
from factormech.numerics.rounding import above

# Half-gaps over α at which certificates are solved; each serves every smaller one.
_GAPS = (1.25, 1.75, 2.5, 3.5, 5.0, 8.0)


def least_users(
    attributes: int, width: int, epsilon: float, alpha: float, protocol: Protocol = "non-interactive"
) -> float:
    """Return a number of users that no ε-LDP protocol of expected largest error ≤ α on every law needs fewer than.

    Parameters
    ----------
    attributes, width
        d and w.
    epsilon
        The privacy budget.
    alpha
        The expected largest error of an answer, which is between 0 and 1.
    protocol
        ``non-interactive`` or ``sequential``.

    Examples
    --------
    >>> round(least_users(1024, 3, 1.0, 0.05), -6)
    321000000.0
    """
    e = check_epsilon(epsilon)
    found = float(users_for_query(1.0, e, alpha))
    for gap in _GAPS:
        theta = min(gap * alpha, 0.5)
        found = max(found, best_t(hardness(attributes, width, theta), e, alpha, protocol)[0])
        if theta == 0.5:
            break
    return found


def sufficient_users(attributes: int, width: int, epsilon: float, alpha: float) -> tuple[int, int]:
    """Return how many users are guaranteed, and how many are predicted, to give expected largest error ≤ α on every
    law.

    Parameters
    ----------
    attributes, width, epsilon, alpha
        As of ``least_users``.
    """
    d, w = checked_sizes(attributes, width)
    norm, distance = best_polynomial(d, w, alpha)
    coth = 1.0 / math.tanh(0.5 * check_epsilon(epsilon))
    signs = math.log(2.0) + w * math.log(2.0) + math.log(comb(d, w))
    sampling = 0.25 * (1.0 + 2.0 * distance) ** 2
    noise = math.pi * (coth * norm) ** 2

    def users(share: float) -> int:
        return math.ceil(above(2.0 * signs * (share * noise + sampling) / (alpha - distance) ** 2, 16))

    return users(1.0), users(0.5)


def largest_errors(
    attributes: int, width: int, epsilon: float, alpha: float, users: int, trials: int, rng: np.random.Generator
) -> FloatArray:
    """Return the largest errors of collections that are run by the mechanism made for α, all users of one type.

    Parameters
    ----------
    attributes, width, epsilon, alpha
        As of ``least_users``; the sets of at most w attributes are counted one by one.
    users
        n.
    trials
        How many collections.
    rng
        Where the reports come from.

    Returns
    -------
    FloatArray
        (trials,): the largest |answer − truth| of each collection.

    Examples
    --------
    >>> errors = largest_errors(8, 1, 1.0, 0.1, sufficient_users(8, 1, 1.0, 0.1)[1], 100, np.random.default_rng(1))
    >>> bool(errors.mean() < 0.1)
    True
    """
    from factormech.mechanisms.local.randomizers.cap_randomizers import HalfSphere

    d, w = checked_sizes(attributes, width)
    f = np.array([float(value) for value in best_coefficients(d, w, alpha)])
    weights = np.array([abs(f[t]) * math.sqrt(comb(w, t) / comb(d, t)) for t in range(w + 1)])
    sets = [T for t in range(1, w + 1) if f[t] for T in combinations(range(d), t)]
    point = np.sqrt([weights[len(T)] for T in sets])
    point /= np.linalg.norm(point)
    sums = HalfSphere(len(sets), epsilon).sample_sums(point[None, :], np.array([users]), trials, rng)
    # The parities of the one type are 1: so are their estimates but for the noise.
    parities = dict(zip(sets, (sums / (users * point)).T, strict=True))
    signs = _signs(w)
    truth = np.array([1.0] + [0.0] * (2**w - 1))
    worst = np.zeros(trials)
    for S in combinations(range(d), w):
        answers = np.full((trials, 2**w), f[0])
        for mask in range(1, 2**w):
            T = tuple(S[i] for i in range(w) if mask >> i & 1)
            if T in parities:
                answers += np.outer(parities[T], f[len(T)] * signs[mask])
        worst = np.maximum(worst, np.abs(answers - truth).max(axis=1))
    return worst


def _signs(width: int) -> FloatArray:
    """χ_T(y), (2^w, 2^w): −1 where an odd number of the bits of T are bits of y."""
    bits = np.arange(2**width)
    return 1.0 - 2.0 * (np.bitwise_count(bits[:, None] & bits[None, :]) % 2)
