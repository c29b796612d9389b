"""The numbers of the paper's page, from tables whose answers are known."""

from __future__ import annotations

import itertools
import math
import re
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import pandas as pd
import pytest

from factormech.errors import BadValue
from factormech.tables.compare import slopes
from factormech.tables.kinds import from_rows

ROOT = Path(__file__).resolve().parent.parent


@pytest.fixture(scope="module", autouse=True)
def _tools_folder() -> Any:
    sys.path.insert(0, str(ROOT / "tools"))
    yield
    sys.path.remove(str(ROOT / "tools"))


@pytest.fixture
def blocks() -> ModuleType:
    import blocks

    return blocks


NEEDED = {
    "adaptive-pgd": {"hepth": 1000.0, "medcost": 1003.0, "nettrace": 1005.0, "worst-case": 1008.0},
    "optimised": {"hepth": 900.0, "medcost": 900.0, "nettrace": 1800.0, "worst-case": 1900.0},
    "matrix-l2": {"hepth": 1500.0, "medcost": 1500.0, "nettrace": 1500.0, "worst-case": 1500.0},
    "hadamard-table1": {"hepth": 10000.0, "medcost": 15000.0, "nettrace": 16900.0, "worst-case": 17000.0},
    "hadamard": {"hepth": 20000.0, "medcost": 30000.0, "nettrace": 34000.0, "worst-case": 35000.0},
}


def on_data(needed: dict[str, dict[str, float]], suffix: str = "") -> pd.DataFrame:
    """Figure 3a's table."""
    rows = [
        {"study": "a", "workload": "prefix", "domain_size": 512, "epsilon": 1.0, "seed": 0, "mechanism": mechanism}
        | {"data": data if data == "worst-case" else data + suffix, "metric": "mse", "alpha": 0.01, "status": "ok"}
        | {"sample_complexity": users, "variance": users * 5.12, "lower_bound": 10.0, "bound_name": "data-svd"}
        for data in ("hepth", "medcost", "nettrace", "worst-case")
        for mechanism, users in ((m, by_data[data]) for m, by_data in needed.items())
    ]
    return from_rows(rows, "data-dependent")


def test_figure_3a(blocks: ModuleType) -> None:
    table = blocks.data(on_data(NEEDED)).splitlines()
    assert table[2] == "| HEPTH | 1000 | 0.9921 | 900 | 10000 | 20000 | 10 |"


def test_stand_ins_are_no_data(blocks: ModuleType) -> None:
    with pytest.raises(SystemExit, match="hepth-standin"):
        blocks.data(on_data(NEEDED, "-standin"))


def ratio_row(average: float, worst: float, bound: float = 2.0) -> dict[str, Any]:
    return {
        "average_variance": average,
        "worst_variance": worst,
        "lower_bound": bound,
        "bound_name": "certified",
        "ratio_to_bound": average / bound,
        "worst_ratio": worst / bound,
        "rows": 32.0,
        "status": "ok",
        "reason": "",
    }


def starts_table(spread: float = 1.02) -> pd.DataFrame:
    """Figure 3b's table: prefix gains from rows, parity does not."""
    rows = []
    for workload, mechanism, factor, start in itertools.product(
        ("prefix", "at-most-3-way-parities"), ("adaptive-pgd",), (2, 4, 16), range(3)
    ):
        gains = workload == "prefix"
        level = {2: 1.1, 4: 1.05, 16: 1.0}[factor] if gains else {2: 1.0, 4: 1.05, 16: 1.1}[factor]
        worst = 3.0 * level * (spread if start == 2 else 1.0)
        place = {"study": "b", "workload": workload, "domain_size": 64, "epsilon": 1.0, "seed": 0, "start": start}
        solver = {"mechanism": mechanism, "row_factor": factor, "stopped": "iteration_limit"}
        rows.append(place | solver | ratio_row(0.9 * worst, worst))
    return from_rows(rows, "initialisation")


def test_figure_3b(blocks: ModuleType) -> None:
    told = blocks.starts(starts_table()).splitlines()[2]
    assert told == "| Prefix | Adaptive PGD (as published) | 1.100 | 1.050 | 1.000 | 1.020 | 1.350 (1.500) |"


