"""Check optimised strategies from their files alone: ``verify_strategies.py [--output FILE] STRATEGY.h5 ...``.

It shares no code with the package: only the standard library, NumPy and h5py. For each file it

* rebuilds the strategy from what is stored, or a fixed one from its definition, and checks that its columns sum to one
  and that it is epsilon-LDP: ratios of the floats as fractions, against a rational number below exp(epsilon);
* computes the reconstruction and the variance of each user type from their definitions (McKenna, Maity, Mazumdar &
  Miklau, PVLDB 13(11), 2020, Theorems 3.4 and 3.10), checks that the estimates are unbiased, and compares the average
  and the worst variance and the objective L with the record, and L with its lower bounds;
* checks the exact certificate (``verify_certificate.py``, n <= 16), or computes the value of the rigorous bound again
  from its weights (n <= 512). A ``lower_bound`` that is neither is only compared with L and the gap.

The workload is read from ``results/workloads`` beside ``results/strategies``. Prints one line for each file; exit code
0 if everything holds, 1 if not.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any

import h5py
import numpy as np
from bound_formulas import bound_value
from fixed_strategies import MARGIN, Array, fixed_matrix, size_law, subset_variance

CERTIFICATES = Path(__file__).resolve().with_name("verify_certificate.py")
# Relative: of recomputed numbers, of column sums, of VQ = W, and of what rounding may do to L and to bounds on it.
SAME, COLUMNS, RESIDUAL, ROUNDING = 1e-8, 1e-12, 1e-8, 1e-9
# Columns of rows off by less are rounded well; off by more, they are no columns.
REPAIRED, REPAIRABLE = 2.0**-50, 1e-8


class Failed(Exception):
    """What does not hold."""


def check(holds: object, message: str) -> None:
    """Fail unless it holds; a comparison with NaN does not."""
    if not holds:
        raise Failed(message)


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
    def read(cls, path: Path) -> Asked:
        with h5py.File(path, "r") as file:
            n, data = int(file.attrs["domain_size"]), {name: item[...] for name, item in file.items()}
        if "walsh_spectrum" in data:
            g = data["walsh_spectrum"]
            return cls(n, np.full(n, g[0]), np.concatenate([[0.0], g[1:]]), None)
        if "centred_walsh_spectrum" in data:
            return cls(n, data["gram_row_sums"], data["centred_walsh_spectrum"], None)
        return cls(n, data["gram"].sum(axis=1), None, data["gram"])

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


def check_certificate(text: str, record: dict[str, Any], asked: Asked) -> None:
    """The exact certificate is of this workload and budget, holds, and gives the record's lower bound."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "certificate.json"
        path.write_text(text, encoding="utf-8")
        done = subprocess.run([sys.executable, str(CERTIFICATES), str(path)], capture_output=True, text=True)
    check(done.returncode == 0, f"certificate: {done.stdout.strip() or done.stderr.strip()[-200:]}")
    found, n = json.loads(text), asked.n
    check(Fraction(found["epsilon"]) == Fraction(record["epsilon"]), "the certificate is of another budget")
    G = np.array([[float(Fraction(x, found["gram_denominator"])) for x in row] for row in found["gram"]])
    near = G.shape == (n, n) and np.abs(G - asked.gram()).max() <= 1e-11 * np.abs(G).max()
    check(near, "the certificate is of another workload")
    constant = Fraction(sum(map(sum, found["gram"])), n * found["gram_denominator"])
    proved = Fraction(found["objective_bound"]) + constant
    check(Fraction(record["lower_bound"]) <= proved, f"the certificate proves {float(proved):.12g} only")


def check_bounds(data: dict[str, Array], record: dict[str, Any], asked: Asked, L: float) -> str:
    """The lower bounds are below L, and what proves them holds; says what is proved."""
    lower = record["lower_bound"]
    check(lower * (1.0 - ROUNDING) <= L, f"L = {L:.12g} is below its lower bound {lower:.12g}")
    gap = max(record["objective"] / lower - 1.0, 0.0) if lower > 0.0 else 0.0
    check(abs(record["gap"] - gap) <= ROUNDING * (1.0 + gap), f"the gap is {gap:.6g} and not {record['gap']:.6g}")
    if "certificate" in data:
        check_certificate(data["certificate"].decode(), record, asked)
        return f"gap {gap:.2e} proved exactly"
    if "bound_weights" in data:
        value = bound_value(asked.centred(), record["epsilon"], data, record["bound_omega"])
        proved, value = record["rigorous_lower_bound"], value + asked.constant
        check(proved <= value * (1.0 + ROUNDING), f"its weights give {value:.12g} and not {proved:.12g}")
        check(proved <= L, f"L = {L:.12g} is below its rigorous lower bound {proved:.12g}")
        return f"gap {gap:.2e}, {L / proved - 1.0:.2e} by the rigorous bound"
    check(asked.n > 512 or asked.trace <= 1e-9 * asked.constant, "nothing proves the lower bound")
    return f"gap {gap:.2e}, not proved"


