"""The independent check of optimised strategies: honest files hold, and each lie in a file is found."""

from __future__ import annotations

import hashlib
import json
import math
import os
import shutil
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import h5py
import numpy as np
import pytest

from factormech.errors import Unavailable
from factormech.mechanisms.local.optimal.mechanism import COMPETITORS, MECHANISM
from factormech.privacy.guarantee import inner_ratio
from factormech.store import hdf5
from factormech.workloads import registry, stored
from tests.tiers import every

pytestmark = pytest.mark.heavy

TOOLS = Path(__file__).resolve().parents[1] / "tools"
CASES = {
    "exact": ("prefix", 8, 1.0, {}),
    "worst": ("prefix", 5, 1.0, {"objective": "worst"}),
    "fixed": ("histogram", 16, 4.0, {}),
    "symmetric": ("all-marginals", 32, 1.0, {}),
    "general": ("prefix", 20, 1.0, {"rows": 40}),
    "pairs": ("prefix", 20, 4.0, {}),
    "game": ("prefix", 20, 1.0, {"objective": "worst"}),
    "triples": ("at-most-3-way-parities", 64, 3.0, {}),
}


@pytest.fixture(scope="module")
def tool() -> ModuleType:
    sys.path.insert(0, str(TOOLS))
    try:
        import verify_strategies  # type: ignore[import-not-found]
    finally:
        sys.path.remove(str(TOOLS))
    return verify_strategies


def mark_of(seed: int | None, options: Any) -> str:
    """What the workflow writes into the name of the file."""
    return hashlib.sha256(json.dumps({"seed": seed, "options": options}).encode()).hexdigest()[:8]


@pytest.fixture(scope="module")
def files(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """A strategy file for each case, beside its workload's, as the jobs write them."""
    root, found = tmp_path_factory.mktemp("results"), {}
    for case, (name, n, epsilon, options) in CASES.items():
        workload = registry.create(name, n)
        datasets, attributes = stored.to_datasets(workload)
        hdf5.write(root / f"workloads/{name}/n{n}.h5", "workload", datasets=datasets, attributes=attributes)
        solution = MECHANISM.with_options(**options).solve(workload, epsilon, np.random.default_rng(0))
        own = {
            "mechanism": "optimised",
            "workload": name,
            "epsilon": epsilon,
            "seed": 0,
            "options": json.dumps(options),
        }
        found[case] = root / f"strategies/optimised/{name}/n{n}/eps{epsilon!r}-{mark_of(0, own['options'])}.h5"
        hdf5.write(found[case], "strategy", datasets=solution.datasets, attributes={**own, **solution.record})
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
        "game": "game",
        "triples": "symmetric",
    }
    assert "by triples, proved exactly" in tool.verify(files["triples"])
    assert "proved exactly" in tool.verify(files["exact"])
    assert "by the rigorous bound" in tool.verify(files["general"])
    gap = float(tool.verify(files["pairs"]).split("gap ")[1].split()[0])
    with h5py.File(files["pairs"]) as file:
        assert gap == pytest.approx(file.attrs["gap"], abs=1e-6)


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
    "a smaller budget promised": ("general", attribute(epsilon=scaled(1 - 1e-6)), "its place says"),
    "a larger budget promised": ("symmetric", attribute(epsilon=scaled(1 + 1e-6)), "its place says"),
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
    "a bound from triples raised": ("triples", attribute(rigorous_lower_bound=scaled(1 + 1e-6)), "its triples give"),
    "other prices": ("triples", dataset("triple_prices", scaled(0.9)), "its triples give"),
    "other squares": ("triples", dataset("triple_roots", scaled(0.9)), "its triples give"),
    "squares that are not there": ("triples", dataset("triple_sizes", lambda x: x + 0.5), "not there"),
    "no squares": ("triples", without("triple_roots"), "not complete"),
    "no proof": ("exact", without("certificate"), "nothing proves"),
    "no rigorous proof": ("worst", without("bound_weights"), "nothing proves"),
    "a certificate's bound raised": ("exact", claimed("objective_bound", lambda x: x + "1"), "certificate"),
    "a certificate of another matrix": ("exact", claimed("dual_denominator", lambda x: 3 * x), "certificate"),
    "a certificate's smaller budget": ("exact", claimed("epsilon", lambda x: "1/2"), "another budget"),
    "another table": ("symmetric", dataset("table-0", lambda x: np.roll(x, 1) ^ (np.arange(len(x)) < 1)), ""),
    "dependent parities": ("symmetric", dataset("masks-0", lambda x: np.repeat(x[:, :1], x.shape[1], 1)), "dependent"),
    "a family's weight": ("symmetric", dataset("weights-0", scaled(1.1)), "weights sum"),
    "another fixed strategy": ("fixed", attribute(chosen=lambda x: "fourier"), "outputs and not"),
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