def timing(exponent: float, largest: int = 4096) -> pd.DataFrame:
    rows: list[dict[str, Any]] = []
    for n in (256, 512, 1024, 2048, largest):
        seconds = (max(n, 1024) / 4096) ** exponent  # small sizes are all overhead
        place = {"study": "c", "quantity": "iteration", "workload": "histogram", "domain_size": n, "epsilon": 1.0}
        clock = {"seed": 0, "mechanism": "adaptive-pgd", "iterations": 15.0, "seconds": seconds, "status": "ok"}
        rows.append(place | clock | {"least_seconds": seconds})
    for n, gap in itertools.product((16, 32), (1.1, 1.2)):
        place = {"study": "c", "quantity": "to-gap", "workload": "prefix", "domain_size": n, "epsilon": 1.0, "seed": 0}
        end = {"mechanism": "optimised", "gap": gap, "lower_bound": 1.0, "bound_name": "certified"}
        reached = n == 16 or gap == 1.2
        at = {"iterations": 3.0, "seconds": n / 8} if reached else {"reason": "ends at 1.150 times the lower bound"}
        last = {"final_variance": 1.15 if n == 32 else 1.01, "final_seconds": 9.0}
        rows.append(place | end | at | last | {"status": "ok" if reached else "not reached"})
    return from_rows(rows, "timing")


def test_figure_3c(blocks: ModuleType) -> None:
    lines = blocks.times(timing(3.0)).splitlines()
    assert lines[0].endswith("1 s at 4096; slope 3.00 in the larger half.")
    assert "| Optimised | 1.1 | 1 of 2 | 16 | 2 / 2 |" in lines
    assert "| Optimised | 1.2 | 2 of 2 | 32 | 3 / 4 |" in lines


def gap_frame() -> pd.DataFrame:
    ratios = {"adaptive-pgd": (1.2, 1.4), "optimised": (1.01, 1.03), "hadamard": (2.0, 3.0), "fourier": (2.5, 2.6)}
    rows = [
        {"study": "g", "workload": "prefix", "domain_size": 64, "epsilon": epsilon, "seed": 0, "mechanism": mechanism}
        | ratio_row(2.0 * both[k], 2.2 * both[k])
        for (k, epsilon), (mechanism, both) in itertools.product(enumerate((0.5, 1.0)), ratios.items())
    ]
    return from_rows(rows, "optimality-gap")


def test_distance_from_the_bound(blocks: ModuleType) -> None:
    assert blocks.gaps([gap_frame()]).splitlines()[2] == (
        "| Prefix | ε | 1.300 / 1.400 | 1.020 / 1.030 | 2.300 / 2.600 |"
    )
    assert blocks.worst_case([gap_frame()]).splitlines()[2] == "| Prefix | 1.100 (1.540) | 1.100 (1.133) |"


def sample_complexities() -> pd.DataFrame:
    """Optimized grows like √n, the other like n; one bound is half of Optimized's need, the other a tenth."""
    rows = []
    for n in (16, 64, 256):
        place = {
            "study": "f",
            "workload": "prefix",
            "domain_size": n,
            "epsilon": 1.0,
            "seed": 0,
            "metric": "mse",
            "alpha": 0.01,
        }
        for name, users in (("adaptive-pgd", 100 * n**0.5), ("hadamard", 50.0 * n), ("optimised", 55 * n**0.5)):
            variances = {"worst_variance": users * n * 0.01, "average_variance": users * n * 0.009}
            told = {
                "mechanism": name,
                "sample_complexity": users,
                "lower_bound": 50 * n**0.5,
                "bound_name": "certified",
            }
            rows.append(place | told | variances | {"status": "ok"})
        for name, users in (("certified", 50 * n**0.5), ("svd", 10 * n**0.5)):
            told = {"mechanism": "lower-bound", "bound_name": name, "lower_bound": users, "status": "bound"}
            rows.append(place | told)
    return from_rows(rows)


def test_what_was_gained_and_what_was_left(blocks: ModuleType) -> None:
    table = blocks.claims([sample_complexities()]).splitlines()
    assert table[2] == "| Prefix | 4.00 / 8.00 | 2.000 / 2.000 | 1.100 / 1.100 |"
    header, _, row = blocks.slopes(slopes(sample_complexities())).splitlines()
    assert header.count("Lower bound") == 2
    assert row == "| Prefix | 0.50 / – | 0.50 / – | 0.50 / – | 0.50 / – |"


