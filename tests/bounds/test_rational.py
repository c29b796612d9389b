"""Exact certificates: what they claim is true, near the float bound, and what is false is refused, by both checkers."""

from __future__ import annotations

import itertools
import json
import math
import runpy
import subprocess
import sys
from dataclasses import replace
from decimal import Decimal, localcontext
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from factormech.arrays import FloatArray
from factormech.bounds import certificates
from factormech.errors import BadValue
from tests import oracles
from tests.bounds import optimum

TOOL = Path(__file__).resolve().parents[2] / "tools" / "verify_certificate.py"
VERIFIER = runpy.run_path(str(TOOL))


def refuted(record: dict[str, Any]) -> str:
    return str(VERIFIER["failure"](record))


def certificate(W: FloatArray, epsilon: float) -> tuple[certificates.RationalCertificate, float]:
    """A certificate of W's Gram matrix from a rough optimum, and that optimum's objective."""
    root = (W - W.mean(axis=1, keepdims=True)).T
    best = optimum.solve(root, epsilon)
    X = best.rows.T @ (best.rows / np.maximum(best.rows.sum(axis=1, keepdims=True), 1e-300))
    return certificates.certify(W.T @ W, epsilon, np.linalg.inv(X), best.multiplier), best.objective


@pytest.mark.parametrize("epsilon", [0.5, 1.0, 5.0])
@pytest.mark.parametrize("name", ["prefix", "all_ranges"])
def test_the_bound_is_exact_and_near(name: str, epsilon: float) -> None:
    found, objective = certificate(getattr(oracles, name)(5), epsilon)
    assert found.check()
    assert refuted(json.loads(found.text())) == ""
    assert objective * (1 - 2e-3) <= found.objective_bound <= objective * (1 + 1e-6)
    C = oracles.centred_gram(getattr(oracles, name)(5))
    assert float(found.average_variance_bound) == pytest.approx((float(found.objective_bound) - np.trace(C)) / 5)


@pytest.mark.parametrize("seed", range(10))
def test_any_guess_gives_a_bound_that_strategies_keep(seed: int) -> None:
    rng = np.random.default_rng(seed)
    n, epsilon = int(rng.integers(2, 6)), float(rng.choice([0.3, 1.0, 3.0]))
    W = rng.normal(size=(n, n))
    G = W.T @ W
    G = (G + G.T) / 2
    Q = oracles.random_strategy(rng, 3 * n, n, epsilon)
    X = Q.T @ (Q / Q.sum(axis=1, keepdims=True))
    objective = float(np.trace(np.linalg.solve(X, oracles.centred_gram(W))))
    found = certificates.certify(G, epsilon, np.linalg.inv(X) + rng.normal(size=(n, n)), rng.normal(size=n))
    assert found.check()
    assert 0 <= found.objective_bound <= objective * (1 + 1e-9)


def test_both_checks_by_brute_force() -> None:
    rng = np.random.default_rng(0)
    ratio = Fraction(7, 3)
    for n, shift in itertools.product((1, 2, 3, 5), range(0, 60, 2)):
        A = rng.integers(-9, 10, size=(n, n))
        N = [[int(x) for x in row] for row in A + A.T - shift]
        values = (
            sum(N[i][j] * v[i] * v[j] for i in range(n) for j in range(n)) for v in itertools.product((3, 7), repeat=n)
        )
        expected = max(values) <= 0
        assert certificates.never_positive(N, ratio) == expected
        assert VERIFIER["never_positive"](N, 3, 7) == expected


def test_a_claim_a_little_too_large_is_refused() -> None:
    found, _ = certificate(oracles.prefix(4), 1.0)
    lower = [x - max(abs(y) for y in found.multiplier) // 10**6 for x in found.multiplier]
    assert not replace(found, multiplier=lower).check()
    good = json.loads(found.text())
    assert "inequality" in refuted({**good, "multiplier": lower})
    assert "claimed" in refuted({**good, "objective_bound": str(found.objective_bound + Fraction(1, 10**30))})
    assert "claimed" in refuted({**good, "average_variance_bound": str(found.average_variance_bound * 2)})


def test_what_is_no_certificate_is_refused() -> None:
    found, _ = certificate(oracles.prefix(4), 1.0)
    good = json.loads(found.text())
    dual = [list(row) for row in found.dual]
    dual[0][0] += 1
    assert not replace(found, dual=dual).check()
    assert "sum to zero" in refuted({**good, "dual": dual})
    small = found.ratio - Fraction(1, 2**38)
    assert not replace(found, ratio=small).check()
    assert "below exp" in refuted({**good, "ratio": str(small)})
    gram = [list(row) for row in found.gram]
    gram[2][2] -= 5
    assert "semidefinite" in refuted({**good, "gram": gram})
    assert "whole" in refuted({**good, "multiplier": [float(x) for x in found.multiplier]})
    assert "shapes" in refuted({**good, "multiplier": found.multiplier[1:]})
    assert "version" in refuted({**good, "version": 2})


@pytest.mark.parametrize("x", [0.01, 0.1, 1.0, 3.7, 20.0])
def test_the_exponential_bound(x: float) -> None:
    with localcontext() as context:
        context.prec = 60
        true = Decimal(x).exp()
    bound = certificates.exponential_bound(Fraction(x))
    excess = Decimal(bound.numerator) / Decimal(bound.denominator) / true - 1
    assert -(Decimal(10) ** -25) < excess < Decimal(10) ** -20
    rounded = certificates.rounded_up(bound, 40)
    assert bound <= rounded < bound + Fraction(1, 2**40)
    assert VERIFIER["at_least_exp"](rounded, Fraction(x))
    assert not VERIFIER["at_least_exp"](rounded - Fraction(1, 2**38), Fraction(x))


def test_the_file_is_checked_by_the_tool_alone(tmp_path: Path) -> None:
    found, _ = certificate(oracles.prefix(4), math.log(3.0))
    path = tmp_path / "certificate.json"
    path.write_text(found.text())
    run = subprocess.run([sys.executable, "-I", str(TOOL), str(path)], capture_output=True, text=True, check=False)
    assert run.returncode == 0
    assert run.stdout.startswith("holds: ")
    path.write_text(path.read_text().replace('"epsilon": "', '"epsilon": "2'))
    run = subprocess.run([sys.executable, "-I", str(TOOL), str(path)], capture_output=True, text=True, check=False)
    assert run.returncode == 1


def test_errors_name_the_remedy() -> None:
    with pytest.raises(BadValue, match="one entry per type"):
        certificates.certify(np.eye(3), 1.0, np.eye(3), np.zeros(4))
    with pytest.raises(BadValue, match="gram symmetric"):
        certificates.certify(np.triu(np.ones((3, 3))), 1.0, np.eye(3), np.zeros(3))
    with pytest.raises(BadValue, match="zero but for constants"):
        certificates.certify(np.eye(3), 1.0, np.ones((3, 3)), np.zeros(3))
