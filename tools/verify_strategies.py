"""Check optimised strategies from their files alone: ``verify_strategies.py [--output FILE] STRATEGY.h5 ...``.

It shares no code with the package: only the standard library, NumPy and h5py. For each file it

* compares the path with the record: mechanism, workload, domain size, epsilon, seed and options;
* makes the workload's Gram matrix from its definition (``workload_grams.py``) and compares that with the file of the
  workload in ``results/workloads``; queries that are drawn at random are taken as that file has them, and it says so;
* rebuilds the strategy from what is stored, or a fixed one from its definition, and checks that its columns sum to one
  and that it is epsilon-LDP: ratios of the floats as fractions, against a rational number below exp(epsilon);
* computes the reconstruction and the variance of each user type from their definitions (McKenna, Maity, Mazumdar &
  Miklau, PVLDB 13(11), 2020, Theorems 3.4 and 3.10), checks that the estimates are unbiased, and compares the average
  and the worst variance, the number of outputs and the objective L with the record, and L with its lower bounds;
* checks the exact certificate (``verify_certificate.py``, n <= 16), or computes the value of the rigorous bound again
  from its weights (n <= 512). The gap that it prints is that of L and of what is proved, never one that is read.

Prints one line for each file, whatever is in it, after a bounded time; exit code 0 if everything holds, 1 if not.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import sys
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import verify_certificate
import verify_triples
from bound_formulas import bound_value
from fixed_strategies import MARGIN, Array, fixed_matrix, size_law, subset_variance
from strategy_files import MOST_PAIRED, Failed, check, check_place, check_record, check_shapes, read
from workload_grams import gram, is_registered

# Relative: of recomputed numbers, of column sums, of VQ = W, and of what rounding may do to L and to bounds on it.
SAME, COLUMNS, RESIDUAL, ROUNDING = 1e-8, 1e-12, 1e-8, 1e-9
# What a recorded bound may be above the one that is proved, which has all roundings taken off.
CLAIMED = 1e-6
# Columns of rows off by less are rounded well; off by more, they are no columns.
REPAIRED, REPAIRABLE = 2.0**-50, 1e-8


def walsh(x: Array) -> Array:
    """Entry s is the sum of (-1)^popcount(s & u) x_u."""
    y, half = np.array(x, dtype=float), 1
    while half < len(y):
        pairs = y.reshape(-1, 2, half)
        y = np.stack([pairs[:, 0] + pairs[:, 1], pairs[:, 0] - pairs[:, 1]], axis=1).ravel()
        half *= 2
    return y


@dataclass
class Asked:
    """A workload: G1, and the eigenvalues of C = PGP by character, or G itself."""

    n: int
    row_sums: Array
    spectrum: Array | None
    stored: Array | None

    @classmethod
    def of(cls, n: int, data: dict[str, Array]) -> Asked:
        """From the datasets of a file of a workload."""
        for name in ("walsh_spectrum", "centred_walsh_spectrum", "gram_row_sums", "gram"):
            shape = (n, n) if name == "gram" else (n,)
            check(name not in data or data[name].shape == shape, f"the workload's {name} is not of shape {shape}")
            check(name not in data or np.isfinite(data[name]).all(), f"the workload's {name} has odd entries")
        if "walsh_spectrum" in data:
            g = data["walsh_spectrum"].astype(float)
            return cls(n, np.full(n, g[0]), np.concatenate([[0.0], g[1:]]), None)
        if "centred_walsh_spectrum" in data:
            check("gram_row_sums" in data, "the workload has no row sums")
            return cls(n, data["gram_row_sums"], data["centred_walsh_spectrum"], None)
        check("gram" in data and n <= MOST_PAIRED, "the workload has no Gram matrix, or a larger one than is checked")
        return cls(n, data["gram"].sum(axis=1), None, data["gram"].astype(float))

    @property
    def constant(self) -> float:
        """The squared norm of W1, over n."""
        return math.fsum(self.row_sums.tolist()) / self.n

    @property
    def trace(self) -> float:
        """Of C."""
        return float(self.spectrum.sum() if self.spectrum is not None else np.trace(self.centred()))

    def centred(self) -> Array:
        """C."""
        if self.spectrum is not None:
            u = np.arange(self.n)
            return np.asarray((walsh(self.spectrum) / self.n)[u[:, None] ^ u])
        G = self.stored
        assert G is not None
        C = G - G.mean(axis=0)
        C = C - C.mean(axis=1, keepdims=True)
        return np.asarray(0.5 * (C + C.T))

    def gram(self) -> Array:
        """G."""
        r = self.row_sums / self.n
        middle = r[:, None] + r - r.mean()
        return self.stored if self.stored is not None else self.centred() + middle


def below_exp(x: float) -> Fraction:
    """A rational number just below exp(x), x > 0: the first terms of the series."""
    total, term, k = Fraction(1), Fraction(x), 1
    while term * 2**90 > total or k < 2 * x:
        total, k = total + term, k + 1
        term = Fraction(math.floor(term * Fraction(x) / k * 2**200), 2**200)
    return total


def exact_sums(Q: Array) -> Array:
    """Column sums with one rounding."""
    return np.array([math.fsum(column) for column in Q.T.tolist()])


def check_privacy(Q: Array, epsilon: float) -> float:
    """The share of exp(epsilon) that the ratios of these very floats take, after columns are divided by their sums."""
    check(np.isfinite(Q).all() and Q.min() > 0.0, "entries are not positive numbers")
    sums = exact_sums(Q)
    check(np.abs(sums - 1.0).max() <= COLUMNS, f"a column sums to one but for {np.abs(sums - 1.0).max():.3g}")
    high, low = Q.max(axis=1), Q.min(axis=1)
    near = np.flatnonzero(high / low >= (1.0 - 1e-14) * (high / low).max())
    ratio = max(Fraction(x) / Fraction(y) for x, y in {*zip(high[near].tolist(), low[near].tolist(), strict=True)})
    ratio *= Fraction(math.nextafter(sums.max(), 2.0)) / Fraction(math.nextafter(sums.min(), 0.0))
    share = ratio / below_exp(epsilon)
    check(share <= 1, f"the ratio of probabilities is exp(epsilon) times 1 + {float(share - 1):.3g}")
    return float(share)


def staircase(data: dict[str, Array], n: int, epsilon: float) -> Array:
    """Rows theta (1 + (a - 1) 1_S), and one that makes up for the rounding of their columns."""
    S = np.unpackbits(data["supports"], axis=1, count=n).astype(bool)
    theta = data["weights"]
    check(theta.min() >= 0.0, "a weight is negative")
    Q = np.where(S, math.exp(epsilon) * (1.0 - MARGIN), 1.0)[theta > 0.0] * theta[theta > 0.0, None]
    Q /= exact_sums(Q).mean()
    error = float(np.abs(exact_sums(Q) - 1.0).max())
    check(error <= REPAIRABLE, f"columns of the rows are off by {error:.3g}")
    if error <= REPAIRED:
        return np.asarray(Q)
    Q *= 1.0 - 2.0 * error / math.tanh(epsilon / 2.0)
    return np.vstack([Q, 1.0 - exact_sums(Q)])


def matrix_variance(Q: Array, prior: Array, C: Array) -> tuple[Array, float]:
    """Variances by type with V = WKQ'/p, K a generalised inverse of Q'Diag(1/p)Q, p = Qx; and the miss of VQ = W.

    Z = Diag(p)^(-1/2) Q Diag(x)^(1/2) has the singular vector x^(1/2), which is taken out before Z'Z is inverted.
    """
    p, root = Q @ prior, np.sqrt(prior)
    Z = (Q - p[:, None]) / np.sqrt(p)[:, None] * root
    values, vectors = np.linalg.eigh(Z.T @ Z)
    keep = values > 1e-12 * values[-1]
    K = root[:, None] * ((vectors[:, keep] / values[keep]) @ (vectors[:, keep].T @ Z.T)) / np.sqrt(p)
    K += prior[:, None]
    E = K @ Q - np.eye(len(C))
    moment = np.einsum("uo,uo->o", C @ K, K) @ Q
    return moment - np.diagonal(C), math.sqrt(abs(float(np.sum(E * (C @ E)))) / max(np.trace(C), 1e-300))


def symmetric_variance(data: dict[str, Array], asked: Asked, epsilon: float) -> tuple[float, float, float]:
    """The variance of every type, the miss, and the share of exp(epsilon) used, of families of translated sets.

    The sets {u : Au + r in T} have the Walsh spectrum of the set at r = 0 up to signs; a family whose attributes are
    permuted has its average over the characters of one size.
    """
    n, sizes = asked.n, np.bitwise_count(np.arange(asked.n)).astype(int)
    check(asked.spectrum is not None, "the workload is not invariant under translations")
    x, total, share = np.zeros(n), 0.0, Fraction(0)
    for k, permuted in enumerate(data["permuted"]):
        T, masks, weights = data[f"table-{k}"].astype(bool), data[f"masks-{k}"], data[f"weights-{k}"]
        K, M = int(T.sum()), len(T)
        outside = math.ceil(2.0**53 / (1.0 + math.exp(epsilon) * (1.0 - MARGIN) * K / (M - K))) * 2.0**-53
        odds = (1 - Fraction(outside)) * (M - K) / (Fraction(outside) * K)
        share = max(share, odds / below_exp(epsilon), 1 / (odds * below_exp(epsilon)))
        step = float((1 - Fraction(outside)) / K - Fraction(outside) / (M - K))
        check(weights.min() >= 0.0, "a weight is negative")
        total += math.fsum(weights.tolist())
        for A, weight in zip(masks, weights, strict=True):
            z = sum((np.bitwise_count(np.arange(n) & mask).astype(int) % 2) << i for i, mask in enumerate(A))
            check(len(np.unique(z)) == M, "the parities of a family are dependent")
            power = (walsh(T[z]) / n * (M * step)) ** 2
            if permuted:
                power = (np.bincount(sizes, weights=power) / np.bincount(sizes))[sizes]
            x += weight * power
    check(abs(total - 1.0) <= 1e-9, f"weights sum to {total:.12g}")
    check(share <= 1, f"the ratio of probabilities is exp(epsilon) times 1 + {float(share - 1):.3g}")
    g = np.concatenate([[0.0], asked.spectrum[1:]])
    seen = x > 1e-14 * x[1:].max()
    missed = math.sqrt(float(g[~seen].sum()) / max(float(g.sum()), 1e-300))
    return float(np.sum(g[seen] * (1.0 / x[seen] - 1.0))) / n, missed, float(share)


def proved_by_certificate(text: str, record: dict[str, Any], asked: Asked) -> Fraction:
    """The lower bound on L of a certificate that is of this workload and budget, and holds."""
    try:
        found = verify_certificate.parsed(text)
        reason = verify_certificate.failure(found)
    except verify_certificate.Unreadable as error:
        reason = str(error)
    check(not reason, f"certificate: {reason}")
    check(Fraction(found["epsilon"]) == Fraction(record["epsilon"]), "the certificate is of another budget")
    n = asked.n
    check(len(found["gram"]) == n, "the certificate is of another domain")
    G = np.array([[float(Fraction(x, found["gram_denominator"])) for x in row] for row in found["gram"]])
    check(np.abs(G - asked.gram()).max() <= 1e-11 * np.abs(G).max(), "the certificate is of another workload")
    constant = Fraction(sum(map(sum, found["gram"])), n * found["gram_denominator"])
    return Fraction(found["objective_bound"]) + constant


def proved_by_weights(data: dict[str, Array], record: dict[str, Any], asked: Asked) -> float:
    """The lower bound on L that the weights prove, and that the record may not exceed."""
    check("bound_omega" in record and "rigorous_lower_bound" in record, "weights of a bound without the bound")
    value = bound_value(asked.centred(), record["epsilon"], data, record["bound_omega"]) + asked.constant
    proved = record["rigorous_lower_bound"]
    check(proved <= value * (1.0 + ROUNDING), f"its weights give {value:.12g} and not {proved:.12g}")
    return float(min(value, proved))


def proved_by_triples(data: dict[str, Array], record: dict[str, Any], asked: Asked) -> float:
    """The lower bound on L that the triples prove, and that the record may not exceed."""
    check(asked.spectrum is not None and "rigorous_lower_bound" in record, "triples of a bound without the bound")
    assert asked.spectrum is not None
    sizes = np.bitwise_count(np.arange(asked.n))
    g = [float(asked.spectrum[2**j - 1]) for j in range(asked.n.bit_length())]
    alike = np.abs(asked.spectrum - np.array(g)[sizes])[1:].max() <= 1e-9 * asked.spectrum[1:].max()
    check(bool(alike), "the workload is not invariant under permutations of the attributes")
    prices, roots, rows = (data.get(f"triple_{name}") for name in ("prices", "roots", "sizes"))
    check(prices is not None and roots is not None and rows is not None, "the triples are not complete")
    try:
        bound = verify_triples.triple_bound(g, record["epsilon"], prices, roots, rows)
    except ValueError as error:
        check(False, str(error))
    value, proved = float(bound) + asked.constant, record["rigorous_lower_bound"]
    check(proved <= value * (1.0 + ROUNDING), f"its triples give {value:.12g} and not {proved:.12g}")
    return float(min(value, proved))


def check_bounds(data: dict[str, Array], record: dict[str, Any], asked: Asked, L: float) -> str:
    """What proves a lower bound holds, and is below L; says the gap to what is proved, computed here."""
    lower = record["lower_bound"]
    check(lower > 0.0 or L <= 0.0, f"its lower bound is {lower:.6g}, which bounds nothing")
    check(lower * (1.0 - ROUNDING) <= L, f"L = {L:.12g} is below its lower bound {lower:.12g}")
    gap = max(record["objective"] / lower - 1.0, 0.0) if lower > 0.0 else 0.0
    check(abs(record["gap"] - gap) <= ROUNDING * (1.0 + gap), f"the gap is {gap:.6g} and not {record['gap']:.6g}")
    if "certificate" in data:
        text = data["certificate"]
        check(isinstance(text, bytes), "its certificate is no text")
        proved = proved_by_certificate(text.decode(), record, asked)
        check(Fraction(lower) <= proved, f"the certificate proves {float(proved):.12g} only")
        return f"{_gap(L, float(proved))} proved exactly"
    if "triple_prices" in data:
        value = proved_by_triples(data, record, asked)
        check(value <= L, f"L = {L:.12g} is below its lower bound from triples {value:.12g}")
        check(lower <= value * (1.0 + CLAIMED), f"its lower bound {lower:.12g} is above what is proved")
        return f"{_gap(L, value)} by triples, proved exactly"
    if "bound_weights" in data:
        value = proved_by_weights(data, record, asked)
        check(value <= L, f"L = {L:.12g} is below its rigorous lower bound {value:.12g}")
        # A bound on the worst case alone, by the hardest prior, is not what the weights are of.
        worst = json.loads(record["options"]).get("objective") == "worst"
        check(worst or lower <= value * (1.0 + CLAIMED), f"its lower bound {lower:.12g} is above what is proved")
        return f"{_gap(L, value)} by the rigorous bound"
    check(asked.n > 512 or asked.trace <= 1e-9 * asked.constant, "nothing proves the lower bound")
    return "no gap is proved"


def _gap(L: float, proved: float) -> str:
    """How far L is above what is proved."""
    check(proved > 0.0 or L <= 0.0, "what is proved bounds nothing")
    return f"gap {max(L / proved - 1.0, 0.0) if proved > 0.0 else 0.0:.2e}"


@dataclass
class Rebuilt:
    """A strategy made again: average and worst variance, the miss of VQ = W, its outputs, what is known of privacy."""

    average: float
    worst: float
    missed: float
    outputs: int
    private: str


def rebuilt(data: dict[str, Array], record: dict[str, Any], asked: Asked) -> Rebuilt:
    """The strategy of a record, from its datasets or its definition."""
    n, epsilon, chosen = asked.n, record["epsilon"], record["chosen"]
    if chosen == "symmetric":
        check("permuted" in data, "a symmetric strategy without families")
        value, missed, share = symmetric_variance(data, asked, epsilon)
        return Rebuilt(value, value, missed, orbits(data, n), f"ratio e^eps (1 - {1.0 - share:.1e})")
    if chosen in ("randomized-response", "subset-selection", "rappor"):
        C_uu = np.full(n, asked.trace / n) if asked.spectrum is not None else np.diagonal(asked.centred())
        law = size_law(chosen, n, epsilon)
        variance = subset_variance(law, epsilon, C_uu)
        outputs = 2**n if chosen == "rappor" else math.comb(n, int(np.argmax(law)))
        return Rebuilt(float(variance.mean()), float(variance.max()), 0.0, outputs, "private by its formula")
    check(n <= MOST_PAIRED, f"more than {MOST_PAIRED} types")
    fixed = "supports" not in data
    check(fixed or chosen in ("exact", "general", "game"), f"rows are stored for {chosen!r}")
    Q = fixed_matrix(chosen, n, epsilon) if fixed else staircase(data, n, epsilon)
    prior = np.full(n, 1.0 / n) if fixed else data["prior"] / data["prior"].sum()
    share = check_privacy(Q, epsilon)
    variance, missed = matrix_variance(Q, prior, asked.centred())
    private = f"ratio e^eps (1 - {1.0 - share:.1e})"
    return Rebuilt(float(variance.mean()), float(variance.max()), missed, len(Q), private)


def orbits(data: dict[str, Array], n: int) -> int:
    """The number of reports of families of sets, permutations told apart."""
    orders = math.factorial(n.bit_length() - 1)
    families = enumerate(data["permuted"].tolist())
    return sum(len(data[f"masks-{k}"]) * len(data[f"table-{k}"]) * (orders if each else 1) for k, each in families)


def workload_of(path: Path, record: dict[str, Any]) -> tuple[Asked, str]:
    """The workload that a strategy is for, compared with its definition; and what is to be said of it."""
    name, n, seed = record["workload"], record["domain_size"], record.get("seed")
    results = path.resolve().parents[4]
    drawn = results / "workloads" / name / f"n{n}-seed{seed}.h5"
    kept = drawn if drawn.exists() else results / "workloads" / name / f"n{n}.h5"
    check(kept.exists(), f"no workload {kept}")
    said, data = read(kept)
    own = (said.get("kind"), said.get("workload"), said.get("domain_size"))
    check(own == ("workload", name, n), f"the workload's file is of {own[1]!r} over {own[2]!r}")
    check(said.get("seed") is None or said["seed"] == seed, "the workload's file is of another seed")
    definitions = said.get("definition", {})
    check(isinstance(definitions, dict), "the workload's definition is not an object")
    check(not any(map(is_registered, definitions)), "a definition takes the name of a workload of the package")
    asked = Asked.of(n, data)
    wanted = gram(name, n, definitions, results.parent) if n <= MOST_PAIRED else None
    if wanted is None:
        return asked, ", workload as its file has it"
    near = np.abs(asked.gram() - wanted).max() <= 1e-9 * max(float(np.abs(wanted).max()), 1e-300)
    check(near, "the workload's file is not of its definition")
    return asked, ""


def verify(path: Path) -> str:
    """What has been verified of a file, in a line; fails if anything does not hold."""
    record, data = read(path)
    check_record(record)
    check_place(path, record)
    check_shapes(data, record["domain_size"])
    asked, beside = workload_of(path, record)
    found = rebuilt(data, record, asked)
    check(found.missed <= RESIDUAL, f"VQ = W misses by {found.missed:.3g}")
    check(str(record.get("rows")) == str(found.outputs), f"it has {found.outputs} outputs and not {record.get('rows')}")
    # Variances far below the second moment, at large epsilon, are known to the rounding of the latter only.
    for name, value in (("average_variance", found.average), ("worst_variance", found.worst)):
        slack = SAME * abs(value) + 1e-13 * asked.trace
        check(abs(record[name] - value) <= slack, f"{name} is {value:.12g} and not {record[name]:.12g}")
    error = found.worst if json.loads(record["options"]).get("objective") == "worst" else found.average
    L = asked.n * error + asked.trace + asked.constant
    check(abs(record["objective"] - L) <= SAME * L, f"L is {L:.12g} and not {record['objective']:.12g}")
    proved = check_bounds(data, record, asked, L)
    head = f"{record['chosen']}, {found.outputs} outputs, L = {L:.10g}, {found.private}, miss {found.missed:.1e}"
    return f"{head}, {proved}{beside}"


def said_of(path: Path) -> tuple[bool, str]:
    """Whether a file holds, and its line; nothing that is in a file ends the list."""
    try:
        with np.errstate(all="ignore"):
            return True, f"holds   {path}: {verify(path)}"
    except Failed as failed:
        reason = str(failed)
    except Exception as error:  # whatever a forger thought of
        reason = f"{type(error).__name__}: {error}"
    return False, f"FAILED  {path}: {' '.join(reason.split())[:300]}"


def main() -> int:
    """Verify the files; the number that failed, at most 1."""
    parser = argparse.ArgumentParser(description=str(__doc__).splitlines()[0])
    parser.add_argument("strategies", type=Path, nargs="*")
    parser.add_argument("--output", type=Path, help="where the lines are written, too, once everything holds")
    arguments = parser.parse_args()
    lines, failed = [], 0
    for path in arguments.strategies:
        holds, line = said_of(path)
        failed += not holds
        lines.append(line)
        print(lines[-1], flush=True)
    lines.append(f"{len(lines) - failed} of {len(lines)} strategies verified")
    print(lines[-1])
    if arguments.output is not None and not failed:
        temporary = arguments.output.with_name(arguments.output.name + ".part")
        temporary.write_text("\n".join(lines) + "\n", encoding="utf-8")
        os.replace(temporary, arguments.output)
    return min(failed, 1)


if __name__ == "__main__":
    sys.exit(main())
