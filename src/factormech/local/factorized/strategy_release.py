r"""A strategy matrix as a mechanism that answers a workload: the mechanisms of McKenna et al. beside factorizations.

A user of type u reports output o with probability Q_ou. With the best reconstruction B of the histogram
(``local/strategy.py``; McKenna, Maity, Mazumdar & Miklau, PVLDB 13(11), 2020) the answers are the mean of

.. math:: V e_o = \tfrac1N W\mathbf 1 + W b_o, \qquad \tilde W = VQ, \qquad
          S_u = V(\operatorname{Diag}(Q_u) - Q_uQ_u^\top)V^\top

over the reports. The log-moments are computed type by type, log Σ_o Q_ou exp(τ(V_qo − W̃_qu)), and so are the least
possible for this V, up to rounding.
"""

from __future__ import annotations

import math
from functools import cached_property

import numpy as np

from factormech.arrays import FloatArray, IntArray
from factormech.errors import BadValue
from factormech.local.factorized.factor_release import symmetric_root
from factormech.local.factorized.release import LocalRelease
from factormech.local.strategy import RESIDUAL_LIMIT, StrategyMatrix
from factormech.numerics.rounding import gamma
from factormech.privacy import Guarantee


class StrategyRelease(LocalRelease):
    """A strategy matrix, decoded for a workload."""

    def __init__(self, name: str, workload: FloatArray, strategy: StrategyMatrix) -> None:
        W = workload
        if W.shape[1] != strategy.domain_size:
            rule = f"have {W.shape[1]} user types"
            raise BadValue("strategy", strategy.domain_size, rule, "build the strategy for the workload's domain")
        self.name, self.workload, self.strategy, self.epsilon = name, W, strategy, strategy.epsilon
        mean = W.mean(axis=1)
        # A constant adds nothing to variances but rounding: they are computed without it.
        self.centred = np.asarray((W - mean[:, None]) @ strategy.reconstruction)
        self.decoder = np.asarray(self.centred + mean[:, None])
        self.mean = np.asarray(self.decoder @ strategy.matrix)
        self.bias = np.asarray(self.mean - W)
        worst = float(np.max(np.abs(self.bias), initial=0.0))
        scale = float(np.max(np.abs(W), initial=0.0))
        if not worst <= RESIDUAL_LIMIT * max(scale, 1e-300) * math.sqrt(W.shape[1]):
            rule = f"answer the workload (its decoding is {worst:.3g} away in an entry)"
            raise BadValue("strategy", name, rule, "use one whose row space holds the workload")
        lost = gamma(strategy.outputs + 4) * float(np.max(np.abs(self.decoder), initial=0.0)) + gamma(4) * scale
        self.distance = worst + lost

    @cached_property
    def query_variances(self) -> FloatArray:
        V, Q = self.centred, self.strategy.matrix
        return np.asarray(np.maximum(V**2 @ Q - (V @ Q) ** 2, 0.0))

    def noise_root(self, histogram: FloatArray) -> FloatArray:
        Q = self.strategy.matrix
        covariance = -(Q * histogram) @ Q.T
        covariance[np.diag_indices(len(Q))] += Q @ histogram
        return np.asarray(self.centred @ symmetric_root(covariance))

    def log_moments(self, tau: float) -> FloatArray:
        V, Q = self.decoder, self.strategy.matrix
        found = []
        for signed in (tau, -tau):
            largest = (signed * V).max(axis=1, keepdims=True)
            with np.errstate(divide="ignore"):  # an output of chance 0 that alone matters: never seen
                logs = np.log(np.exp(signed * V - largest) @ Q) + largest - signed * self.mean
            found.append(logs.max(axis=1))
        return np.concatenate(found)

    def estimates(self, counts: IntArray, trials: int, rng: np.random.Generator) -> FloatArray:
        reports = self.strategy.simulate_reports(counts, trials, rng)
        return np.asarray((self.decoder @ reports).T / counts.sum())

    def simulation_refusal(self, users: int) -> str:
        return self.strategy.simulation_refusal(users)

    @property
    def guarantee(self) -> Guarantee:
        return self.strategy.guarantee

    def privacy_loss(self) -> float:
        return self.strategy.privacy_loss
