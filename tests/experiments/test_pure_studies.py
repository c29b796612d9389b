"""The studies of pure privacy: numbers against closed forms, what is refused, figures without overlaps."""

from __future__ import annotations

import itertools
import math
from typing import Any

import numpy as np
import pytest

from factormech.bounds.packing.marginals import full_parity
from factormech.mechanisms.pure.parity import parity_errors
from factormech.plots import registry as figures
from factormech.studies import registry
from factormech.studies.asked import Asked
from factormech.studies.measures.pure import laplace_norm, parity_laplace_norm, sparsities_to, users_within
from tests.figure_checks import assert_no_overlaps, said
from tests.oracles import parity_noise_square
from tests.studies import project, quick
from tests.tiers import every

pytestmark = pytest.mark.heavy

STUDIES = ("full-parity", "full-parity-users", "pure-random-queries", "pure-constants")


def asked(kind: str, settings: dict[str, Any] | None = None, **grid: Any) -> Asked:
    declared = registry.experiment(kind)
    defaults = {setting.name: setting.default for setting in declared.settings}
    return Asked(grid, defaults | (settings or {}), seed=5)


def rows_of(kind: str, settings: dict[str, Any] | None = None, **grid: Any) -> list[dict[str, Any]]:
    return [dict(row) for row in registry.experiment(kind).measure(asked(kind, settings, **grid))]


def refusals(kind: str, settings: dict[str, Any] | None = None, **grid: Any) -> list[str]:
    return [str(error) for error in registry.experiment(kind).refuse(asked(kind, settings, **grid))]


@pytest.mark.slow
@pytest.mark.parametrize("name", every(3, reversed(STUDIES)))
def test_figures_and_captions(name: str) -> None:
    frame = quick(name)
    kind = registry.experiment(project().studies[name].kind)
    assert_no_overlaps(figures.draw(kind.kind, frame))
    told = said("Title", "Words.", frame)
    assert told.startswith("Title: ")
    assert " Words. " in told
    assert "ε-DP, one of N users replaced, N fixed" in told
    assert "worst case" not in told
    assert "falls short" in told
    assert "nan" not in told


# Laplace noise.


def test_norms_of_laplace_variables() -> None:
    """E|X| = 1; in two dimensions by quadrature in the angle, as ‖X‖ = r has density r·e^{−r(|cos| + |sin|)}/4."""
    angle = (np.arange(200000) + 0.5) * (math.pi / 2 / 200000)
    two = float(np.mean(2.0 / (np.cos(angle) + np.sin(angle)) ** 3)) * math.pi / 2
    assert laplace_norm(1) == pytest.approx(1.0, rel=1e-12)
    assert laplace_norm(2) == pytest.approx(two, rel=1e-9)


def test_norms_of_many_laplace_variables() -> None:
    """E S = 2m and Var S = 20m: E√S = √(2m)·(1 − 20m/(8(2m)²) + O(m⁻²))."""
    m = 65535
    assert laplace_norm(m) == pytest.approx(math.sqrt(2.0 * m) * (1.0 - 0.625 / m), rel=1e-8)


def test_laplace_noise_on_parities_against_simulation() -> None:
    N, rng = 8, np.random.default_rng(3)
    H = np.array([[(-1.0) ** bin(i & j).count("1") for j in range(N)] for i in range(N)])
    spread = max(np.abs(H[:, a] - H[:, b]).sum() for a, b in itertools.combinations(range(N), 2))
    moving = np.ptp(H, axis=1) > 0
    Z = rng.laplace(scale=spread, size=(200000, int(moving.sum())))
    norms = np.linalg.norm(Z, axis=1) / math.sqrt(N)
    assert parity_laplace_norm(N) == pytest.approx(norms.mean(), abs=5 * norms.std() / math.sqrt(len(norms)))


# Full parity.


