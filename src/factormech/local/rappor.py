"""Basic RAPPOR: every bit of the one-hot code flipped with probability 1/(e^{ε/2}+1).

Q_ou ∝ e^{(ε/2)(n − ‖o − e_u‖₁)} (Erlingsson, Pihur & Korolova, CCS 2014; Table 1 of McKenna, Maity, Mazumdar & Miklau,
PVLDB 13(11), 2020). Reconstruction is the optimal one for that matrix, which weighs reports by their number of ones
and so is never worse than the usual debiasing.
"""

from __future__ import annotations

import math

import numpy as np
from scipy.special import gammaln

from factormech.arrays import FloatArray
from factormech.local.strategy import Strategy
from factormech.local.subsets import subset_strategy


def strategy(domain_size: int, epsilon: float) -> Strategy:
    """The subset mechanism whose size is a Bernoulli(p) plus a Binomial(n − 1, 1 − p), p = e^{ε/2}/(e^{ε/2}+1)."""
    return subset_strategy(_size_law(domain_size, epsilon), epsilon)


def _size_law(n: int, epsilon: float) -> FloatArray:
    log_keep = -math.log1p(math.exp(-epsilon / 2))
    log_flip = log_keep - epsilon / 2
    s = np.arange(n)
    others = np.exp(gammaln(n) - gammaln(s + 1) - gammaln(n - s) + s * log_flip + (n - 1 - s) * log_keep)
    law = np.zeros(n + 1)
    law[1:] += math.exp(log_keep) * others
    law[:-1] += math.exp(log_flip) * others
    return np.asarray(law / math.fsum(law))
