r"""A stored strategy, checked again: its privacy, its error, and what proves that none is much better.

**Privacy.** A user of type u reports output o with probability Q_ou/s_u, s_u the exact sum of column u. The loss is at
most the logarithm of the largest ratio within a row times the ratio of the extreme column sums. Both are computed here
as rational numbers from the floats themselves, and compared with a rational number below e^ε; the ε that is reported is
the least float whose exponential is proved to be above the ratio. Strategies without a matrix (closed forms, patterns)
have the loss that they were built with, every rounding outward (``privacy/guarantee.py``).

**Unbiasedness** is the relative residual of VQ = W; the **objective** L = ‖W1‖²/n + tr(X_c⁺C) follows from the exact
variances. The **bound** is what the certificate or the weights beside the strategy prove when they are checked again
(``mechanisms/local/optimal/proof.py``), not what the file says of them. For a strategy of least worst-case variance
on at most 16 types, the bound is proved anew: the exact solver runs under the file's prior, and the variance averaged
under any prior bounds the worst case (``bounds/worst_case.py``, every rounding outward). A file's own lower bound
that is above what is proved here is reported as a claim, with the reason why it is not proved.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from factormech.arrays import FloatArray
from factormech.bounds import certificates, rigorous
from factormech.bounds.centred import CentredGram, as_whole
from factormech.bounds.certificates import DOMAIN_LIMIT
from factormech.bounds.registry import variance_bound
from factormech.bounds.worst_case import universal_variance
from factormech.mechanisms.local.optimal import proof
from factormech.mechanisms.local.optimal.problem import Problem
from factormech.mechanisms.local.solved import Solution
from factormech.mechanisms.local.strategy import Evaluation, Strategy, StrategyMatrix
from factormech.privacy.guarantee import check_probabilities
from factormech.workloads.base import Workload

# Recomputed numbers agree to this, relatively; bounds exceed what they bound by rounding alone.
SAME, ROUNDING = 1e-8, 1e-9
# Entries of a certificate's Gram matrix are the workload's to this, relatively to the largest.
SAME_GRAM = 1e-11
# Binary digits of the exponential function.
_BITS = 160
# The weights of pairs are cheap up to this domain size, where a file has no proof of its own.
_PAIRS_UP_TO = 128
# The solver's gap under the file's prior, and how far above what is proved a file's own bound is said to be a claim.
_PRIOR_GAP, CLAIMED = 1e-7, 1e-6
# What is read of a certificate: its text, and its fractions.
_CHARACTERS, _FRACTION = 2**20, re.compile(r"[0-9]{1,1200}(/[0-9]{1,1200})?")


@dataclass(frozen=True)
class Verification:
    """What holds of a strategy.

    Attributes
    ----------
    privacy_loss
        An upper bound of its ε.
    privacy_by
        ``rational arithmetic`` on the matrix, or ``outward rounding``.
    evaluation
        Its exact error.
    objective, lower_bound
        L, for the worst case if the strategy minimises that, and a lower bound on the L of every ε-LDP strategy.
    bound_by
        ``whole numbers``, or ``outward rounding``.
    problems
        What does not hold.
    claimed_bound
        The lower bound in the file, where it is above the proved one by more than rounding; 0 elsewhere.
    claim
        Why the claimed bound is not proved here.
    """

    privacy_loss: float
    privacy_by: str
    evaluation: Evaluation
    objective: float
    lower_bound: float
    bound_by: str
    problems: tuple[str, ...]
    claimed_bound: float = 0.0
    claim: str = ""

    @property
    def gap(self) -> float:
        """objective ÷ lower bound − 1; infinite where the bound proves nothing."""
        return _gap(self.objective, self.lower_bound)

    @property
    def claimed_gap(self) -> float:
        """The same by the claimed bound."""
        return _gap(self.objective, self.claimed_bound)


def _gap(objective: float, bound: float) -> float:
    if bound <= 0.0:
        return 0.0 if objective <= 0.0 else math.inf
    return max(objective / bound - 1.0, 0.0)


def verify(strategy: Strategy, workload: Workload, epsilon: float, solution: Solution) -> Verification:
    """Check a strategy, restored from ``solution``, on its workload."""
    record, C = solution.record, workload.centred_gram()
    evaluation = strategy.evaluate(C)
    loss, by = _privacy(strategy, evaluation)
    problems = [] if loss <= epsilon else [f"its privacy loss is {loss!r}, above epsilon = {epsilon!r}"]
    if not evaluation.answered:
        problems.append(evaluation.refusal)
    error = evaluation.worst if made_for(record) == "worst" else evaluation.average
    objective = workload.domain_size * error + workload.frobenius_squared()
    said = record.get("objective") if record.get("mechanism") == "optimised" else None
    if said is not None and not abs(float(said) - objective) <= SAME * objective:
        problems.append(f"its objective is {objective:.12g}, not {float(said):.12g}")
    lower, bound_by, wrong = _bound(workload, C, epsilon, solution)
    problems += wrong
    if made_for(record) == "worst" and "prior" in solution.datasets:
        lower = max(lower, _under_prior(workload, epsilon, np.asarray(solution.datasets["prior"], dtype=float)))
    if lower * (1.0 - ROUNDING) > objective:
        problems.append(f"its objective {objective:.12g} is below the lower bound {lower:.12g}")
    claimed = float(record.get("lower_bound") or 0.0) if record.get("mechanism") == "optimised" else 0.0
    if claimed * (1.0 - ROUNDING) > objective:
        problems.append(f"its own lower bound {claimed:.12g} is above its objective {objective:.12g}")
    claimed, claim = (claimed, _unproved(solution)) if claimed > lower * (1.0 + CLAIMED) else (0.0, "")
    return Verification(loss, by, evaluation, objective, lower, bound_by, tuple(problems), claimed, claim)


def made_for(record: Mapping[str, Any]) -> str:
    """``average`` or ``worst``: what the solver's settings say was made least."""
    options = record.get("options") or "{}"
    return str(json.loads(options).get("objective", "average"))


