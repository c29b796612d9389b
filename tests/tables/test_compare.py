"""Improvements and slopes: tables of known answers, strict CSV, LaTeX with everything in it."""

from __future__ import annotations

import math
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from factormech.errors import BadValue, UnknownName
from factormech.studies.sample_complexity import MEASURED
from factormech.tables import kinds as tables
from factormech.tables.compare import improvement, slopes
from tests.tables.printed import number, printed
from tests.test_tables import edited

MakeTable = Callable[..., pd.DataFrame]
SIZES = (8, 16, 32, 64, 128)


def table(values: dict[tuple[str, float], dict[str, float | str]], bound: float = 2.0) -> pd.DataFrame:
    """Sample complexities by (workload, ε) and mechanism; a text is a reason to be refused."""
    rows: list[dict[str, Any]] = []
    for (workload, epsilon), needs in values.items():
        point = {"study": "t", "workload": workload, "domain_size": 8, "epsilon": epsilon, "seed": 0, "metric": "mse"}
        known = [need for need in needs.values() if not isinstance(need, str)]
        point |= {"alpha": 0.01, "lower_bound": min([bound, *known]), "bound_name": "svd"}  # below all of them
        for name, need in needs.items():
            found: dict[str, Any] = {"status": "refused", "reason": need}
            if not isinstance(need, str):
                found = {"status": "ok", **dict.fromkeys(MEASURED, need)}
            rows.append({**point, "mechanism": name, **found})
        rows.append({**point, "mechanism": "lower-bound", "status": "bound"})
    return tables.from_rows(rows)


@pytest.fixture
def compared() -> pd.DataFrame:
    return improvement(
        table(
            {
                ("prefix", 1.0): {"rappor": 9.0, "hadamard": 6.0, "optimised": 3.0, "fourier": "no"},
                ("prefix", 2.0): {"rappor": 4.0, "hadamard": 8.0, "optimised": 4.0, "fourier": "no"},
                ("total", 1.0): {"rappor": "no", "hadamard": "no", "optimised": 5.0, "fourier": "no"},
                ("total", 2.0): {"rappor": 5.0, "hadamard": 4.0, "optimised": 0.0, "fourier": "no"},
                ("mine", 1.0): {"rappor": 2.5, "hadamard": 3.0, "optimised": 10.0, "fourier": "no"},
                ("mine", 2.0): {"rappor": 3.0, "hadamard": 3.0, "optimised": "no way", "fourier": "no"},
            }
        ),
        "optimised",
    )


def test_improvement_of_known_numbers(compared: pd.DataFrame) -> None:
    assert compared["status"].tolist() == ["ok", "ok", "alone", "free", "ok", "refused"]
    assert compared["competitor"].tolist() == ["hadamard", "rappor", "", "", "rappor", ""]
    np.testing.assert_array_equal(compared["improvement"], [2.0, 1.0, math.nan, math.nan, 0.25, math.nan])
    np.testing.assert_array_equal(compared["ratio_to_bound"], [1.5, 2.0, 2.5, math.nan, 5.0, math.nan])
    assert compared["reason"].tolist()[5] == "no way"
    assert set(compared["mechanism"]) == {"optimised"}


def test_what_is_excluded_does_not_compete() -> None:
    frame = table({("prefix", 1.0): {"rappor": 9.0, "hadamard": 6.0, "optimised": 3.0}})
    for exclude, competitor, ratio in ((), "optimised", 0.5), (("optimised",), "rappor", 1.5):
        found = improvement(frame, "hadamard", exclude)
        assert (found["competitor"][0], found["improvement"][0]) == (competitor, ratio)
        assert found["excluded"][0] == " ".join(exclude)
        assert ("without Optimised" in tables.latex(found)) == bool(exclude)
    alone = improvement(frame, "hadamard", ["optimised", "rappor"])
    assert alone["status"][0] == "alone"
    with pytest.raises(UnknownName, match="does not compete"):
        improvement(frame, "hadamard", ["hadamard"])


def test_a_vacuous_bound_has_no_ratio() -> None:
    needs: dict[str, float | str] = {"rappor": 2.0, "optimised": 1.0}
    assert improvement(table({("prefix", 1.0): needs}, bound=-1.0), "optimised")["ratio_to_bound"].isna().all()


