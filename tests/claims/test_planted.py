"""An error of 20 % in the main quantity of a study turns a verdict; the studies where none turns are named."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from factormech.claims.ledger import Claim, Ledger, files_in, read
from factormech.claims.verdicts import Folder, judge
from factormech.config.yaml_file import read_yaml

pytestmark = pytest.mark.heavy

ROOT = Path(__file__).resolve().parents[2]

# The main quantity of each kind of study: what its figure shows, with the ends of its interval.
MEASURED = ("low", "high", "order_p_error", "rms_error", "l2_error", "frobenius_error", "correlation_error")
QUANTITY = {
    "attribute-norms": ("norm_value", "lower", "upper"),
    "conjunction-separation": ("needed_users",),
    "marginals-growth": ("norm_value", "lower", "upper"),
    "marginals-users": ("needed_users", "measured_error", "measured_low", "measured_high"),
    "masked-parities": ("success", "success_low", "success_high"),
    "agnostic-learning": ("excess", "low", "high"),
    "central-bounds": ("total_error", "ratio_to_bound"),
    "central-errors": MEASURED,
    "central-prefix": MEASURED,
    "channel-information": ("lower", "upper", "share_of_limit"),
    "class-norms": ("norm_value", "lower", "upper"),
    "coarse-jl": MEASURED,
    "consistency": ("measured_error", "ratio_to_unprocessed", "ratio_low", "ratio_high"),
    "correlational-queries": MEASURED,
    "correlational-success": ("success", "low", "high"),
    "data-dependent": ("sample_complexity",),
    "disjointness": ("share", "low", "high"),
    "distinguishing-advantage": ("advantage", "low", "high"),
    "few-users": MEASURED,
    "every-protocol": ("ratio_to_bound",),
    "full-parity": MEASURED,
    "full-parity-users": ("measured_users",),
    "gaussian-calibration": ("sigma", "ratio_to_analytic", "spent_delta"),
    "hard-pairs": ("first_probability", "second_probability"),
    "initialisation": ("worst_variance",),
    "jl-distortion": ("ratio_to_width", "low", "high"),
    "learning-users": ("needed_users", "measured_users"),
    "local-approximation": ("predicted_users", "ratio_to_least"),
    "local-error": ("measured_error", "measured_low", "measured_high"),
    "local-release": ("predicted_drawn",),
    "noise-floor": ("least_noise", "least_noise_upper"),
    "norms": ("lower", "upper"),
    "optimality-gap": ("worst_variance",),
    "pan-private": ("mean_users",),
    "polytope-width": ("width_lower", "width_upper"),
    "prefix-factorizations": MEASURED,
    "published-bounds": ("scaled_norm_lower", "scaled_norm_upper", "total_error", "lower_bound", "ratio_to_bound"),
    "pure-constants": ("l2_error", "low", "high", "error_constant"),
    "pure-covariance": MEASURED,
    "pure-covariance-users": ("measured_users", "low", "high"),
    "pure-marginals": MEASURED,
    "pure-random-queries": MEASURED,
    "pure-sample-complexity": ("measured_users", "low", "high"),
    "pure-skew": MEASURED,
    "query-complexity": ("most_queries", "success", "success_low", "success_high"),
    "realizable-learning": ("loss", "low", "high"),
    "recursion-depths": MEASURED,
    "refutation": MEASURED,
    "sample-complexity": ("sample_complexity",),
    "selection": ("needed_users", "low", "high", "scaled_users", "scaled_low", "scaled_high"),
    "selection-success": ("success", "low", "high"),
    "sensitivity-polytope": ("gamma_2",),
    "simulated-collection": ("measured_error", "ratio_to_exact"),
    "sq-dimension": ("sq_dimension", "upper"),
    "timing": ("seconds",),
}
SERIES = (
    *("mechanism", "factorization", "norm", "quantity", "shown", "learner", "refuter", "protocol", "task", "model"),
    *(
        "data",
        "algorithm",
        "constant",
        "matrix",
        "split",
        "depth",
        "processing",
        "calibration",
        "quantity",
        "directions",
    ),
)
AXES = (
    *(
        "domain_size",
        "size",
        "class_size",
        "users",
        "users_times_epsilon",
        "coordinates",
        "queries",
        "queries_asked",
        "jl_rows",
        "epsilon",
        "row_factor",
    ),
    *("flips", "skew", "accuracy"),
)

# Studies in which no verdict turns, and why.
UNTURNED = {
    "mckenna2020-figure-3c": "seconds of one machine: growth over a factor of eight allows for 20 %",
    "pan-private": "users are queries that were counted, times users per query; the bounds on them are far below",
}


def planted(frame: pd.DataFrame, columns: tuple[str, ...]) -> Iterator[tuple[str, pd.DataFrame]]:
    """The table with 20 % more or less everywhere, in one series, or in the larger half of an axis."""
    places = [("everywhere", pd.Series(True, index=frame.index))]
    for column in AXES:
        if column in frame and frame[column].dtype.kind in "if" and frame[column].nunique() > 2:
            places.append((f"large {column}", frame[column] > frame[column].median()))
    for column in SERIES:
        if column in frame and len(frame[column].unique()) > 1:
            places += [(f"{column} {value}", frame[column] == value) for value in reversed(frame[column].unique())]
    there = [column for column in columns if column in frame]
    for place, rows in places:
        for factor in (1.2, 1 / 1.2):
            changed = frame[there].astype(float).where(~rows, frame[there].astype(float) * factor)
            yield f"{factor:.2g} {place}", frame.assign(**{column: changed[column] for column in there})


def turned(study: str, claims: list[Claim], columns: tuple[str, ...], gallery: Folder) -> str:
    """The first plant that turns a verdict, and the claim; empty if none does."""
    before = {claim.id: verdict(claim, gallery) for claim in claims}
    for place, frame in planted(gallery.frame(study), columns):
        folder = Folder(ROOT)
        folder.frame = lambda name, new=frame: new if name == study else gallery.frame(name)  # type: ignore[assignment,misc]
        for claim in claims:
            if verdict(claim, folder) != before[claim.id]:
                return f"{place}: {claim.id}"
    return ""


def verdict(claim: Claim, folder: Folder) -> str:
    return judge(Ledger((claim,)), folder)[0].verdict


@pytest.fixture(scope="module")
def studies() -> dict[str, Any]:
    return dict(read_yaml(ROOT / "config.yaml")["studies"])


@pytest.fixture(scope="module")
def ledger() -> Ledger:
    return read(files_in(ROOT / "studies"), ROOT / "workflow/schemas/claims.schema.yaml")


def test_every_study_tests_some_claim_and_its_kind_has_a_main_quantity(ledger: Ledger, studies: dict[str, Any]) -> None:
    assert set(ledger.studies()) == set(studies)
    assert {study["kind"] for study in studies.values()} <= set(QUANTITY)
    assert set(UNTURNED) <= set(studies)


def quiet(names: Iterable[str], ledger: Ledger, studies: dict[str, Any]) -> set[str]:
    """The studies among these in which no planted error turns a verdict."""
    gallery = Folder(ROOT / "docs/gallery")
    claims = {study: [claim for claim in ledger.claims if study in claim.studies] for study in names}
    return {s for s in claims if not turned(s, claims[s], QUANTITY[studies[s]["kind"]], gallery)}


def test_a_planted_error_turns_a_verdict(ledger: Ledger, studies: dict[str, Any]) -> None:
    """In every sixth study; where none turns, all plants are tried, which the slow test does."""
    assert quiet([study for study in ledger.studies() if study not in UNTURNED][::6], ledger, studies) == set()


@pytest.mark.slow
def test_a_planted_error_turns_a_verdict_in_every_study_but_those_named(
    ledger: Ledger, studies: dict[str, Any]
) -> None:
    assert quiet(ledger.studies(), ledger, studies) == set(UNTURNED)
