r"""How many users a class of concepts takes to learn or to refute: the best protocol here, beside what none can.

A *task* is to learn, to excess loss α with probability 1 − β, or to refute, with both errors at most β; on all laws
(agnostic), or where some concept of the class loses nothing (realizable). Users of a protocol are *predicted* (central
limit, or exact binomial tails) and *proved*. Lower bounds are certified, each for its class of protocols: without
interaction, sequential, or every one. A bound of a smaller class of protocols need not hold for a larger; one of a
larger holds for the smaller.

Two engines compute the norms, and dual matrices for the bounds:

* ``dense``: semidefinite programs over all concepts and points (``norms.approximate``), to 256 concepts and 64 points;
* ``blocks``: programs in blocks for classes on sets of attributes (``norms.subsets``), to 30 attributes. Smaller
  classes of the same name are restrictions of larger ones: their bounds count, too.
"""

from __future__ import annotations

import math
from typing import Any

from factormech.arrays import check_epsilon
from factormech.bounds.hard.divergence import checked_error
from factormech.errors import BadValue, UnknownName
from factormech.learning import concepts as catalogue
from factormech.learning import planned_blocks, planned_dense
from factormech.learning.concepts import ConceptClass, concept_class
from factormech.learning.plans import ClassPlan, strongest
from factormech.learning.reports import checked_loss_gap
from factormech.norms.subsets import classes as subsets
from factormech.norms.subsets.classes import SubsetClass, subset_class

# Up to so many attributes the dense programs are used, as they have exact variances.
DENSE_ATTRIBUTES = 5
MOST_CONCEPTS, MOST_POINTS = 256, 64
FAILURE = 0.1
COVERED = (
    f"{', '.join(subsets.CLASSES)} are planned for to {subsets.MOST_ATTRIBUTES} attributes (programs in blocks), "
    f"other classes to {MOST_CONCEPTS} concepts on {MOST_POINTS} points (dense programs)"
)
# Classes whose size is a number of points; of halfspaces it is the side of a square of points.
_BY_POINTS = ("thresholds", "points", "halfspaces")


def plan_class(
    name: str,
    epsilon: float,
    alpha: float,
    *,
    attributes: int | None = None,
    domain_size: int | None = None,
    realizable: bool = False,
    refute: bool = False,
    failure: float = FAILURE,
) -> ClassPlan:
    """Return how many users a class takes, from above and from below.

    Parameters
    ----------
    name
        A class of ``learning.concepts`` or of ``norms.subsets.classes``, or ``file:PATH``.
    epsilon
        The privacy budget of a user.
    alpha
        α, above 0 and below ½.
    attributes
        The number of bits, for classes on bits.
    domain_size
        The number of points, for thresholds, points and halfspaces (a square number); of files it is in the file.
    realizable
        Whether some concept loses nothing.
    refute
        Whether the task is to refute, and not to learn.
    failure
        β, above 0 and below ½.

    Raises
    ------
    BadValue
        If a number is out of range, or no engine takes the class; the rule says which engine takes what.

    Examples
    --------
    >>> found = plan_class("conjunctions", 1.0, 0.05, attributes=10)
    >>> found.engine, found.bound.users < found.best.users
    ('blocks', True)
    """
    e, a = check_epsilon(epsilon), checked_loss_gap(alpha)
    try:
        b = checked_error(failure)
    except BadValue as error:
        raise BadValue("failure", failure, error.rule, "give for example 0.1") from None
    subject = subject_of(name, attributes, domain_size)
    asked: dict[str, Any] = {"epsilon": e, "alpha": a, "beta": b, "refute": refute, "realizable": realizable}
    if isinstance(subject, SubsetClass):
        engine, size, points = "blocks", subject.queries, 1 << subject.attributes
        found = planned_blocks.protocols(subject, **asked), planned_blocks.lower_bounds(subject, **asked)
    else:
        engine, size, points = "dense", subject.size, subject.domain_size
        found = planned_dense.protocols(subject, **asked), planned_dense.lower_bounds(subject, **asked)
    candidates, bounds = sorted(found[0], key=lambda one: one.users), strongest(found[1])
    return ClassPlan(name, size, points, e, a, b, refute, realizable, engine, candidates, bounds)


def subject_of(name: Any, attributes: int | None, domain_size: int | None) -> ConceptClass | SubsetClass:
    """Return the class in the form of the engine that takes it; a class that none takes is refused."""
    known = isinstance(name, str) and (name in subsets.CLASSES or _is_listed(name))
    if not known:
        refused = UnknownName("concept class", name, {*catalogue.names(), *subsets.CLASSES})
        raise BadValue(refused.name, refused.value, refused.rule, f"{refused.remedy}; {COVERED}")
    size = _size(name, attributes, domain_size)
    if name in subsets.CLASSES and size > DENSE_ATTRIBUTES:
        if size > subsets.MOST_ATTRIBUTES:
            raise BadValue("attributes", size, f"be at most {subsets.MOST_ATTRIBUTES} for {name}", COVERED)
        return subset_class(name, size)
    found = concept_class(name, size) if _is_listed(name) else planned_blocks.listed(subset_class(name, size))
    if found.size > MOST_CONCEPTS or found.domain_size > MOST_POINTS:
        rule = f"have at most {MOST_CONCEPTS} concepts on {MOST_POINTS} points, not {found.size} on {found.domain_size}"
        raise BadValue("class", name, rule, COVERED)
    return found


def _is_listed(name: str) -> bool:
    try:
        catalogue.check_name(name)
    except UnknownName:
        return False
    return True


def _size(name: str, attributes: int | None, domain_size: int | None) -> int:
    """The size that the class is made with, from what was given of both."""
    by_points = name in _BY_POINTS or name.startswith("file:")
    wanted, unwanted = ("domain_size", "attributes") if by_points else ("attributes", "domain_size")
    given, other = (domain_size, attributes) if by_points else (attributes, domain_size)
    if other is not None:
        rule = f"not be given for {name}, whose size is its number of {'points' if by_points else 'attributes'}"
        raise BadValue(unwanted, other, rule, f"give that, as {wanted}, alone")
    if given is None:
        raise BadValue(wanted, "nothing", f"be given for {name}", f"give for example 4; {COVERED}")
    if not isinstance(given, int) or isinstance(given, bool) or given < 1:
        raise BadValue(wanted, given, "be a whole number of at least 1", "give for example 4")
    if name == "halfspaces":
        side = math.isqrt(given)
        if side * side != given:
            raise BadValue(wanted, given, "be a square for halfspaces, which are of a square of points", "give 16")
    if name not in subsets.CLASSES and not name.startswith("file:") and _points(name, given) > MOST_POINTS:
        raise BadValue(wanted, given, f"leave {name} at most {MOST_POINTS} points", COVERED)
    return math.isqrt(given) if name == "halfspaces" else given


def _points(name: str, size: int) -> int:
    return size if name in _BY_POINTS else 1 << min(size, 62)
