"""Users for a root mean square error: the inversion against closed forms, choices, exact laws, rules, the figures."""

from __future__ import annotations

import math

import numpy as np
import pytest

from factormech.errors import BadValue, Unavailable
from factormech.mechanisms.central.moments import Estimate
from factormech.plots import registry as figures
from factormech.seeds import rng_for
from factormech.studies import pure_sample_complexity as kind
from factormech.studies.measures import pure_users
from factormech.studies.measures.pure_users import Needed, Point, Setup, inverted, told, tried_rows, users_for
from tests.figure_checks import assert_no_overlaps, said
from tests.oracles import parity_noise_square
from tests.studies import project, quick, refusals, rows_of

STUDIES = ("pure-sample-complexity", "pure-sample-complexity-types")


def curve(exponent: float, width: float = 0.0) -> list[Point]:
    """Errors 3·n^{−exponent} at powers of two, in intervals of this relative width."""
    errors = [(2**i, 3.0 * 2.0 ** (-exponent * i)) for i in range(14)]
    return [Point(n, Estimate(e, e * (1 - width), e * (1 + width)), 2, 1) for n, e in errors]


def needed(points: list[Point], alpha: float) -> Needed:
    found = inverted(points, alpha)
    assert isinstance(found, Needed), found
    return found


@pytest.mark.parametrize("exponent", [0.5, 1.0])
def test_powers_are_inverted_exactly_with_their_intervals(exponent: float) -> None:
    for alpha in (0.9, 0.3, 0.11):
        found = needed(curve(exponent, 0.1), alpha).users
        for end, factor in ((found.value, 1.0), (found.low, 0.9), (found.high, 1.1)):
            assert end == pytest.approx((3.0 * factor / alpha) ** (1 / exponent))


def test_noise_in_a_curve_does_not_turn_the_interval_round() -> None:
    """The error falls in n: a high end holds for more users, and a low end for fewer."""
    points = curve(1.0, 0.1)
    plain = needed(points, 0.1).users
    points[3] = Point(8, Estimate(0.2, 0.0, 0.9), 2, 1)  # a lucky draw that proves nothing from below
    found = needed(points, 0.1).users
    assert (found.low, found.high) == (plain.low, plain.high)
    assert found.low <= found.value <= found.high


def test_errors_that_are_not_reached_are_reasons_and_few_users_are_one() -> None:
    assert isinstance(inverted(curve(1.0), 1e-6), Unavailable)
    assert needed(curve(1.0), 5.0).users.value == 1.0
    with pytest.raises(BadValue, match="alpha"):
        inverted(curve(1.0), 0.0)


def test_rows_that_are_too_few_end_the_search_with_a_reason() -> None:
    Q = pure_users.queries_of("random-queries", 32, 8, 1.0, np.random.default_rng(1))
    one = Setup(Q, 1.0, 4, 2, (1,), lambda *stream: rng_for(0, "test", *stream))
    (found,) = users_for(one, "jl", [0.01])
    assert isinstance(found, Unavailable)
    assert "not reached" in found.reason
    assert int(found.reason.split(" by ")[1].split()[0]) < 2**12


def test_rows_are_all_powers_of_two_and_the_last() -> None:
    assert tried_rows(24, 128) == (1, 2, 4, 8, 16, 24)
    assert tried_rows(300, 128) == (1, 2, 4, 8, 16, 32, 64, 128)
    assert tried_rows(1, 128) == (1,)
    at = needed(curve(1.0), 0.5)
    assert told(at, (1, 2))["best_rows"] == "last"
    assert told(at, (1, 2, 4))["best_rows"] == "inside"
    assert told(at, (2,))["best_rows"] == "inside"


def setup(queries: int = 4, types: int = 16) -> Setup:
    Q = pure_users.queries_of("random-queries", types, queries, 1.0, np.random.default_rng(1))
    return Setup(Q, 1.0, 8, 3, tried_rows(queries, 128), lambda *stream: rng_for(0, "test", *stream))


def test_the_rule_of_theorem_1_2_is_jl_of_n_epsilon_rows_up_to_k_users() -> None:
    one = setup()
    for n, rows in ((1, 1), (2, 2), (3, 4), (4, 4)):
        found = pure_users._releases(one, pure_users.CHOICE, n)
        assert not isinstance(found, Unavailable)
        assert [ell for ell, _ in found] == [rows]
    assert pure_users._releases(one, pure_users.CHOICE, 5) is one.blocks("k-norm")


def test_noise_alone_needs_its_closed_form() -> None:
    """Laplace: √2·Δ₁/(εα), and all parities: (E‖u‖²)^½/α by the histogram."""
    from factormech.mechanisms.pure.bodies import body_of

    one = setup()
    (found,) = users_for(one, "laplace", [0.01])
    assert isinstance(found, Needed)
    assert found.users.value == pytest.approx(math.sqrt(2.0) * body_of(one.queries).diameters[0] / 0.01)
    rows = rows_of("pure-sample-complexity", {"mechanisms": ["k-norm"], "epsilon": 1.0},
                   family=("parities",), domain_size=(16,), accuracy=(10.0,))  # fmt: skip
    assert rows[0]["measured_users"] == math.ceil(math.sqrt(parity_noise_square(16, 1.0)) * 10.0)
    assert rows[0]["low"] == rows[0]["high"]


def test_a_projection_needs_no_more_users_than_its_noise() -> None:
    one = setup(3)
    alphas = [0.5, 0.05]
    for raw, projected in (("laplace", "laplace-projection"), ("k-norm", "k-norm-projection")):
        for before, after in zip(users_for(one, raw, alphas), users_for(one, projected, alphas), strict=True):
            assert isinstance(before, Needed)
            assert isinstance(after, Needed)
            assert after.users.low <= before.users.high


def test_one_query_is_laplace_noise_whatever_shapes_it() -> None:
    one = setup(1, 8)
    known = [users_for(one, name, [0.05])[0] for name in ("laplace", "k-norm", "split")]
    numbers = [found.users.value for found in known if isinstance(found, Needed)]
    assert numbers == pytest.approx([2.0 * math.sqrt(2.0) / 0.05] * 3)


@pytest.mark.slow
def test_the_table_keeps_its_order_and_its_bound() -> None:
    frame = quick("pure-sample-complexity")
    of_pure = frame[~frame["mechanism"].str.startswith("shaped")]
    assert (of_pure["high"] + 1 >= of_pure["certified_users"]).all()
    for _, rows in frame.groupby(["family", "mechanism"]):
        assert rows.sort_values("accuracy")["measured_users"].is_monotonic_increasing
    row = {"mechanism": "jl", "low": 3.5, "measured_users": 5.0, "high": 6.0, "certified_users": 7}
    assert kind.check(row) is None
    assert kind.check(row | {"certified_users": 8}) is not None
    assert kind.check(row | {"certified_users": 8, "mechanism": "shaped-zcdp"}) is None  # no pure privacy, no packing
    assert kind.check(row | {"low": 5.5}) is not None


def test_types_that_are_no_power_of_two_are_refused() -> None:
    text = refusals("pure-sample-complexity", family=("parities",), domain_size=(12,), accuracy=(2.0,))
    assert "grid.domain_size[0]" in text[0]


@pytest.mark.slow
@pytest.mark.parametrize("name", STUDIES)
def test_the_figures_can_be_read(name: str) -> None:
    study = project().quick_studies[f"quick/{name}"]
    figure = figures.draw(study.kind, quick(name))
    assert_no_overlaps(figure)
    assert "worst data found" in said(study.title, study.caption, quick(name))
