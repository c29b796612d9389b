"""What a plan for a class of concepts says: protocols, certified bounds, and which of them belong together."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from factormech.bounds.hard.divergence import PROTOCOLS

if TYPE_CHECKING:
    import pandas as pd

EVERY = "every"
# The protocols that a bound may be for, from the smallest class to the largest.
CLASSES = (*PROTOCOLS, EVERY)
ENGINES = {
    "dense": "dense semidefinite programs (norms/approximate)",
    "blocks": "semidefinite programs in blocks of sets of attributes (norms/subsets)",
}


@dataclass(frozen=True)
class PlannedProtocol:
    """A protocol for the task.

    Attributes
    ----------
    name, label
        What it is called, and what readers call it.
    users
        Predicted to be enough.
    proved_users
        Proved to be enough, for every law.
    protocol
        ``non-interactive`` or ``sequential``.
    theorem
        Where its guarantee is stated.
    constants
        The numbers that the prediction is made of, by their symbols.
    """

    name: str
    label: str
    users: int
    proved_users: int
    protocol: str
    theorem: str
    constants: Mapping[str, float]


@dataclass(frozen=True)
class Bound:
    """A certified number of users that no protocol of a class does the task with fewer than.

    Attributes
    ----------
    users
        The bound, not rounded.
    protocol
        ``non-interactive``, ``sequential`` or ``every``: the protocols that it is for.
    proper
        Whether it is only for learners that output a concept of the class.
    theorem
        What proves it.
    """

    users: float
    protocol: str
    proper: bool
    theorem: str

    @property
    def whole_users(self) -> int:
        """The bound as a number of users, at least 1."""
        return max(math.ceil(self.users), 1)


@dataclass(frozen=True)
class ClassPlan:
    """What ``plan`` answers for a class of concepts.

    Attributes
    ----------
    concept_class
        The name of the class.
    concepts, domain_size
        How many concepts (as sets or rows, before equal ones are merged, where the engine is ``blocks``) and points.
    epsilon, alpha, failure
        ε, α and β.
    refute, realizable
        The task.
    engine
        ``dense`` or ``blocks``.
    candidates
        Protocols, that of the fewest users first.
    bounds
        Lower bounds, the largest of each class of protocols.

    Examples
    --------
    >>> import factormech as fm
    >>> found = fm.plan(concept_class="conjunctions", attributes=3, epsilon=1.0, alpha=0.1, refute=True)
    >>> found.best.protocol, found.bound.users < found.best.users
    ('non-interactive', True)
    """

    concept_class: str
    concepts: int
    domain_size: int
    epsilon: float
    alpha: float
    failure: float
    refute: bool
    realizable: bool
    engine: str
    candidates: Sequence[PlannedProtocol]
    bounds: Sequence[Bound]

    @property
    def best(self) -> PlannedProtocol:
        """The protocol of the fewest predicted users."""
        return self.candidates[0]

    @property
    def bound(self) -> Bound:
        """The largest bound that holds for the best protocol."""
        rank = CLASSES.index(self.best.protocol)
        return max((b for b in self.bounds if CLASSES.index(b.protocol) >= rank), key=lambda b: b.users)

    @property
    def ratio(self) -> float:
        """Predicted users of the best protocol over the bound for its class."""
        return self.best.users / self.bound.whole_users

    @property
    def table(self) -> pd.DataFrame:
        """The protocols, best first: users, proved users, protocol and theorem."""
        import pandas as pd

        columns = ["label", "users", "proved_users", "protocol", "theorem"]
        return pd.DataFrame([[getattr(one, name) for name in columns] for one in self.candidates], columns=columns)

    @property
    def task(self) -> str:
        """What is asked for, in words."""
        kind = "realizably" if self.realizable else "agnostically"
        if self.refute:
            return f"refute {kind} at α = {self.alpha:g} with both errors at most {self.failure:g}"
        loss = "loss" if self.realizable else "excess loss"
        return f"learn {kind} to {loss} at most {self.alpha:g} with probability {1.0 - self.failure:g}"

    def __repr__(self) -> str:
        """The plan in one line."""
        best, bound = self.best, self.bound
        return (
            f"<ClassPlan {self.concept_class}: {self.task}: {best.label}, {best.users:,} users; "
            f"at least {bound.whole_users:,} ({bound.protocol})>"
        )


def strongest(bounds: Sequence[Bound]) -> list[Bound]:
    """Return the bounds that no other one implies: the largest of each class of protocols, the smallest class first.

    A bound for a larger class of protocols, or for all learners, holds for the smaller, and for proper ones.
    """

    def implied(bound: Bound, other: Bound) -> bool:
        wider = CLASSES.index(other.protocol) >= CLASSES.index(bound.protocol) and (bound.proper or not other.proper)
        return wider and other.users >= bound.users

    kept: list[Bound] = []
    for bound in sorted(bounds, key=lambda one: (-one.users, -CLASSES.index(one.protocol), one.proper)):
        if bound.users > 0.0 and not any(implied(bound, other) for other in kept):
            kept.append(bound)
    return sorted(kept, key=lambda one: (CLASSES.index(one.protocol), not one.proper))
