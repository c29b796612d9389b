"""What a bound for every protocol says, and its certificate as a JSON file.

**The certificate.** ``tools/verify_protocol_bound.py`` checks these JSON files in exact arithmetic.

**Theorem A**, uniform priors. With the rows W on a face of m types and a rational (m, m) matrix T, T1 = 0 = Tᵀ1, the
fields are Z = TWᵀ; then tr(WZ) = tr(TG), ZZᵀ = TGTᵀ for G = WᵀW, and TGTᵀ ≺ I is decided in whole numbers. The bound is
tr(TG)²/(Nmσ_m(1+χ) + (b−1)(b−2)/(β−2)·tr TGTᵀ) for constant fields, and f²tr(TG)²/(N sinh²(ε/2) + j·tr TGTᵀ) for
square-root fields. **Theorem C** needs the rows V alone. β is a multiple of ½, for which Γ(β+½)/Γ(β) is a rational
number times √π or 1/√π.
"""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Literal

import numpy as np

from factormech.arrays import FloatArray, check_epsilon, check_positive_integer
from factormech.bounds.certificates import rounded_up
from factormech.bounds.protocols import faces, prior, squared
from factormech.bounds.protocols.largest_proofs import LargestProof, determinant_strength, known
from factormech.bounds.protocols.squared import ROOT, SquaredProof
from factormech.errors import BadValue, UnknownName
from factormech.norms.certified import checked_matrix
from factormech.numerics.rational import integers

# The bound, and the checks that its callers share.

Data = Literal["given", "drawn"]
DATA = ("given", "drawn")
PROTOCOLS = "every ε-LDP protocol, interactive or not, any estimator"


@dataclass(frozen=True)
class ProtocolBound:
    """A number of users and an error that no protocol of the class reaches with fewer users.

    Attributes
    ----------
    theorem
        ``A``, ``C``, ``D`` or ``one query``, as ``docs/lower-bounds-every-protocol.md`` calls them.
    measure
        ``mean squared error`` (per query) or ``largest error``.
    data
        ``given``: the worst over the data sets of the users; ``drawn``: over distributions that they are drawn from.
    epsilon
        The privacy budget.
    users
        N. With N users every protocol of the class has an error of at least ``error``; of a bound on the number of
        users: with N − 1 users and fewer, down to ``fewest``.
    error
        The bound on the error, rounded down.
    types
        The face: the user types that the hard instances use.
    prior, centre
        β, the Dirichlet parameter per type; with a ``centre`` the parameters are mβ times its entries.
    field
        ``constant`` or ``square-root`` vector fields; empty for one query.
    information
        What bounds the information of a report: ``trace``, ``pairs``, or ``coins`` for one query.
    fewest
        The least number of users that a bound on the number of users was proved for; 1 unless the data are given.
    proof
        What the bound follows from in exact numbers, such as a ``SquaredProof``.
    protocols
        The class of protocols.
    """

    theorem: str
    measure: str
    data: Data
    epsilon: float
    users: int
    error: float
    types: tuple[int, ...]
    prior: Fraction
    field: str
    information: str
    proof: Any
    centre: tuple[Fraction, ...] | None = None
    fewest: int = 1
    protocols: str = PROTOCOLS


def checked(epsilon: float, data: str) -> float:
    """Return the privacy budget; refuse a wrong one, and an unknown kind of data."""
    if data not in DATA:
        raise UnknownName("data", str(data), DATA)
    return check_epsilon(epsilon)


def checked_users(users: Any) -> int:
    """The number of users."""
    return check_positive_integer("users", users)


def checked_error(alpha: Any, largest: float, what: str) -> Fraction:
    """The error α as the exact number that it is, below that of answers which need no users."""
    good = isinstance(alpha, (int, float)) and not isinstance(alpha, bool)
    if not good or not math.isfinite(alpha) or alpha <= 0:
        raise BadValue("alpha", alpha, "be a finite number above 0", "give for example 0.01")
    if alpha >= largest:
        rule = f"be below {largest:.6g}, {what}, which needs no users"
        raise BadValue("alpha", alpha, rule, f"give for example {largest / 10:.2g}")
    return Fraction(alpha)


def checked_types(types: Sequence[int] | None, domain_size: int) -> tuple[int, ...] | None:
    """A face of at least two distinct types of the domain; ``None`` stays ``None``."""
    if types is None:
        return None
    found = tuple(sorted({check_positive_integer("types", u, minimum=0) for u in types}))
    if len(found) < 2 or found[-1] >= domain_size:
        rule = f"hold at least two distinct types from 0 to {domain_size - 1}"
        raise BadValue("types", list(types), rule, "give for example [0, 1], or leave them out")
    return found


def vacuous(name: str, value: Any, remedy: str) -> BadValue:
    """The error of a bound that says nothing."""
    return BadValue(name, value, "be such that the bound says something; it is vacuous here", remedy)


# The certificate.