def test_improvement_over_seeds_keeps_them(make_table: MakeTable) -> None:
    frame = make_table({"prefix": 1.0}, {"hadamard": 3.0, "hierarchical": 2.0, "rappor": 9.0}, (1.0, 2.0), seeds=(0, 4))
    found = improvement(frame, "hierarchical")
    assert found["seed"].tolist() == [0, 4, 0, 4]
    np.testing.assert_allclose(found["improvement"], 1.5)
    np.testing.assert_allclose(found["ratio_to_bound"] * found["lower_bound"], found["sample_complexity"])


def test_an_unknown_mechanism_is_refused(make_table: MakeTable) -> None:
    for name in ("optimized", "lower-bound"):
        with pytest.raises(UnknownName, match="known: fourier"):
            improvement(make_table({"prefix": 1.0}), name)


def growth(exponents: dict[str, float], sizes: tuple[int, ...] = SIZES, **changes: float) -> pd.DataFrame:
    """Sample complexities 3·n^a; the bound is n^½/10⁶, and vacuous at the smallest size."""
    rows: list[dict[str, Any]] = []
    for n in sizes:
        near = {"lower_bound": 1e-6 * math.sqrt(n) if n > min(sizes) else -1.0, "bound_name": "svd"}
        point = {
            "study": "t",
            "workload": "w",
            "domain_size": n,
            "epsilon": 1.0,
            "seed": 0,
            "metric": "mse",
            "alpha": 0.01,
        }
        for name, a in exponents.items():
            if name == "rappor" and n > 16:
                rows.append({**point, **near, "mechanism": name, "status": "unavailable", "reason": "too large"})
                continue
            need = 3 * float(n) ** a * (changes.get(name, 1.0) if n == sizes[0] else 1.0)
            rows.append({**point, **near, "mechanism": name, "status": "ok", **dict.fromkeys(MEASURED, need)})
        rows.append({**point, **near, "mechanism": "lower-bound", "status": "bound"})
    return tables.from_rows(rows)


def test_slopes_of_powers_are_their_exponents() -> None:
    found = slopes(growth({"hadamard": 0.5, "fourier": -1.25, "rappor": 1.0})).set_index(["mechanism", "part"])
    for name, exponent in (("hadamard", 0.5), ("fourier", -1.25), ("lower-bound", 0.5)):
        for part in ("all", "upper-half"):
            row = found.loc[(name, part)]
            assert row["slope"] == pytest.approx(exponent, abs=1e-12)
            assert row["residual"] == pytest.approx(0.0, abs=1e-12)
    assert found.loc[("hadamard", "all"), ["sizes", "smallest_size", "largest_size"]].tolist() == [5, 8, 128]
    assert found.loc[("hadamard", "upper-half"), ["sizes", "smallest_size"]].tolist() == [3, 32]
    assert found.loc[("lower-bound", "all"), ["sizes", "smallest_size", "bound_name"]].tolist() == [4, 16, "svd"]


def test_slopes_are_least_squares_and_halves_differ() -> None:
    frame = growth({"hadamard": 0.5}, hadamard=7.0)
    found = slopes(frame).set_index(["mechanism", "part"])
    y = np.log(frame.loc[frame["mechanism"] == "hadamard", "sample_complexity"])
    coefficients, squares, *_ = np.polyfit(np.log(SIZES), y, 1, full=True)
    assert found.loc[("hadamard", "all"), "slope"] == pytest.approx(coefficients[0])
    assert found.loc[("hadamard", "all"), "residual"] == pytest.approx(math.sqrt(squares[0] / 5))
    assert found.loc[("hadamard", "all"), "slope"] < 0 < found.loc[("hadamard", "upper-half"), "slope"]


def test_too_few_sizes_have_a_reason_instead() -> None:
    found = slopes(growth({"hadamard": 0.5, "rappor": 1.0}, SIZES[:4])).set_index(["mechanism", "part"])
    rappor, upper = found.loc[("rappor", "all")], found.loc[("hadamard", "upper-half")]
    assert (rappor["status"], rappor["sizes"], rappor["largest_size"]) == ("too-few", 2, 16)
    assert "too large" in rappor["reason"]
    assert (upper["status"], upper["sizes"], upper["smallest_size"]) == ("too-few", 2, 32)
    none = found.loc[("rappor", "upper-half")]
    assert none[["sizes", "smallest_size", "largest_size"]].tolist() == [0, 0, 0]
    with pytest.raises(BadValue, match="at least 3 domain sizes"):
        slopes(growth({"hadamard": 0.5}, SIZES[:2]))