def test_full_parity_against_formulas() -> None:
    rows = rows_of("full-parity", {"epsilon": 0.5, "trials": 400}, domain_size=(16,), users_times_epsilon=(4.0, 64.0))
    assert [row["users"] for row in rows[::3]] == [8, 128]
    for row in rows:
        assert row["lower_bound"] == full_parity(16, row["users"], 0.5).value
        assert row["low"] <= row["l2_error"] <= row["high"]
    for laplace, raw, projected in zip(rows[::3], rows[1::3], rows[2::3], strict=True):
        assert laplace["l2_error"] == pytest.approx(parity_laplace_norm(16) / laplace["users_times_epsilon"])
        # A mean of norms is below the root of the mean square, here by little.
        root = math.sqrt(parity_noise_square(16, 0.5)) / raw["users"]
        assert 0.85 * root < raw["l2_error"] < root
        assert projected["low"] <= raw["l2_error"] * (1 + 1e-12)
        assert projected["sparsity"] <= min(16, projected["users"])
        assert "sparsity" not in raw


def test_worst_data_spread_as_persons_grow() -> None:
    frame = quick("full-parity")
    for _, rows in frame[frame["mechanism"] == "k-norm-projection"].groupby("domain_size"):
        types = rows.sort_values("users_times_epsilon")["sparsity"].to_numpy(dtype=float)
        assert types[0] == 1.0
        assert types[-1] >= 128.0


def test_what_studies_refuse() -> None:
    assert not refusals("full-parity", domain_size=(16,), users_times_epsilon=(4.0,))
    assert "power of two" in refusals("full-parity", domain_size=(12,), users_times_epsilon=(4.0,))[0]
    assert "whole number of users" in refusals("full-parity", domain_size=(16,), users_times_epsilon=(0.5,))[0]
    assert (
        "whole number of users"
        in refusals("full-parity", {"epsilon": 0.3}, domain_size=(16,), users_times_epsilon=(1.0,))[0]
    )
    assert not refusals("full-parity", {"epsilon": 0.1}, domain_size=(16,), users_times_epsilon=(0.3,))
    assert "power of two" in refusals("full-parity-users", domain_size=(10,), accuracy=(4.0,))[0]
    assert "at most 1024" in refusals("pure-random-queries", shape=("2000x4",), users_times_epsilon=(4.0,))[0]
    check = registry.experiment("full-parity").check
    row = {"l2_error": 1.0, "low": 0.9, "high": 1.1, "lower_bound": 1.05}
    assert check(row) is None
    assert check(row | {"lower_bound": 1.2}) is not None
    assert check(row | {"l2_error": 0.8}) is not None


def test_sparsities_are_those_of_types_and_persons() -> None:
    assert sparsities_to(16, 5) == [1, 2, 4]
    assert sparsities_to(4, 100) == [1, 2, 4]
    assert sparsities_to(4, 1) == [1]


# Users.


@pytest.mark.parametrize("alpha", [2.0, 0.5, 0.013, 0.0007])
def test_users_are_the_least_up_to_the_precision(alpha: float) -> None:
    users, failed = users_within(lambda n: 1.0 / n, alpha)
    assert 1.0 / users <= alpha
    assert failed == 0 or 1.0 / failed > alpha
    assert users - failed <= max(1, 0.01 * users)


def test_users_have_the_error_asked_for() -> None:
    rows = rows_of("full-parity-users", {"trials": 30}, domain_size=(64,), accuracy=(16.0, 4.0))
    assert [row["accuracy"] for row in rows[:2]] == [4.0, 16.0]
    for row in rows:
        assert row["measured_users"] >= row["certified_users"] >= 1
        if row["mechanism"] == "laplace":
            assert row["measured_users"] == math.ceil(parity_laplace_norm(64) * row["accuracy"])
        if row["mechanism"] == "k-norm-projection":
            n, rng = row["measured_users"], np.random.default_rng(1)
            again = parity_errors(64, 1.0, [n], sparsities_to(64, n), rng, 300).worst(0)[1].value
            assert again == pytest.approx(row["alpha"], rel=0.1)


