r"""A local protocol simulated by statistical queries (Kasiviswanathan, Lee, Nissim, Raskhodnikova & Smith, 2011).

A user with a type u ∼ λ sends output o with probability Q_ou, so outputs have the law Qλ. To draw from it by queries
about λ: propose o with probability ∝ M_o = max_u Q_ou, ask for g_o(λ), g_o(u) = Q_ou/M_o ∈ [e^{−ε}, 1], and accept with
that probability. A report takes Σ_o M_o ≤ e^ε queries on average. g is asked as (2g − 1 − e^{−ε})/(1 − e^{−ε}) ∈ [−1,
1], so a tolerance τ is (1 − e^{−ε})τ/2 in g and ϱ = (e^ε − 1)τ/2 relative to it; the law of an accepted report is then
∝ (1 + e_o)(Qλ)_o with |e_o| ≤ ϱ, which is within ϱ/(2(1 − ϱ)) of Qλ in total variation, and n reports within n times
that. ``tolerance_for`` is the τ that makes it β. (SIAM J. Comput. 40(3), Lemma 5.8, has β/(3e^{2ε}) for one report.)
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from factormech.arrays import FloatArray, IntArray, check_epsilon, check_positive_integer
from factormech.errors import BadValue
from factormech.privacy import verify_ldp
from factormech.queries.oracles import Oracle, check_failure

# Numbers of values of queries that are held at once.
_CELLS = 2**21


def simulate_reports(
    strategy: Any, epsilon: float, oracle: Oracle, users: int, rng: np.random.Generator
) -> tuple[IntArray, int]:
    """How many of the users' reports are each output, (m,), and the number of queries that it took.

    ``strategy`` is Q, outputs × types, ε-LDP.
    """
    Q = np.asarray(strategy, dtype=float)
    verify_ldp(Q, epsilon)
    if Q.shape[1] != len(oracle.law):
        raise BadValue(
            "types of the strategy", Q.shape[1], f"be the oracle's, {len(oracle.law)}", "give one column each"
        )
    waiting, counts, asked = check_positive_integer("users", users), np.zeros(len(Q), dtype=np.int64), oracle.asked
    Q = Q[Q.max(axis=1) > 0.0]
    used = np.flatnonzero(np.asarray(strategy).max(axis=1) > 0.0)
    most, least = Q.max(axis=1), math.exp(-epsilon)
    queries = np.clip((2.0 * Q / most[:, None] - 1.0 - least) / (1.0 - least), -1.0, 1.0)
    while waiting:
        proposed = rng.choice(len(Q), size=min(waiting, max(1, _CELLS // Q.shape[1])), p=most / most.sum())
        answers = oracle.ask(queries[proposed])
        accepted = proposed[rng.random(len(proposed)) < 0.5 * (1.0 + least + (1.0 - least) * answers)]
        counts[used] += np.bincount(accepted, minlength=len(Q))
        waiting -= len(accepted)
    return counts, oracle.asked - asked


def queries_a_report(strategy: FloatArray) -> float:
    """Σ_o max_u Q_ou, the average number of queries for a report, at most e^ε."""
    return float(np.asarray(strategy).max(axis=1).sum())


def tolerance_for(epsilon: float, users: int, failure: float) -> float:
    """The τ of which all reports together are within ``failure`` of the protocol's in total variation."""
    e, b = check_epsilon(epsilon), check_failure(failure)
    share = 2.0 * b / (check_positive_integer("users", users) + 2.0 * b)
    return min(1.0, 2.0 * share / math.expm1(e))
