"""How the results of each kind of study become its table: a function, and the files that it needs.

Kinds that are experiments (:mod:`factormech.experiments`) are not here: their rows are those of their tables.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from typing import Any

from factormech.errors import UnknownName


@dataclass(frozen=True)
class Tabulated:
    """The table of a kind of study.

    Parameters
    ----------
    function
        Module and name of what makes the table: of a study's name, its measurements and, where there is one, the
        frame of ``bounds``; with ``iterations`` and the study's ``settings`` by keyword.
    measured
        What the files of measurements are, and the dataset in them.
    bounds
        What the file of lower bounds is, in which the dataset is ``bounds``; "" for a kind without.
    iterations
        Whether there is a file of clocked iterations.
    settings
        The settings of a study that the table depends on.
    """

    function: str
    measured: tuple[str, str]
    bounds: str = ""
    iterations: bool = False
    settings: tuple[str, ...] = ()


_HERE = "factormech.measure."
KINDS: dict[str, Tabulated] = {
    "sample-complexity": Tabulated(
        _HERE + "tabulate:sample_complexity_table",
        ("measurement", "measurements"),
        bounds="bounds",
        settings=("metric", "alpha"),
    ),
    "simulated-collection": Tabulated(
        _HERE + "tabulate:collection_table", ("collections", "collections"), settings=("level",)
    ),
    "data-dependent": Tabulated(
        _HERE + "tabulate_data:on_data_table",
        ("data-measurement", "measurements"),
        bounds="data-bounds",
        settings=("metric", "alpha"),
    ),
    "consistency": Tabulated(
        _HERE + "tabulate_data:consistency_table", ("processed-collections", "collections"), settings=("level",)
    ),
    "optimality-gap": Tabulated(_HERE + "gaps:gap_table", ("measurement", "measurements"), bounds="bounds"),
    "initialisation": Tabulated(_HERE + "starts:starts_table", ("starts", "starts"), bounds="bounds"),
    "timing": Tabulated(
        _HERE + "timing:timing_table", ("traces", "traces"), bounds="bounds", iterations=True, settings=("gaps",)
    ),
    "norms": Tabulated(_HERE + "norms:norm_table", ("norms", "norms")),
    "prefix-factorizations": Tabulated(
        _HERE + "prefix_errors:prefix_table", ("norms", "norms"), settings=("factorizations",)
    ),
}


def tabulated(kind: str) -> Tabulated:
    """How a kind is tabulated."""
    if kind not in KINDS:
        raise UnknownName("kind of study", kind, KINDS)
    return KINDS[kind]


def module_of(kind: str) -> str:
    """The module of the function of a kind."""
    return tabulated(kind).function.partition(":")[0]


def function_of(kind: str) -> Callable[..., Any]:
    """What makes the table of a kind."""
    module, _, name = tabulated(kind).function.partition(":")
    function: Callable[..., Any] = getattr(import_module(module), name)
    return function