# Values of other types in the place of any, and numbers that are not true.
ODD: dict[str, Any] = {
    "text": "1.0",
    "infinite": math.inf,
    "not a number": math.nan,
    "true": True,
    "list": [1.0, 2.0],
    "minus": -1.0,
    "zero": 0.0,
    "huge": 1e300,
}
FIELDS = (
    "domain_size", "epsilon", "objective", "lower_bound", "gap", "average_variance", "worst_variance",
    "rigorous_lower_bound", "workload", "options", "chosen", "mechanism", "kind", "rows", "json_attributes", "seed",
)  # fmt: skip
# A weaker claim is true, and squares that no size refers to say nothing.
TRUE = {f"rigorous_lower_bound: {what}" for what in ("minus", "zero")} | {"triples, triple_roots one more"}
ARRAYS = {
    "general": ("weights", "prior", "supports", "bound_weights"),
    "pairs": ("bound_weights", "bound_pairs"),
    "symmetric": ("table-0", "masks-0", "weights-0", "permuted", "bound_weights"),
    "triples": ("triple_prices", "triple_roots", "triple_sizes"),
}
CHANGES: dict[str, Callable[[Any], Any]] = {
    "as text": lambda x: "abc",
    "of one number": lambda x: 1.0,
    "one less": lambda x: x[1:],
    "one more": lambda x: np.concatenate([x, x[-1:]]),
    "of three axes": lambda x: np.zeros((2, 2, 2)),
    "of NaN": lambda x: np.full(x.shape, np.nan),
    "infinite": lambda x: np.full(x.shape, np.inf),
    "of minus one": lambda x: np.full(x.shape, -1.0),
    "of nothing": lambda x: np.zeros((0,) * x.ndim),
}


def set_to(name: str, value: Any) -> Callable[[h5py.File], None]:
    return lambda file: file.attrs.__setitem__(name, value)


def unsaid(name: str) -> Callable[[h5py.File], None]:
    return lambda file: file.attrs.__delitem__(name)


def no_bound(file: h5py.File) -> None:
    """What the issue of a bound that bounds nothing looks like: no gap, and nothing proved."""
    file.attrs["lower_bound"], file.attrs["gap"] = -1.0, 0.0


def elsewhere(file: h5py.File) -> None:
    del file["weights"]
    file["weights"] = h5py.ExternalLink("other.h5", "weights")


def raw(file: h5py.File) -> None:
    del file["weights"]
    file.create_dataset("weights", (4,), dtype="f8", external=[("/etc/passwd", 0, 32)])


def virtual(file: h5py.File) -> None:
    layout = h5py.VirtualLayout(shape=file["weights"].shape, dtype="f8")
    layout[:] = h5py.VirtualSource("missing.h5", "weights", shape=file["weights"].shape)
    del file["weights"]
    file.create_virtual_dataset("weights", layout, fillvalue=1.0)


def bomb(file: h5py.File) -> None:
    file.create_dataset("zeros", (2**40,), chunks=(2**16,), dtype="f8", compression="gzip")