def test_slopes_over_seeds_are_of_the_medians(make_table: MakeTable) -> None:
    frame = make_table({"prefix": 1.0}, {"hadamard": 1.0}, (1.0,), SIZES, seeds=(0, 1, 5))
    outlier = (frame["seed"] == 5) & (frame["domain_size"] == 8)
    frame["sample_complexity"] = frame["sample_complexity"].where(~outlier, frame["sample_complexity"] * 99)
    found = slopes(frame).set_index(["mechanism", "part"])
    assert found.loc[("hadamard", "all"), "slope"] == pytest.approx(0.6)


# --- files


@pytest.mark.parametrize("make", [lambda t: improvement(t, "hadamard"), slopes], ids=["improvement", "slopes"])
def test_both_forms_are_written(make_table: MakeTable, tmp_path: Path, make: Callable[..., pd.DataFrame]) -> None:
    frame = make(make_table(epsilons=(1.0,), domain_sizes=SIZES))
    tables.write(frame, tmp_path / "t.csv", tmp_path / "t.tex")
    pd.testing.assert_frame_equal(tables.read_csv(tmp_path / "t.csv"), frame, check_exact=True)
    assert (tmp_path / "t.tex").read_text() == tables.latex(frame)
    content = (tmp_path / "t.csv").read_text()
    (tmp_path / "t.csv").write_text("\n".join(content.split("\n")[:-2]) + "\n")
    with pytest.raises(BadValue, match="have a row for every"):
        tables.read_csv(tmp_path / "t.csv")


@pytest.mark.parametrize(
    ("column", "cell", "says"),
    [
        ("improvement", "3.0", "competitor_sample_complexity over"),
        ("ratio_to_bound", "", "be a number where"),
        ("ratio_to_bound", "9.0", "sample_complexity over lower_bound"),
        ("competitor", "optimised", "be another mechanism"),
        ("competitor", "", "be another mechanism"),
        ("sample_complexity", "0.0", "be 'free'"),
        ("sample_complexity", "", "be at least 0"),
        ("bound_name", "", "name the bound"),
        ("status", "alone", "and empty elsewhere"),
        ("reason", "x", "be empty where"),
    ],
)
def test_edited_improvements_are_refused(
    compared: pd.DataFrame, tmp_path: Path, column: str, cell: str, says: str
) -> None:
    assert says in refusal(compared, tmp_path / "t.csv", column, cell)


@pytest.mark.parametrize(
    ("column", "cell", "says"),
    [
        ("slope", "", "be a number where"),
        ("residual", "-1.0", "at least 0"),
        ("part", "most", "be one of all"),
        ("part", "upper-half", "once"),
        ("sizes", "2", "too-few"),
        ("largest_size", "9", "leave room"),
        ("smallest_size", "0", "leave room"),
        ("reason", "x", "be empty where"),
    ],
)
def test_edited_slopes_are_refused(tmp_path: Path, column: str, cell: str, says: str) -> None:
    assert says in refusal(slopes(growth({"hadamard": 0.5})), tmp_path / "t.csv", column, cell)


def refusal(frame: pd.DataFrame, path: Path, column: str, cell: str) -> str:
    """How a table is refused whose second line was edited."""
    tables.write_csv(frame, path)
    edited(path, 2, column, cell)
    with pytest.raises(BadValue) as caught:
        tables.read_csv(path)
    return str(caught.value)


# --- LaTeX


def test_latex_of_improvements(compared: pd.DataFrame) -> None:
    [table] = printed(tables.latex(compared))
    assert [label for _, label in table.rows] == ["Prefix", "Total", "Mine", "All"]
    assert dict(table.rows["", "Prefix"]) == {
        "Least": "1.000",
        "Median": "1.500",
        "Largest": "2.000",
        "Points": "2",
        "Largest over bound": "2.000",
    }
    assert table.rows["", "Total"]["Least"] == "{$\\dagger$}"
    assert (table.rows["", "All"]["Least"], table.rows["", "All"]["Points"]) == ("0.2500", "3")


def test_latex_of_slopes() -> None:
    found = slopes(growth({"hadamard": 0.5, "fourier": -1.25, "rappor": 1.0}))
    needed, bounds = printed(tables.latex(found))
    assert {label: next(iter(cells.values())) for (_, label), cells in needed.rows.items()} == {
        "Hadamard (block)": "0.5000",
        "Fourier (all parities)": "-1.250",
        "RAPPOR": "{$\\dagger$}",
    }
    assert "a slope needs 3 (too large)" in needed.notes
    assert "lower bounds" in bounds.caption
    assert number(next(iter(next(iter(bounds.rows.values())).values()))) == 0.5
