"""How many users a target error needs, by metric."""

from __future__ import annotations

import math

from factormech.errors import BadValue, UnknownName

METRICS = ("mse", "linf", "l2_mean", "lp")


def check_alpha(alpha: float) -> float:
    """Return the target error: finite and above zero."""
    if not math.isfinite(alpha) or alpha <= 0:
        raise BadValue("alpha", alpha, "be a finite number above 0", "give for example 0.01")
    return float(alpha)


def mse_sample_complexity(variance: float, queries: int, alpha: float) -> float:
    """Users needed for a mean squared error of ``alpha`` per normalised query.

    ``variance`` is that of one user, summed over the queries; with N users the mean over the queries of the squared
    error of Wx/N is variance/(queries·N) (McKenna, Maity, Mazumdar & Miklau, PVLDB 13(11), 2020, Corollaries 5.3 and
    5.4, where m is printed for the number of queries). Not rounded up.
    """
    return variance / (queries * check_alpha(alpha))


def sample_complexity(metric: str, variance: float, queries: int, alpha: float) -> float:
    """Users needed for the target error ``alpha``, read with ``metric``."""
    if metric == "mse":
        return mse_sample_complexity(variance, queries, alpha)
    if metric in METRICS:
        raise BadValue("metric", metric, "be one that an exact variance decides: mse", "choose metric: mse")
    raise UnknownName("metric", metric, METRICS)
