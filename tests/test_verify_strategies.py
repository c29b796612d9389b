"""The independent check of optimised strategies: honest files hold, and each lie in a file is found."""

from __future__ import annotations

import json
import math
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import h5py
import numpy as np
import pytest

from factormech import store
from factormech.local.optimal.mechanism import COMPETITORS, MECHANISM
from factormech.privacy import inner_ratio
from factormech.unavailable import Unavailable
from factormech.workloads import registry, stored

TOOLS = Path(__file__).resolve().parents[1] / "tools"
CASES = {
    "exact": ("prefix", 8, 1.0, {}),
    "worst": ("prefix", 5, 1.0, {"objective": "worst"}),
    "fixed": ("histogram", 16, 4.0, {}),
    "symmetric": ("all-marginals", 32, 1.0, {}),
    "general": ("prefix", 20, 1.0, {"rows": 40}),
    "pairs": ("prefix", 20, 4.0, {}),
}


@pytest.fixture(scope="module")
def tool() -> ModuleType:
    sys.path.insert(0, str(TOOLS))
    try:
        import verify_strategies  # type: ignore[import-not-found]
    finally:
        sys.path.remove(str(TOOLS))
    return verify_strategies


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """A strategy file for each case, beside its workload's, as the jobs write them."""
    root, found = tmp_path_factory.mktemp("results"), {}
    for case, (name, n, epsilon, options) in CASES.items():
        workload = registry.create(name, n)
        datasets, attributes = stored.to_datasets(workload)
        store.write(root / f"workloads/{name}/n{n}.h5", "workload", datasets=datasets, attributes=attributes)
        solution = MECHANISM.with_options(**options).solve(workload, epsilon, np.random.default_rng(0))
        own = {
            "mechanism": "optimised",
            "workload": name,
            "epsilon": epsilon,
            "seed": 0,
            "options": json.dumps(options),
        }
        found[case] = root / f"strategies/optimised/{name}/n{n}/eps{epsilon!r}-{case}.h5"
        store.write(found[case], "strategy", datasets=solution.datasets, attributes={**own, **solution.record})
    return found


def test_honest_files_hold(tool: ModuleType, files: dict[str, Path]) -> None:
    chosen = {case: tool.verify(path).split(",")[0] for case, path in files.items()}
    assert chosen == {
        "exact": "exact",
        "worst": "exact",
        "fixed": "randomized-response",
        "symmetric": "symmetric",
        "general": "general",
        "pairs": "general",
    }
    assert "proved exactly" in tool.verify(files["exact"])
    assert "by the rigorous bound" in tool.verify(files["general"])
    gaps = tool.verify(files["pairs"]).split("gap ")[1].split(",")
    assert float(gaps[1].split()[0]) == pytest.approx(float(gaps[0]), abs=1e-5)


def dataset(name: str, change: Callable[[Any], Any]) -> Callable[[h5py.File], None]:
    def tamper(file: h5py.File) -> None:
        value = file[name][()]
        del file[name]
        file[name] = change(value)

    return tamper


def attribute(**changes: Callable[[Any], Any]) -> Callable[[h5py.File], None]:
    def tamper(file: h5py.File) -> None:
        for name, change in changes.items():
            file.attrs[name] = change(file.attrs[name])

    return tamper


def scaled(factor: float) -> Callable[[Any], Any]:
    return lambda x: x * factor


def first(factor: float) -> Callable[[Any], Any]:
    return lambda x: np.concatenate([x[:1] * factor, x[1:]])


def moved_mass(weights: Any) -> Any:
    """Half of a row's weight given to another: columns no longer sum to one."""
    w = weights.copy()
    w[1], w[0] = w[1] + w[0] / 2, w[0] / 2
    return w


def flipped(supports: Any) -> Any:
    S = supports.copy()
    S[0, 0] ^= 128
    return S


def better(file: h5py.File) -> None:
    """An objective, its averages and its gap, in agreement with each other but too good."""
    n, less = int(file.attrs["domain_size"]), 1e-6 * file.attrs["objective"]
    file.attrs["objective"] -= less
    file.attrs["average_variance"] -= less / n
    file.attrs["worst_variance"] -= less / n
    file.attrs["gap"] = max(file.attrs["objective"] / file.attrs["lower_bound"] - 1.0, 0.0)


