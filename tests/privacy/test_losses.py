"""Every mechanism of every registry has the privacy that it states, by its own density, and uses what it states up.

The subjects are those of the registries: a new name without a density check fails here.
"""

from __future__ import annotations

import pytest

from factormech.errors import BadValue
from factormech.privacy.guarantee import VERIFIED, Guarantee, guarantee_of
from tests.privacy.losses import Loss, below_exponential, loss
from tests.privacy.subjects import Subject, made, subjects

SUBJECTS = list(subjects())
# What is no verified probability keeps its ε to this.
ROUNDING = 1e-12
# The shares of the promise that are used where that is less than nearly all, and why.
SLACK = {
    "central:gaussian-output, classical": 0.01,  # of δ: the classical calibration is not the least
    "pure:recursive-full": 0.6,  # no exchange of two persons is on the boundary of both stages
    "pure:recursive-equal": 0.7,
    "sketch:moments, trace": 0.9,  # the scale is estimated from draws, and moved to the safe side
    "sketch:moments, l2-ball": 0.9,
    "sketch:moments, jl": 0.8,
}


@pytest.mark.parametrize("subject", SUBJECTS, ids=str)
def test_the_density_keeps_the_guarantee_and_uses_it_up(subject: Subject) -> None:
    mechanism = made(subject.family, subject.name)
    promised, found = guarantee_of(mechanism), loss(mechanism)
    check_private(promised, found)
    assert share_used(promised, found) >= SLACK.get(str(subject), 0.999)


def check_private(promised: Guarantee, found: Loss) -> None:
    """What was found is what was promised, to rounding; exactly where the promise says so."""
    if promised.ground == VERIFIED:
        assert found.ratio is not None
        assert below_exponential(found.ratio, promised.epsilon)
    elif promised.rho is not None:
        assert found.rho <= promised.rho * (1 + ROUNDING)
    elif promised.pure:
        assert found.epsilon <= promised.epsilon * (1 + ROUNDING)
    else:
        assert found.delta <= promised.delta


def share_used(promised: Guarantee, found: Loss) -> float:
    """Of ε, of ρ, or of δ."""
    if promised.rho is not None:
        return found.rho / promised.rho
    return found.epsilon / promised.epsilon if promised.pure else found.delta / promised.delta


def test_a_kind_without_a_density_check_fails() -> None:
    with pytest.raises(AssertionError, match="no density check for dict: add one"):
        loss({})


def test_what_states_no_guarantee_is_refused() -> None:
    with pytest.raises(BadValue, match="must state its guarantee"):
        guarantee_of(object())