CLAIM = (
    "rows / rows_denominator is the workload on the types of a face. Every protocol that is epsilon-LDP in each of the "
    "users, interactive or not, with any estimator, has an error of at least 'error': of theorem A the mean squared "
    "error per query, of theorem C the expected largest error; in the worst case over data sets of the users (given), "
    "or over distributions that they are drawn from (drawn)."
)
# T has so many bits below its largest entry; singular values below this share of the largest are left out; the shares
# are lowered by this.
_BITS, _SMALL, _ROOM = 48, 1e-6, 1e-9


def text(bound: ProtocolBound, workload: Any) -> str:
    """Return the JSON certificate of a bound by Theorem A or C with a uniform prior.

    Of a bound by Theorem E the certificate is that of Theorem C for the same rows, which is weaker.

    Parameters
    ----------
    bound
        A bound on the error at a number of users, as :func:`mean_squared_error` and :func:`largest_error` return it;
        of a bound on the number of users, one user fewer has the error.
    workload
        The workload of the bound.

    Raises
    ------
    BadValue
        For bounds with another centre, weights of pairs, Theorem D or one query.
    """
    proof = bound.proof
    if isinstance(proof, SquaredProof) and proof.design.limit is None and proof.design.centre is None:
        more = _squared(bound, checked_matrix("workload", workload)[:, list(bound.types)])
    elif isinstance(proof, LargestProof) and proof.theorem in ("C", "E") and bound.data == "drawn":
        more = _largest(bound, proof)
    else:
        rule = "be of Theorem A with a uniform prior and no pairs, or of Theorem C for drawn data"
        raise BadValue("bound", (bound.theorem, bound.information, bound.data), rule, "name a face: types=range(n)")
    head = {
        "kind": "factormech protocol bound",
        "version": 1,
        "claim": CLAIM,
        "theorem": "A" if bound.theorem == "A" else "C",
        "data": bound.data,
        "epsilon": str(Fraction(bound.epsilon)),
        "ratio": str(rounded_up(prior.ratio_above(bound.epsilon) * (1 + Fraction(1, 2**88)), prior.RATIO_BITS)),
        "users": bound.users,
    }
    return json.dumps(head | more, indent=1) + "\n"


def _halves(beta: Fraction, kind: str) -> Fraction:
    """β as a multiple of ½, above 1 or 2."""
    return max(Fraction(round(2 * beta), 2), Fraction(3, 2) if kind == ROOT else Fraction(5, 2))


def _squared(bound: ProtocolBound, rows: FloatArray) -> dict[str, Any]:
    beta, m = _halves(bound.prior, bound.field), len(bound.types)
    problem = faces.problem_of(rows)
    design = squared.design_of(problem, tuple(range(m)))
    if design is None:
        raise BadValue("workload", "constant on the face", "be that of the bound", "give the same workload")
    proof = squared.proof_of(problem, squared.Choice(0.0, design, bound.field, beta), bound.epsilon, bound.users)
    dual, denominator = _dual(problem, proof.shares)
    whole, rows_denominator = integers(rows)
    error = proof.error(bound.users, bound.data) / len(rows)
    # What is lost by the rounding of T, and by singular values that are left out, is far below this.
    error -= abs(error) * Fraction(1, 10**5)
    return {
        "field": bound.field,
        "beta": str(beta),
        "error": str(_shortened(error)),
        "rows_denominator": rows_denominator,
        "dual_denominator": denominator,
        "rows": whole,
        "dual": dual,
    }


def _dual(problem: faces.CentredAnswers, shares: FloatArray) -> tuple[list[list[int]], int]:
    """T = V·Diag(z_i/(√m·g_i))·Vᵀ, rounded, with rows and columns of sum 0."""
    m = problem.types
    form, _ = faces.form_on(problem, tuple(range(m)))
    values, V = np.linalg.eigh(form)
    gains = np.sqrt(np.maximum(values[::-1], 0.0))[: len(shares)]
    keep = gains > _SMALL * gains[0]
    V = V[:, ::-1][:, : len(shares)][:, keep]
    T = (V * ((1.0 - _ROOM) * shares[keep] / (math.sqrt(m) * gains[keep]))) @ V.T
    bits = max(_BITS - math.frexp(float(np.abs(T).max()))[1], 0)
    whole = [[round(Fraction(float(x)) * 2**bits) for x in row[:-1]] for row in T[:-1]]
    whole = [[*row, -sum(row)] for row in whole]
    return [*whole, [-sum(column) for column in zip(*whole, strict=True)]], 2**bits


def _largest(bound: ProtocolBound, proof: LargestProof) -> dict[str, Any]:
    beta = _halves(proof.beta, bound.field)
    rows, denominator = integers(proof.queries)
    trace, cap, prior_ = known(len(bound.types), beta, bound.epsilon)
    information = bound.users * min(trace / len(rows), cap) + prior_
    error = Fraction(determinant_strength(proof.queries) / math.sqrt(float(information)) * (1.0 - 1e-9))
    return {"field": bound.field, "beta": str(beta), "error": str(error), "rows_denominator": denominator, "rows": rows}


def _shortened(value: Fraction) -> Fraction:
    """A float not above a positive value."""
    return Fraction(math.nextafter(float(value), 0.0))