# Privacy -----------------------------------------------------------------------------------------------------


def exact_loss(matrix: FloatArray) -> float:
    """The least float that is certainly at least the privacy loss of these very entries."""
    check_probabilities(matrix)
    high, low = matrix.max(axis=1), matrix.min(axis=1)
    used = high > 0
    high, low = high[used], low[used]
    if np.any(low <= 0):
        return math.inf
    ratios = high / low
    near = np.flatnonzero(ratios >= (1.0 - 1e-14) * ratios.max())
    ends = {*zip(high[near].tolist(), low[near].tolist(), strict=True)}
    ratio = max(Fraction(x) / Fraction(y) for x, y in ends)
    sums = [math.fsum(column) for column in matrix.T.tolist()]  # each within half a unit of the exact one
    ratio *= Fraction(math.nextafter(max(sums), 2.0)) / Fraction(math.nextafter(min(sums), 0.0))
    # The logarithm of a float next to 1 has lost all digits, and the floats from 0 to the loss would never end.
    loss = math.log1p(float(ratio - 1)) * (1.0 - 2.0**-50)
    while exponential_below(loss) < ratio:
        loss = math.nextafter(loss, math.inf)
    return loss


def exponential_below(x: float) -> Fraction:
    """A rational number below e^x, by less than 2⁻¹⁴⁰ of it for x in [0, 100]: Taylor's series, rounded down."""
    exact, unit = Fraction(max(x, 0.0)), 1 << _BITS
    total, term, k = unit, unit, 0
    while term > 0:
        k += 1
        term = term * exact.numerator // (exact.denominator * k)
        total += term
    return Fraction(total, unit)


def _privacy(strategy: Strategy, evaluation: Evaluation) -> tuple[float, str]:
    if isinstance(strategy, StrategyMatrix):
        return exact_loss(strategy.matrix), "rational arithmetic"
    return evaluation.privacy_loss, "outward rounding"


# Lower bounds ------------------------------------------------------------------------------------------------


def _bound(workload: Workload, C: FloatArray, epsilon: float, solution: Solution) -> tuple[float, str, list[str]]:
    """A lower bound on L, how it is proved, and what is wrong with the proof that the file keeps."""
    datasets, record = solution.datasets, solution.record
    if "certificate" in datasets:
        bound, problem = _certified(str(np.asarray(datasets["certificate"]).item()), workload, epsilon)
        by, said = "whole numbers", record.get("lower_bound")
    elif "triple_prices" in datasets:
        bound, problem = _by_triples(workload, epsilon, solution)
        by, said = "whole numbers", record.get("rigorous_lower_bound")
    elif "bound_weights" in datasets:
        bound, problem = _weighted(workload, C, epsilon, solution)
        by, said = "outward rounding", record.get("rigorous_lower_bound")
    else:
        name = "certified" if workload.domain_size <= _PAIRS_UP_TO else "centred-svd"
        average = variance_bound(name, workload, epsilon)
        return workload.domain_size * average + workload.frobenius_squared(), "outward rounding", []
    problems = [problem] if problem else []
    if not problem and said is not None and float(said) > bound * (1.0 + ROUNDING):
        problems.append(f"its lower bound is {bound:.12g}, not {float(said):.12g}")
    return bound, by, problems


def _under_prior(workload: Workload, epsilon: float, prior: FloatArray) -> float:
    """Return a bound on L of the worst case, solved again for the average under this prior; 0 if nothing is proved."""
    from factormech.mechanisms.local.optimal import exact

    if workload.domain_size > proof.CERTIFIED_UP_TO:
        return 0.0
    try:
        found = exact.solve(Problem(workload.centred_gram(), epsilon, prior), np.random.default_rng(0), gap=_PRIOR_GAP)
        dual, multiplier = (np.asarray(found.details[key]) for key in ("dual", "multiplier"))
        variance = universal_variance(CentredGram.of(workload), epsilon, prior, dual, multiplier)
    except (ValueError, KeyError, np.linalg.LinAlgError):
        return 0.0
    return workload.domain_size * variance + workload.frobenius_squared() if variance > 0.0 else 0.0


