"""Factorization mechanisms for linear queries under differential privacy.

>>> import factormech as fm
>>> W = fm.workload("prefix", 8)
>>> fm.mechanism("optimised", epsilon=1.0, objective="worst").fit(W).users(rmse=0.05)
1153

``docs/python.md`` is a tour. Every name is imported when it is first used: ``import factormech`` loads neither NumPy
nor pandas.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

__version__ = "0.1.0"

if TYPE_CHECKING:
    from factormech.errors import BadValue as BadValue
    from factormech.errors import Unavailable as Unavailable
    from factormech.errors import UnknownName as UnknownName
    from factormech.labels import mechanism_label as label  # noqa: F401
    from factormech.learning.plans import ClassPlan as ClassPlan
    from factormech.manuscript.export import paper as paper
    from factormech.mechanisms.base import Fitted as Fitted
    from factormech.mechanisms.base import Mechanism as Mechanism
    from factormech.mechanisms.base import mechanism as mechanism
    from factormech.mechanisms.ranking import Ranked as Ranked
    from factormech.mechanisms.ranking import Ranking as Ranking
    from factormech.norms.certified import CertifiedNorm as CertifiedNorm
    from factormech.pipeline.provenance import trace as trace
    from factormech.plots.plot import plot as plot
    from factormech.plugins import load as plugin  # noqa: F401
    from factormech.privacy.guarantee import Guarantee as Guarantee
    from factormech.privacy.guarantee import verify_ldp as verify_ldp
    from factormech.questions import compare as compare
    from factormech.questions import fit as fit
    from factormech.questions import lower_bound as lower_bound
    from factormech.questions import mechanisms as mechanisms
    from factormech.questions import norm as norm
    from factormech.questions import norms as norms
    from factormech.questions import plan as plan
    from factormech.questions import simulate as simulate
    from factormech.questions import sweep as sweep
    from factormech.questions import workloads as workloads
    from factormech.reading import load as load
    from factormech.reading import study as study
    from factormech.spec import Spec as Spec
    from factormech.workloads.base import Workload as Workload
    from factormech.workloads.given import answer as answer
    from factormech.workloads.given import product as product
    from factormech.workloads.given import union as union
    from factormech.workloads.given import workload as workload

# Where each name lives: module, or module:attribute, or package: (which lists what it holds when it is called). A test
# holds this against the imports for type checkers above.
_HOME = {
    "answer": "workloads.given",
    "BadValue": "errors",
    "CertifiedNorm": "norms.certified",
    "ClassPlan": "learning.plans",
    "compare": "questions",
    "fit": "questions",
    "Fitted": "mechanisms.base",
    "Guarantee": "privacy.guarantee",
    "label": "labels:mechanism_label",
    "load": "reading",
    "lower_bound": "questions",
    "Mechanism": "mechanisms.base",
    "mechanism": "mechanisms.base",
    "mechanisms": "mechanisms:",
    "norm": "questions",
    "norms": "norms:",
    "paper": "manuscript.export",
    "plan": "questions",
    "plot": "plots.plot",
    "plugin": "plugins:load",
    "product": "workloads.given",
    "Ranked": "mechanisms.ranking",
    "Ranking": "mechanisms.ranking",
    "simulate": "questions",
    "Spec": "spec",
    "study": "reading",
    "sweep": "questions",
    "trace": "pipeline.provenance",
    "Unavailable": "errors",
    "union": "workloads.given",
    "UnknownName": "errors",
    "verify_ldp": "privacy.guarantee",
    "Workload": "workloads.base",
    "workload": "workloads.given",
    "workloads": "workloads:",
}
__all__ = ["__version__", *_HOME]

if sys.argv[:1] == ["-m"]:  # as long as ``python -m factormech.…`` loads the package: a job, or the command line
    from factormech.pipeline.starved import check_limit, in_one_line

    sys.excepthook = in_one_line
    check_limit()


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module 'factormech' has no attribute {name!r}")
    from importlib import import_module

    home, colon, attribute = _HOME[name].partition(":")
    module = import_module(f"factormech.{home}")
    found = module if colon and not attribute else getattr(module, attribute or name)
    globals()[name] = found
    return found


def __dir__() -> list[str]:
    return sorted({*__all__, *(name for name in globals() if name.startswith("__"))})
