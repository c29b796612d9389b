"""The one verdict on a table of simulated collections: do all measured errors agree with the exact ones at once?"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from factormech.tables.collected_words import place, pool_place

if TYPE_CHECKING:
    import pandas as pd

    from factormech.measure.agreement import Agreement


@dataclass(frozen=True)
class Verdict:
    """Whether all measured points agree at once, and which comparison, and which point, is the most deviant.

    ``worst`` says where the smallest p-value is; ``farthest`` the point of the largest |z|, which is ``farthest_z``.
    """

    agreement: Agreement
    worst: str
    farthest: str
    farthest_z: float


def verdict_of(frame: pd.DataFrame) -> Verdict | None:
    """The verdict on what was measured; ``None`` if nothing was."""
    from factormech.measure.agreement import collection_agreement

    measured = frame[frame["status"] == "ok"]
    if measured.empty:
        return None
    agreement = collection_agreement(
        measured.rename(columns={"z_score": "z", "ratio_to_exact": "ratio"}).itertuples(index=False)
    )
    z = measured["z_score"].abs().to_numpy()
    farthest = int(z.argmax())
    worst = agreement.worst
    if isinstance(worst, tuple):
        return Verdict(agreement, f"pool: {pool_place(*worst)}", place(measured.iloc[farthest]), float(z[farthest]))
    where = place(measured.iloc[int(str(worst))])
    # Named once where it is the same point.
    elsewhere = "" if farthest == worst else place(measured.iloc[farthest])
    return Verdict(agreement, where, elsewhere, float(z[farthest]))


def verdict_text(found: Verdict | None) -> str:
    """The verdict in words, without a full stop."""
    if found is None:
        return "nothing was measured: there is no verdict"
    agreement = found.agreement
    points = "the measured collection agrees" if agreement.points == 1 else "all measured collections agree"
    says = f"{points} with the exact error" if agreement.passed else "MEASURED AND EXACT ERRORS DISAGREE"
    farthest = (
        f"; the largest |z| of a single one is {found.farthest_z:.2f} ({found.farthest})" if found.farthest else ""
    )
    return (
        f"{says} at the simultaneous level {level_text(agreement.level)}: over {agreement.comparisons} comparisons of "
        f"{agreement.points} points and their pools, in mean error and in bias, the most deviant ({found.worst}) has "
        f"z = {signed(agreement.z)} and simultaneous p = {agreement.p_value:.2g}{farthest}"
    )


def level_text(level: float) -> str:
    """A level as one would type it: 0.05, 1e-6."""
    return f"{level:g}".replace("e-0", "e-")


def signed(value: float) -> str:
    """A deviation with two places and a true minus."""
    return f"{value:.2f}".replace("-", "−")