def forgeries() -> dict[str, tuple[str, Callable[[h5py.File], None]]]:
    """Case and change, by name."""
    found: dict[str, tuple[str, Callable[[h5py.File], None]]] = {}
    for name in FIELDS:
        found |= {f"{name}: {what}": ("general", set_to(name, value)) for what, value in ODD.items()}
        found[f"without {name}"] = ("general", unsaid(name))
    for case, names in ARRAYS.items():
        for name in names:
            found |= {f"{case}, {name} {w}": (case, dataset(name, change)) for w, change in CHANGES.items()}
            found[f"{case}, without {name}"] = (case, without(name))
    special = {"no bound": no_bound, "elsewhere": elsewhere, "raw": raw, "virtual": virtual, "bomb": bomb}
    found |= {name: ("general", change) for name, change in special.items()}
    found["an exact strategy above its bound"] = ("exact", no_bound)
    found["a group"] = ("general", lambda file: file.create_group("group"))
    found["rows, one more"] = ("general", attribute(rows=lambda x: x + 1))
    return {name: change for name, change in found.items() if name not in TRUE}


FORGERIES = forgeries()


@pytest.mark.parametrize("name", every(5, FORGERIES))
def test_a_forgery_is_refused_in_one_line(name: str, tool: ModuleType, files: dict[str, Path], tmp_path: Path) -> None:
    case, change = FORGERIES[name]
    results = files[case].parents[4]
    path = tmp_path / "results" / files[case].relative_to(results)
    path.parent.mkdir(parents=True)
    shutil.copy(files[case], path)
    (tmp_path / "results/workloads").symlink_to(results / "workloads")
    with h5py.File(path, "r+") as file:
        change(file)
    start = time.perf_counter()
    holds, line = tool.said_of(path)
    assert time.perf_counter() - start < 20.0
    assert not holds, line
    assert "\n" not in line


def test_files_of_other_strategies_are_refused(tool: ModuleType, files: dict[str, Path], tmp_path: Path) -> None:
    """Content of one ε, size, option or workload under the name of another; files that are none."""
    results = files["exact"].parents[4]
    (tmp_path / "results").mkdir()
    (tmp_path / "results/workloads").symlink_to(results / "workloads")
    places = {
        "eps4.0": files["exact"].parent / files["exact"].name.replace("eps1.0", "eps4.0"),
        "n5": files["worst"].parent / files["exact"].name,
        "options": files["exact"].with_name(f"eps1.0-{mark_of(0, json.dumps({'objective': 'worst'}))}.h5"),
        "seed": files["exact"].with_name(f"eps1.0-{mark_of(1, '{}')}.h5"),
        "workload": files["fixed"].parents[1] / "n8" / files["exact"].name,
    }
    for name, place in places.items():
        path = tmp_path / "results" / place.relative_to(results)
        path.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(files["exact"], path)
        holds, line = tool.said_of(path)
        assert not holds, name
        assert "its place says" in line, name
    os.mkfifo(tmp_path / "fifo.h5")
    (tmp_path / "cut.h5").write_bytes(files["exact"].read_bytes()[:3000])
    for odd in ("fifo.h5", "cut.h5", "missing.h5", "."):
        assert not tool.said_of(tmp_path / odd)[0]


@pytest.mark.parametrize("change", ["other gram", "other size", "own definition", "deep definition", "other seed"])
def test_a_swapped_workload_is_refused(change: str, tool: ModuleType, files: dict[str, Path], tmp_path: Path) -> None:
    """Also where the strategy is honest for it: the name says which queries they are."""
    shutil.copytree(files["general"].parents[4], tmp_path / "results")
    folder = tmp_path / "results/workloads/prefix"
    if change == "other size":
        shutil.copy(folder / "n8.h5", folder / "n20.h5")
    else:
        with h5py.File(folder / "n20.h5", "r+") as file:
            if change == "other gram":
                dataset("gram", scaled(2.0))(file)
            elif change == "other seed":
                file.attrs["seed"] = 7
            else:
                text = '{"prefix": {"file": "a.csv"}}' if change == "own definition" else "[" * 10**5
                file.attrs["definition"] = text[:60_000]
                file.attrs["json_attributes"] = np.array(["definition"], dtype=object)
    holds, line = tool.said_of(tmp_path / "results" / files["general"].relative_to(files["general"].parents[4]))
    assert not holds
    assert "\n" not in line


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
        made = tool.rebuilt({}, {"epsilon": epsilon, "chosen": name}, asked)
        assert (made.average, made.worst) == pytest.approx((expected.average, expected.worst), rel=1e-9)
        assert made.missed < 1e-8
        assert made.outputs == built.outputs


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