def raised_bound(by: float) -> Callable[[h5py.File], None]:
    def tamper(file: h5py.File) -> None:
        file.attrs["lower_bound"] *= 1.0 + by
        file.attrs["gap"] = max(file.attrs["objective"] / file.attrs["lower_bound"] - 1.0, 0.0)

    return tamper


def claimed(key: str, value: Callable[[Any], Any]) -> Callable[[h5py.File], None]:
    def change(text: bytes) -> str:
        record = json.loads(text)
        return json.dumps(record | {key: value(record[key])})

    return dataset("certificate", change)


def without(name: str) -> Callable[[h5py.File], None]:
    return lambda file: file.__delitem__(name)


LIES = {
    "a weight changed": ("exact", dataset("weights", first(1 + 1e-6)), "columns of the rows"),
    "weights moved": ("general", dataset("weights", moved_mass), "columns of the rows"),
    "a negative weight": ("general", dataset("weights", first(-1.0)), "negative"),
    "a set changed": ("exact", dataset("supports", flipped), "columns of the rows"),
    "a smaller budget promised": ("general", attribute(epsilon=scaled(1 - 1e-6)), "variance is"),
    "a larger budget promised": ("symmetric", attribute(epsilon=scaled(1 + 1e-6)), "variance is"),
    "another prior": ("worst", dataset("prior", first(0.5)), "variance is"),
    "an average of another": ("general", attribute(average_variance=scaled(1 + 1e-7)), "average_variance is"),
    "the worst of another": ("general", attribute(worst_variance=scaled(1 - 1e-7)), "worst_variance is"),
    "an objective lowered": ("general", attribute(objective=scaled(1 - 1e-7)), "L is"),
    "all numbers lowered": ("general", better, "variance is"),
    "numbers of a fixed one lowered": ("fixed", better, "variance is"),
    "numbers of a symmetric one lowered": ("symmetric", better, "variance is"),
    "a smaller gap": ("general", attribute(gap=scaled(0.5)), "the gap is"),
    "an exact bound raised": ("exact", raised_bound(1e-9), "the certificate proves"),
    "a bound above L": ("general", raised_bound(0.2), "below its lower bound"),
    "a rigorous bound raised": ("general", attribute(rigorous_lower_bound=scaled(1 + 1e-6)), "its weights give"),
    "a rigorous bound's weights": ("general", dataset("bound_weights", first(1.5)), "its weights give"),
    "too large an omega": ("general", dataset("bound_weights", first(1e-6)), "omega"),
    "a rigorous bound with pairs raised": (
        "pairs",
        attribute(rigorous_lower_bound=scaled(1 + 1e-6)),
        "its weights give",
    ),
    "other pairs": ("pairs", dataset("bound_pairs", scaled(1.01)), "its weights give"),
    "negative pairs": ("pairs", dataset("bound_pairs", scaled(-1.0)), "no weights"),
    "no pairs": ("pairs", without("bound_pairs"), "its weights give"),
    "no proof": ("exact", without("certificate"), "nothing proves"),
    "no rigorous proof": ("worst", without("bound_weights"), "nothing proves"),
    "a certificate's bound raised": ("exact", claimed("objective_bound", lambda x: x + "1"), "certificate"),
    "a certificate of another matrix": ("exact", claimed("dual_denominator", lambda x: 3 * x), "certificate"),
    "a certificate's smaller budget": ("exact", claimed("epsilon", lambda x: "1/2"), "another budget"),
    "another table": ("symmetric", dataset("table-0", lambda x: np.roll(x, 1) ^ (np.arange(len(x)) < 1)), ""),
    "dependent parities": ("symmetric", dataset("masks-0", lambda x: np.repeat(x[:, :1], x.shape[1], 1)), "dependent"),
    "a family's weight": ("symmetric", dataset("weights-0", scaled(1.1)), "weights sum"),
    "another fixed strategy": ("fixed", attribute(chosen=lambda x: "fourier"), "variance is"),
    "an unknown strategy": ("fixed", attribute(chosen=lambda x: "magic"), "no strategy"),
    "another mechanism": ("fixed", attribute(mechanism=lambda x: "adaptive-pgd"), "not an optimised"),
}


