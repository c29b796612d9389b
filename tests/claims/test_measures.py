"""What claims are measured by, on tables whose answers are known."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pandas as pd
import pytest

from factormech.claims.measures import Measured, check, measure
from factormech.claims.selection import NotEvaluated, Tables, evaluate, names_in
from factormech.errors import BadValue, UnknownName

SIZES = (4, 16, 64, 256)
TABLE = pd.DataFrame(
    [
        {"mechanism": mechanism, "n": n, "users": factor * n**power, "low": 0.9 * factor * n**power, "note": "x"}
        for mechanism, factor, power in (("a", 10.0, 0.5), ("b", 2.0, 1.0), ("c", 40.0, 0.0))
        for n in SIZES
    ]
)
A, B = ({"where": {"mechanism": name}, "value": "users"} for name in "ab")


def found(name: str, table: pd.DataFrame = TABLE, **settings: Any) -> Measured:
    return measure(Tables(lambda _: table, "study"), name, {"points": 1, **settings})


def test_expressions() -> None:
    columns = {"x": np.array([1.0, 4.0]), "y": np.array([2.0, 2.0])}
    assert names_in("2 * sqrt(x) - y ** -1 / log(y)") == {"x", "y"}
    np.testing.assert_allclose(evaluate("2 * sqrt(x) - y ** 2", columns, 2), [-2.0, 0.0])
    np.testing.assert_allclose(evaluate("comb(x + 1, y)", columns, 2), [1.0, 10.0])
    assert evaluate("3", columns, 2).tolist() == [3.0, 3.0]
    for bad in ("x +", "x.real", "open(x)", "x if y else 1", "'x'", "True", "[x]", "x < y", "sqrt(x, key=1)"):
        with pytest.raises(BadValue, match="expression"):
            names_in(bad)
    with pytest.raises(UnknownName, match="z"):
        evaluate("z", columns, 2)


def test_a_number_and_its_ends() -> None:
    at = {"where": {"mechanism": "b", "n": 64}, "value": "users", "low": "low", "high": "users + 1"}
    assert found("value", of=at) == Measured(128.0, pytest.approx(115.2), 129.0, 1, "128 [115.2, 129]")
    assert found("value", of=B, per=["n"], over="largest", points=4).value == 512
    assert found("value", of=B, per=["n"], over="least").words == "8 (n 4), the least of 4"
    assert found("value", of=B, per=["n"], over="median").value == 80
    assert found("value", of=B, per=["n"], over="spread").value == 64
    picked = {"value": "users", "where": {"n": {"from": 16, "to": 64}}, "pick": "least"}
    assert found("value", of=picked, per=["n"], over="mean").value == (32 + 40) / 2


def test_ratios() -> None:
    assert found("ratio", left=B, right=A, per=["n"], over="largest").value == pytest.approx(3.2)
    coarse = {"where": {"mechanism": "b", "n": 4}, "value": "users", "per": []}
    assert found("ratio", left=coarse, right=B, per=["n"], over="least").value == 1 / 64
    # The ends of a ratio are those of the worst and the best case.
    wide = {**B, "low": "0.5 * users", "high": "2 * users"}
    both = found("ratio", left=wide, right=wide, per=["n"], over="median")
    assert (both.low, both.value, both.high) == (0.25, 1.0, 4.0)
    assert found("deviation", left=A, right={**A, "value": "10 * sqrt(n)"}, per=["n"]).value < 1e-12
    assert found("deviation", left=A, right=2.0, per=["n"], points=4).value == pytest.approx(79)
    open_ = found("deviation", left=wide, right=B, per=["n"])
    assert (open_.low, open_.high) == (0.0, 1.0)
    with pytest.raises(NotEvaluated, match="not positive"):
        found("ratio", left=A, right={**A, "value": "users - 20"}, per=["n"])


def test_inequalities_count_what_is_sure_and_what_may_be() -> None:
    less = found("holds", left=B, relation="<=", right=A, per=["n"], points=4)
    assert (less.low, less.value, less.high) == (0.5, 0.5, 0.5)
    assert less.words.startswith("at 2 of 4 points; furthest: 512 <= 160 (n 256)")
    assert found("holds", left=B, relation=">=", right=A, per=["n"]).value == 0.5
    wide = {**B, "low": "0.5 * users", "high": "2 * users"}
    open_ = found("holds", left=wide, relation="<=", right=A, per=["n"])
    assert (open_.low, open_.value, open_.high) == (0.25, 0.5, 0.75)
    assert "at 1 of 4 points, 2 open" in open_.words
    equal = {"left": B, "right": {**B, "value": "users * (1 - 1.0e-6)"}, "per": ["n"]}
    assert found("holds", relation="<=", **equal).value == 0
    assert found("holds", relation="<=", slack=1e-5, **equal).value == 1
    assert found("holds", left=B, relation="<", right=B, per=["n"]).value == 0


def test_growth() -> None:
    half = found("exponent", of=A, x="n", per=["n"])
    assert half.low == pytest.approx(0.5)
    assert half.high == pytest.approx(0.5)
    assert half.points == 4
    every = {"of": {"value": "users"}, "x": "n", "per": ["mechanism", "n"], "within": ["mechanism"]}
    assert found("exponent", over="largest", **every).value == pytest.approx(1)
    assert found("exponent", over="median", **every).value == pytest.approx(0.5)
    relative = {"value": "users", "where": {"mechanism": "b"}, "by": A}
    assert found("exponent", of=relative, x="n", per=["n"]).value == pytest.approx(0.5)
    assert found("slope", of={**B, "value": "3 * log(n) + 7"}, x="log(n)", per=["n"]).value == pytest.approx(3)
    # Half the width is two standard errors, those of the textbook.
    noisy = TABLE.assign(users=TABLE["users"] * np.tile([1.0, 1.5, 0.8, 1.1], 3))
    fit = found("exponent", noisy, of=A, x="n", per=["n"])
    x, y = np.log(SIZES), np.log(noisy["users"][:4])
    (coefficient, _), covariance = np.polyfit(x, y, 1, cov=True)
    assert fit.value == pytest.approx(coefficient)
    assert (fit.high - fit.low) / 4 == pytest.approx(math.sqrt(covariance[0, 0]))


def test_order() -> None:
    among = {"of": {"value": "users"}, "among": "mechanism", "per": ["n"]}
    assert found("leads", entry="b", **among).value == 0.5
    assert found("leads", entry="c", which="largest", **among).value == 0.25  # the first of equal ones
    assert found("leads", entry="b", **among).words == "least at 2 of 4 (b 2, c 2)"
    assert found("steps", of=A, x="n", direction="up", per=["n"]).value == 1
    assert found("steps", of=A, x="n", direction="down", per=["n"]).value == 0
    constant = {"of": {"value": "users"}, "x": "n", "per": ["mechanism", "n"], "within": ["mechanism"]}
    assert found("steps", direction="down", **constant).value == pytest.approx(3 / 9)


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"of": A, "per": ["n"], "over": "least", "points": 5}, "4 points with numbers, and the claim is about 5"),
        ({"of": {"where": {"n": [4, 5]}, "value": "users"}}, "lacks n = 5"),
        ({"of": {"where": {"size": 4}, "value": "users"}}, "no column size"),
        ({"of": {"value": "error"}}, "another kind"),
        ({"of": A}, "several rows"),
        ({"of": A, "per": ["n"]}, "4 points where the claim is about one"),
        ({"of": {"where": {"n": {"from": 1000}}, "value": "users"}}, "no row for n"),
    ],
)
def test_what_a_table_does_not_have_is_refused(settings: dict[str, Any], words: str) -> None:
    with pytest.raises(NotEvaluated, match=words):
        found("value", **settings)


def test_more_that_is_refused() -> None:
    with pytest.raises(NotEvaluated, match="three finite points"):
        found("exponent", of={"where": {"mechanism": "a", "n": [4, 16]}, "value": "users"}, x="n", per=["n"])
    with pytest.raises(NotEvaluated, match="no number for mechanism = d"):
        found("leads", of={"value": "users"}, among="mechanism", entry="d", per=["n"])
    with pytest.raises(NotEvaluated, match="no two points"):
        found("steps", of={"where": {"n": 4, "mechanism": "a"}, "value": "users"}, x="n", direction="up", per=["n"])
    standins = pd.DataFrame({"data": ["hepth-standin", "medcost-standin"], "users": [1.0, 2.0]})
    with pytest.raises(NotEvaluated, match="stand-ins"):
        found("value", standins, of={"where": {"data": "hepth"}, "value": "users"})
    with pytest.raises(UnknownName, match="measure = 'means'"):
        check("means")


def test_rows_without_a_number_are_no_points() -> None:
    holed = TABLE.assign(users=TABLE["users"].where(TABLE["n"] != 16))
    assert found("value", holed, of=A, per=["n"], over="largest").points == 3
    with pytest.raises(NotEvaluated, match="3 points"):
        found("value", holed, of=A, per=["n"], over="largest", points=4)


def test_infinite_orders_are_written_as_texts() -> None:
    orders = pd.DataFrame({"p": [2.0, math.inf], "error": [1.0, 3.0]})
    assert found("value", orders, of={"where": {"p": "inf"}, "value": "error"}).value == 3
