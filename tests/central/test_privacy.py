"""Gaussian noise is as private as it says: the profile by quadrature, its enclosure, calibrations, what is refused."""

from __future__ import annotations

import dataclasses
import itertools
import math

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.stats import norm

from factormech.errors import BadValue, UnknownName
from factormech.mechanisms.central.factorization import of_matrices
from factormech.mechanisms.central.mechanism import CentralMechanism, from_factorization
from factormech.mechanisms.central.registry import build
from factormech.privacy.gaussian import (
    RELATION,
    check_private,
    gaussian_delta,
    gaussian_delta_bounds,
    gaussian_noise_multiplier,
    standard_deviation,
)
from factormech.workloads.registry import create


@pytest.mark.parametrize("epsilon", [0.01, 0.5, 1.0, 4.0])
@pytest.mark.parametrize("sigma", [0.3, 1.0, 4.0])
@pytest.mark.parametrize("sensitivity", [0.7, 1.0])
def test_delta_is_the_integral_of_the_densities(sigma: float, sensitivity: float, epsilon: float) -> None:
    """∫ max(p(y) − e^ε p'(y), 0) dy of the two releases, over the half line where the ratio exceeds e^ε."""
    edge = sensitivity / 2 - epsilon * sigma**2 / sensitivity

    def excess(y: float) -> float:
        # p at 0, p' at the sensitivity; the loss is (Δ² − 2Δy)/2σ².
        loss = (sensitivity**2 - 2 * sensitivity * y) / (2 * sigma**2)
        return float(norm.pdf(y, 0, sigma)) * -math.expm1(epsilon - loss)

    centre = min(edge, 0.0)
    found = quad(excess, centre - 40 * sigma, edge, points=[centre - s * sigma for s in (0.5, 2, 5, 9)], limit=400)[0]
    low, high = gaussian_delta_bounds(sigma, sensitivity, epsilon)
    assert found == pytest.approx(low, rel=1e-8, abs=1e-12)
    assert low <= high <= low * (1 + 1e-15)


@pytest.mark.parametrize("delta", [1e-300, 1e-12, 1e-6, 0.3, 0.99])
@pytest.mark.parametrize("epsilon", [1e-8, 0.1, 1.0, 30.0, 300.0])
def test_the_enclosure_holds_the_computed_profile(epsilon: float, delta: float) -> None:
    s = gaussian_noise_multiplier(epsilon, delta)
    low, high = gaussian_delta_bounds(s, 1.0, epsilon)
    assert 0 < low <= high <= delta
    assert gaussian_delta(s, epsilon) == pytest.approx(low, rel=1e-11)
    # A scale shared by noise and sensitivity changes nothing, to the last bit where it is a power of two.
    assert gaussian_delta_bounds(8 * s, 8.0, epsilon) == (low, high)


def test_the_two_mills_ratios_meet() -> None:
    """The series below 4 and the continued fraction above give one smooth profile: δ falls as σ grows, across 4."""
    sigmas = np.linspace(8.02, 8.06, 41)  # −b = 1/(2s) + εs passes 4
    deltas = [gaussian_delta_bounds(float(s), 1.0, 0.49) for s in sigmas]
    assert all(one[0] > other[1] for one, other in itertools.pairwise(deltas))
    slopes = np.diff([math.log(low) for low, _ in deltas])
    assert np.ptp(np.diff(slopes)) < 1e-7


def test_analytic_noise_is_the_least_and_classical_is_more() -> None:
    analytic = standard_deviation(2.0, 0.5, 1e-6)
    assert analytic == pytest.approx(2 * 8.0576, abs=1e-3)
    classical = standard_deviation(2.0, 0.5, 1e-6, "classical")
    assert classical == pytest.approx(2 * math.sqrt(2 * math.log(1.25e6)) / 0.5, rel=1e-12)
    assert classical > analytic
    assert check_private(analytic, 2.0, 0.5, 1e-6) <= 1e-6
    with pytest.raises(BadValue, match="sigma"):
        check_private(analytic * (1 - 1e-11), 2.0, 0.5, 1e-6)


@pytest.mark.parametrize("epsilon", [1.0, 2.5])
def test_classical_calibration_is_refused_from_one_on(epsilon: float) -> None:
    with pytest.raises(BadValue, match=r"epsilon .*below 1 for the classical"):
        standard_deviation(1.0, epsilon, 1e-6, "classical")


@pytest.mark.parametrize("delta", [0.0, 1.0, -1e-3, 2.0, math.nan])
def test_delta_outside_the_unit_interval_is_refused(delta: float) -> None:
    with pytest.raises(BadValue, match="delta"):
        build("gaussian-output", create("prefix", 4), 1.0, delta)


def test_unknown_calibration_and_bad_sensitivity_are_refused() -> None:
    with pytest.raises(UnknownName, match="analytic"):
        standard_deviation(1.0, 1.0, 1e-6, "analytical")
    with pytest.raises(BadValue, match="sensitivity"):
        standard_deviation(math.inf, 1.0, 1e-6)
    assert standard_deviation(0.0, 1.0, 1e-6) == 0.0


def test_verification_is_of_the_floats_in_use() -> None:
    mechanism = build("gamma-2", create("3-way-marginals", 16), 1.0, 1e-6)
    assert isinstance(mechanism, CentralMechanism)
    proof = mechanism.verify()
    assert 0.999e-6 < proof.delta_found <= proof.delta == 1e-6
    assert proof.relation == mechanism.relation == RELATION
    with pytest.raises(BadValue, match="sigma"):
        dataclasses.replace(mechanism, sigma=mechanism.sigma * 0.999).verify()
    with pytest.raises(BadValue, match="9e-07"):
        dataclasses.replace(mechanism, delta=0.9e-6).verify()
    shrunk = dataclasses.replace(mechanism.factorization, sensitivity=mechanism.sensitivity * 0.999)
    with pytest.raises(BadValue, match="sensitivity"):
        dataclasses.replace(mechanism, factorization=shrunk).verify()


def test_a_workload_of_zeros_needs_no_noise() -> None:
    from factormech.workloads.matrix import MatrixWorkload

    zero = MatrixWorkload("zero", np.zeros((2, 3)))
    mechanism = from_factorization("given", of_matrices(zero, np.zeros((2, 1)), np.zeros((1, 3))), 1.0, 1e-6)
    assert mechanism.sigma == 0.0
    assert mechanism.verify().delta_found == 0.0
    assert mechanism.exact_error(2.0).total == 0.0
    assert mechanism.simulate(np.ones(3)).tolist() == [0.0, 0.0]


def test_a_small_sensitivity_is_verified_as_well() -> None:
    """Queries of twentieths: the noise is small, and still has to be proved."""
    from factormech.workloads.matrix import MatrixWorkload

    eye = np.eye(3)
    given = of_matrices(MatrixWorkload("twentieths", 0.05 * eye), eye, 0.05 * eye)
    mechanism = from_factorization("given", given, 1.0, 1e-6)
    assert 0.999e-6 < mechanism.verify().delta_found <= 1e-6
    with pytest.raises(BadValue, match="sigma"):
        dataclasses.replace(mechanism, sigma=0.999 * mechanism.sigma).verify()