@pytest.mark.parametrize("lie", LIES)
def test_a_lie_is_found(lie: str, tool: ModuleType, files: dict[str, Path], tmp_path: Path) -> None:
    case, tamper, reason = LIES[lie]
    shutil.copytree(files[case].parents[4], tmp_path / "results")
    path = tmp_path / "results" / files[case].relative_to(files[case].parents[4])
    with h5py.File(path, "r+") as file:
        tamper(file)
    with pytest.raises((tool.Failed, ValueError)) as found:
        tool.verify(path)
    assert reason in str(found.value)


def test_another_workload_is_found(tool: ModuleType, files: dict[str, Path], tmp_path: Path) -> None:
    shutil.copytree(files["exact"].parents[4], tmp_path / "results")
    with h5py.File(tmp_path / "results/workloads/prefix/n8.h5", "r+") as file:
        dataset("gram", scaled(1 + 1e-6))(file)
    with pytest.raises(tool.Failed):
        tool.verify(tmp_path / "results" / files["exact"].relative_to(files["exact"].parents[4]))


@pytest.mark.parametrize("epsilon", [0.1, 1.0, 5.0])
def test_privacy_is_checked_to_the_last_bits(epsilon: float, tool: ModuleType) -> None:
    def response(ratio: float) -> Any:
        return np.where(np.eye(4) > 0, ratio, 1.0) / (ratio + 3.0)

    assert tool.check_privacy(response(inner_ratio(epsilon)), epsilon) <= 1
    with pytest.raises(tool.Failed, match="ratio"):
        tool.check_privacy(response(math.exp(epsilon) * (1 + 1e-15)), epsilon)
    shifted = response(inner_ratio(epsilon)) * (1 + 1e-13 * np.arange(4))  # ratios, columns divided by their sums
    with pytest.raises(tool.Failed, match="ratio"):
        tool.check_privacy(shifted, epsilon)
    with pytest.raises(tool.Failed, match="sums to one but"):
        tool.check_privacy(response(inner_ratio(epsilon)) * 0.5, epsilon)
    assert math.exp(epsilon) * (1 - 1e-15) < float(tool.below_exp(epsilon)) <= math.exp(epsilon) * (1 + 1e-15)


@pytest.mark.parametrize("n", [2, 5, 8, 12])
@pytest.mark.parametrize("name", COMPETITORS)
def test_fixed_strategies_are_those_of_the_package(name: str, n: int, tool: ModuleType) -> None:
    """By their variances on a workload that treats no two types alike."""
    W = np.random.default_rng(n).normal(size=(3, n))
    C = (W - W.mean(axis=1, keepdims=True)).T @ (W - W.mean(axis=1, keepdims=True))
    for epsilon in (0.5, 3.0):
        built = COMPETITORS[name](n, epsilon)
        assert not isinstance(built, Unavailable)
        expected = built.evaluate(C)
        if not expected.answered:
            continue
        asked = tool.Asked(n, np.zeros(n), None, C)
        average, worst, missed, _ = tool.rebuilt({}, {"epsilon": epsilon, "chosen": name}, asked)
        assert (average, worst) == pytest.approx((expected.average, expected.worst), rel=1e-9)
        assert missed < 1e-8


def test_the_command(files: dict[str, Path], tmp_path: Path) -> None:
    def ran(*paths: Path) -> subprocess.CompletedProcess[str]:
        command = [sys.executable, str(TOOLS / "verify_strategies.py"), "--output", str(tmp_path / "out.txt"), *paths]
        return subprocess.run(list(map(str, command)), capture_output=True, text=True, check=False)

    broken = tmp_path / "broken.h5"
    broken.write_bytes(b"no file of results")
    done = ran(files["fixed"], broken)
    assert done.returncode == 1
    assert [line[:7].strip() for line in done.stdout.splitlines()] == ["holds", "FAILED", "1 of 2"]
    assert not (tmp_path / "out.txt").exists()
    done = ran(files["fixed"])
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "out.txt").read_text() == done.stdout
