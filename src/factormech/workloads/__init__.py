"""What is asked: linear queries, their Gram matrix, spectrum and fast answers.

:mod:`~factormech.workloads.registry` makes a workload from its name,
:mod:`~factormech.workloads.definitions` one that a user defined as data, and
:mod:`~factormech.workloads.matrix` one from a matrix, in memory or in a file;
:mod:`~factormech.workloads.combinators` unites and multiplies them.
:mod:`~factormech.workloads.base` says what each of them offers.
"""

from __future__ import annotations

from factormech.names import make_callable

make_callable(__name__)
