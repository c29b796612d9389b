"""Known factorizations of prefix sums beside the optimal one, in errors of every order.

The error of order p of W = RA is n^{−1/p}(Σ_i ‖R_i‖^p)^{1/p} max_j ‖A_j‖: what a Gaussian of unit scale leaves in the
answers at sensitivity one, as a mean of order p over the queries. Liu, Upadhyay & Zou (arXiv:2406.02140, ICLR 2025)
leave out n^{−1/p}; their theorem on prefix sums says that for every p the optimum grows as the logarithm.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

from factormech.errors import UnknownName
from factormech.norms.registry import quantity
from factormech.norms.structured.classical import CLASSICAL, classical, trace_bound

if TYPE_CHECKING:
    import pandas as pd

OPTIMAL = "optimal"


def factorizations() -> list[str]:
    """Every factorization that a study may name."""
    return [OPTIMAL, *CLASSICAL]


def check_name(name: str) -> None:
    """Refuse an unknown factorization."""
    if name not in factorizations():
        raise UnknownName("factorization", name, factorizations())


def rows(measurements: Iterable[pd.DataFrame], names: Sequence[str]) -> Iterator[dict[str, Any]]:
    """The errors of these factorizations from measured norms of ``prefix``, by order, then domain size."""
    import pandas as pd

    frame = pd.concat(list(measurements), ignore_index=True)
    norms = [
        (float(quantity(row["norm"]).exponent or math.nan), row)
        for row in frame.drop_duplicates(["norm", "domain_size"]).to_dict("records")
    ]
    norms.sort(key=lambda pair: (pair[0], pair[1]["domain_size"]))
    for p, norm in norms:
        yield from _rows(p, norm, names)


def _rows(p: float, norm: dict[str, Any], names: Sequence[str]) -> Iterator[dict[str, Any]]:
    n = int(norm["domain_size"])
    common = {
        "domain_size": n,
        "p": p,
        "lower_bound": norm["lower"],
        "trace_bound": trace_bound(n),
        "logarithm": math.log(n) / math.pi,
        "origin": norm.get("origin", ""),
    }
    for name in names:
        error = norm["upper"] if name == OPTIMAL else classical(name, n).error(p)
        yield {**common, "factorization": name, "order_p_error": error, "ratio_to_bound": error / norm["lower"]}