def consistent(low: float) -> pd.DataFrame:
    rows = []
    for users, processing in itertools.product((1000, 100000), ("none", "nonnegative", "nonnegative-total")):
        ratio = 1.0 if processing == "none" else low if users == 1000 else 0.97
        place = {"study": "p", "workload": "prefix", "domain_size": 64, "epsilon": 1.0, "seed": 0, "data": "hepth"}
        who = {"users": users, "mechanism": "adaptive-pgd", "processing": processing, "metric": "mse", "trials": 50}
        error = {"exact_error": 1.0, "measured_error": ratio, "standard_error": 0.1, "violation": 0.0, "level": 0.05}
        interval = {
            "measured_low": ratio - 0.2,
            "measured_high": ratio + 0.2,
            "ratio_to_unprocessed": ratio,
            "status": "ok",
        }
        wide = 0.0 if processing == "none" else 0.05
        rows.append(place | who | error | interval | {"ratio_low": ratio - wide, "ratio_high": ratio + wide})
    return from_rows(rows, "consistency")


def test_non_negativity(blocks: ModuleType) -> None:
    assert blocks.consistency(consistent(0.4)).splitlines()[2].endswith("| 0.400 | 0.400 | 0.970 | 0.970 |")


def test_every_block_of_the_page_is_filled_and_no_other(blocks: ModuleType) -> None:
    tool = (ROOT / "tools" / "paper_numbers.py").read_text()
    found = 0
    for path in sorted((ROOT / "docs" / "papers").glob("*.md")):
        page = path.read_text()
        names = re.findall(r"<!-- numbers: (.*) -->", page)
        found += len(names)
        assert all(f'"{name}": blocks.' in tool for name in names)
        for name in names:
            page = blocks.fill(page, name, f"filled: {name}")
            assert blocks.fill(page, name, f"filled: {name}") == page
        assert page.count("filled: ") == len(names)
    assert found == tool.count(": blocks.") == 14
    with pytest.raises(SystemExit, match="0 blocks"):
        blocks.fill(page, "nothing", "")
    assert blocks.number(math.nan) == "–"


def test_a_missing_table_leaves_the_page_as_it_is(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import paper_numbers

    page = tmp_path / "mckenna2020.md"
    page.write_text("as it was")
    monkeypatch.setattr(sys, "argv", ["paper_numbers.py"])
    monkeypatch.setattr(paper_numbers, "PAPERS", tmp_path)
    monkeypatch.setattr(paper_numbers, "TABLES", tmp_path)
    with pytest.raises((BadValue, OSError)):
        paper_numbers.main()
    assert page.read_text() == "as it was"


def test_every_number_of_the_pages_is_the_gallerys(monkeypatch: pytest.MonkeyPatch) -> None:
    import claims_page
    import paper_numbers

    for path, text in paper_numbers.pages().items():
        assert claims_page.agree(path.read_text(), text), f"{path.name}: run: make docs"
    monkeypatch.setattr(paper_numbers, "pages", lambda: {paper_numbers.PAPERS / "liu2024.md": "other"})
    monkeypatch.setattr(sys, "argv", ["paper_numbers.py", "--check"])
    with pytest.raises(SystemExit, match=r"liu2024\.md: other numbers"):
        paper_numbers.main()


def beyond(constant: float) -> pd.DataFrame:
    """Theorem 5's table for a difference that tends to a constant like 1/ln n."""
    rows = []
    for n in (4, 16, 64, 256, 1024, 4096, 16384, 65536):
        logarithm = math.log(n) / math.pi
        best = logarithm + constant + 0.3 / math.log(n)
        place = {"study": "t", "domain_size": n, "p": 2.0, "logarithm": logarithm, "trace_bound": best / 1.01}
        for name, ratio in (("optimal", 1.0), ("square-root", 1.05)):
            rows.append(
                place
                | {"factorization": name, "order_p_error": ratio * best, "lower_bound": best, "ratio_to_bound": ratio}
            )
    return pd.DataFrame(rows)


def test_the_extrapolation_finds_a_known_limit(blocks: ModuleType) -> None:
    for constant, told in ((0.7, "0.700 to 0.700"), (0.75, "0.750 to 0.750")):
        assert f"| {told} |" in blocks.prefix(beyond(constant))
    assert "5.0% to 5.0% above the optimum" in blocks.prefix(beyond(0.7))
    assert "at most 1.0% above the trace bound" in blocks.prefix(beyond(0.7))