def _unproved(solution: Solution) -> str:
    """Why the lower bound in a file is more than what is proved here."""
    n, kept = int(solution.record["domain_size"]), solution.datasets
    if made_for(solution.record) == "worst" and proof.CERTIFIED_UP_TO < n <= DOMAIN_LIMIT and "prior" in kept:
        return f"the bound of the worst case is proved anew for at most {proof.CERTIFIED_UP_TO} user types only"
    if not {"certificate", "triple_prices", "bound_weights"} & kept.keys():
        return "the file keeps no proof of the solver's bound; the proved bound follows from the workload alone"
    return "the solver computed its bound in floating point, and the proof in the file is of a weaker one"


def _certified(text: str, workload: Workload, epsilon: float) -> tuple[float, str]:
    """The bound on L of a certificate, checked in whole numbers; or 0 and why it proves nothing."""
    try:
        found = _parsed(text)
    except (ValueError, KeyError, TypeError, ZeroDivisionError, RecursionError):
        return 0.0, "its certificate cannot be read"
    n, G = workload.domain_size, as_whole(workload.gram())
    if len(found.gram) != n or found.epsilon != Fraction(epsilon):
        return 0.0, "its certificate is of another domain or budget"
    kept = np.array([[float(Fraction(entry, found.gram_denominator)) for entry in row] for row in found.gram])
    if not float(np.abs(kept - G).max()) <= SAME_GRAM * float(np.abs(G).max()):
        return 0.0, "its certificate is of another workload"
    if not (proof.is_positive_semidefinite(found.gram) and found.check()):
        return 0.0, "its certificate does not hold"
    constant = Fraction(sum(map(sum, found.gram)), n * found.gram_denominator)
    return proof.rounded_down(found.objective_bound + constant), ""


def _parsed(text: str) -> certificates.RationalCertificate:
    """The certificate in a text, of a bounded size (``tools/verify_certificate.py``): all 2ⁿ vectors are visited."""
    if len(text) > _CHARACTERS:
        raise ValueError(f"more than {_CHARACTERS} characters")
    record = json.loads(text)
    n = len(record["gram"])
    rows = [record["multiplier"], *record["gram"], *record["dual"]]
    if not 1 <= n <= DOMAIN_LIMIT or len(record["dual"]) != n or any(len(row) != n for row in rows):
        raise ValueError(f"no matrices of at most {DOMAIN_LIMIT} types")
    if not all(_FRACTION.fullmatch(record[key]) for key in ("epsilon", "ratio")):
        raise ValueError("numbers that are no fractions in digits")
    if min(int(record[f"{key}_denominator"]) for key in ("gram", "dual", "multiplier")) < 1:
        raise ValueError("a denominator that is not positive")
    return certificates.RationalCertificate(
        epsilon=Fraction(record["epsilon"]),
        ratio=Fraction(record["ratio"]),
        gram=[[int(entry) for entry in row] for row in record["gram"]],
        gram_denominator=int(record["gram_denominator"]),
        dual=[[int(entry) for entry in row] for row in record["dual"]],
        dual_denominator=int(record["dual_denominator"]),
        multiplier=[int(entry) for entry in record["multiplier"]],
        multiplier_denominator=int(record["multiplier_denominator"]),
    )


def _by_triples(workload: Workload, epsilon: float, solution: Solution) -> tuple[float, str]:
    """The bound on L that the stored triples prove, in whole numbers; or 0 and why they prove nothing."""
    try:
        return proof.triple_bound(workload, epsilon, proof.triples_of(solution.datasets)).lower_bound, ""
    except (ValueError, KeyError) as problem:
        return 0.0, f"the triples of its bound are refused ({problem})"


def _weighted(workload: Workload, C: FloatArray, epsilon: float, solution: Solution) -> tuple[float, str]:
    """The bound on L that the stored weights prove, with every rounding outward; or 0 and why they prove nothing."""
    datasets, n = solution.datasets, workload.domain_size
    p, omega = np.asarray(datasets["bound_weights"], dtype=float), float(solution.record["bound_omega"])
    error = proof.CENTRING * float(workload.gram_diagonal().max())
    try:
        if "bound_pairs" in datasets:
            N = np.asarray(datasets["bound_pairs"], dtype=float)
            bound = rigorous.rigorous_pair_objective(C, epsilon, p, N, omega, entry_error=error)
        else:
            bound = rigorous.rigorous_objective(C, epsilon, p, omega, entry_error=error)
    except ValueError as problem:
        return 0.0, f"the weights of its bound are refused ({problem})"
    constant = Fraction(workload.total_squared()) * (1 - Fraction(1, 2**48)) / n
    return proof.rounded_down(Fraction(bound) + constant), ""