def test_slopes_of_noise_and_projection() -> None:
    frame = quick("full-parity-users")
    slopes = {name: rows["local_slope"].to_numpy(dtype=float) for name, rows in frame.groupby("mechanism")}
    assert slopes["laplace"] == pytest.approx(1.0, abs=0.02)
    assert slopes["k-norm"] == pytest.approx(1.0, abs=0.05)
    assert np.all((slopes["k-norm-projection"] > 1.1) & (slopes["k-norm-projection"] < 2.0))


# Random queries.


@pytest.mark.slow
def test_random_queries_have_every_mechanism_and_row() -> None:
    frame = quick("pure-random-queries")
    assert set(frame["jl_rows"]) == {0, 2, 8, 16}
    jl = frame[frame["mechanism"] == "jl"]
    assert (jl.groupby("users_times_epsilon")["is_best"].sum() == 1).all()
    assert frame["l2_error"].notna().all()
    for _, rows in frame[frame["mechanism"].isin(["laplace", "k-norm", "recursive-full"])].groupby("mechanism"):
        scaled = (rows["l2_error"] * rows["users_times_epsilon"]).to_numpy(dtype=float)
        assert scaled == pytest.approx(scaled[0])
    few = frame[frame["users_times_epsilon"] == 4.0].set_index("mechanism")["l2_error"]
    assert few["k-norm-projection"] < few["k-norm"]


def test_bodies_too_large_for_chains_give_reasons() -> None:
    settings = {"mechanisms": ["k-norm", "k-norm-projection", "laplace"]}
    rows = rows_of("pure-random-queries", settings, shape=("161x180",), users_times_epsilon=(4.0,))
    for row in rows[:2]:
        assert "at most 160 dimensions" in row["reason"]
        assert "l2_error" not in row
    assert rows[2]["l2_error"] > rows[2]["lower_bound"]


def test_exact_bodies_against_closed_forms() -> None:
    """One query of signs: K-norm, ball and Laplace noise are all Laplace of scale 2/ε, of mean size 2/(nε)."""
    settings = {"mechanisms": ["laplace", "k-norm", "recursive-full"]}
    for row in rows_of("pure-random-queries", settings, shape=("1x64",), users_times_epsilon=(8.0,)):
        assert row["l2_error"] == pytest.approx(2.0 / 8.0, rel=0.1 if row["mechanism"] == "recursive-full" else 1e-9)


# Constants.


def test_constants_are_errors_over_twice_the_width() -> None:
    """Two queries that are all four corners: B is a square of half-side 2, and w(K) = E|G₁| + E|G₂| = 2√(2/π)."""
    rows = rows_of("pure-constants", {"draws": 24}, queries=(2,), domain_size=(64,), users_times_epsilon=(16.0,))
    raw, projected = rows
    assert raw["width"] == pytest.approx(2.0 * math.sqrt(2.0 / math.pi), rel=0.03)
    # E‖Z‖ = 3·E‖U‖, U uniform in the square of half-side 2: E‖U‖ = 2·(√2 + ln(1 + √2))/3.
    exact = 2.0 * (math.sqrt(2.0) + math.log(1.0 + math.sqrt(2.0))) / math.sqrt(2.0) / 16.0
    assert raw["low"] <= exact <= raw["high"]
    assert raw["error_constant"] == pytest.approx(raw["l2_error"] * 16.0 / (2.0 * raw["width"]))
    assert projected["low"] < raw["high"]


def test_the_ink_of_cells_has_contrast() -> None:
    from factormech.plots.cells import ink

    assert (ink((1.0, 1.0, 1.0)), ink((0.0, 0.0, 0.2))) == ("#000000", "#FFFFFF")
    assert (ink((0.0, 0.447, 0.698)), ink((0.337, 0.706, 0.914))) == ("#FFFFFF", "#000000")  # the blue and the sky