def rebuilt(data: dict[str, Array], record: dict[str, Any], asked: Asked) -> tuple[float, float, float, str]:
    """Average and worst variance, the miss of VQ = W, and what is known of privacy."""
    n, epsilon, chosen = asked.n, record["epsilon"], record["chosen"]
    if chosen == "symmetric":
        value, missed, share = symmetric_variance(data, asked, epsilon)
        return value, value, missed, f"ratio e^eps (1 - {1.0 - share:.1e})"
    if chosen in ("randomized-response", "subset-selection", "rappor"):
        C_uu = np.full(n, asked.trace / n) if asked.spectrum is not None else np.diagonal(asked.centred())
        variance = subset_variance(size_law(chosen, n, epsilon), epsilon, C_uu)
        return float(variance.mean()), float(variance.max()), 0.0, "private by its formula"
    fixed = "supports" not in data
    Q = fixed_matrix(chosen, n, epsilon) if fixed else staircase(data, n, epsilon)
    prior = np.full(n, 1.0 / n) if fixed else data["prior"] / data["prior"].sum()
    share = check_privacy(Q, epsilon)
    variance, missed = matrix_variance(Q, prior, asked.centred())
    return float(variance.mean()), float(variance.max()), missed, f"ratio e^eps (1 - {1.0 - share:.1e})"


def verify(path: Path) -> str:
    """What has been verified of a file, in a line; fails if anything does not hold."""
    with h5py.File(path, "r") as file:
        as_json = set(file.attrs["json_attributes"])
        record = {key: json.loads(x) if key in as_json else x for key, x in file.attrs.items()}
        data = {name: item[()] if name == "certificate" else item[...] for name, item in file.items()}
    check(record["kind"] == "strategy" and record["mechanism"] == "optimised", "not an optimised strategy")
    folder = path.resolve().parents[4] / "workloads" / record["workload"]
    n = int(record["domain_size"])
    names = [folder / f"n{n}-seed{record['seed']}.h5", folder / f"n{n}.h5"]
    beside = next((name for name in names if name.exists()), None)
    check(beside is not None, f"no workload {names[-1]}")
    assert beside is not None
    asked = Asked.read(beside)
    average, worst, missed, private = rebuilt(data, record, asked)
    check(missed <= RESIDUAL, f"VQ = W misses by {missed:.3g}")
    # Variances far below the second moment, at large epsilon, are known to the rounding of the latter only.
    for name, value in (("average_variance", average), ("worst_variance", worst)):
        slack = SAME * abs(value) + 1e-13 * asked.trace
        check(abs(record[name] - value) <= slack, f"{name} is {value:.12g} and not {record[name]:.12g}")
    error = worst if json.loads(record["options"]).get("objective") == "worst" else average
    L = n * error + asked.trace + asked.constant
    check(abs(record["objective"] - L) <= SAME * L, f"L is {L:.12g} and not {record['objective']:.12g}")
    proved = check_bounds(data, record, asked, L)
    return f"{record['chosen']}, {record['rows']} outputs, L = {L:.10g}, {private}, miss {missed:.1e}, {proved}"


def main() -> int:
    """Verify the files; the number that failed, at most 1."""
    parser = argparse.ArgumentParser(description=str(__doc__).splitlines()[0])
    parser.add_argument("strategies", type=Path, nargs="*")
    parser.add_argument("--output", type=Path, help="where the lines are written, too, once everything holds")
    arguments = parser.parse_args()
    lines, failed = [], 0
    for path in arguments.strategies:
        try:
            lines.append(f"holds   {path}: {verify(path)}")
        except (Failed, OSError, KeyError, ValueError, IndexError, ArithmeticError) as error:
            failed += 1
            lines.append(f"FAILED  {path}: {error if isinstance(error, Failed) else repr(error)}")
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
