"""Every registered workload and mechanism keeps its promises: what ``factormech.testing`` offers for one's own.

``pytest --plugin mine.py tests/test_promises.py`` holds the names of a plugin to the same.
"""

from __future__ import annotations

import pytest

from factormech.mechanisms.local import registry as mechanisms
from factormech.testing import check_mechanism, check_workload
from factormech.workloads import registry as workloads


@pytest.mark.parametrize("name", workloads.names())
def test_workloads_are_their_matrices(name: str) -> None:
    assert check_workload(name) >= 4


@pytest.mark.parametrize("name", mechanisms.names())
def test_mechanisms_are_private_unbiased_and_as_exact_as_they_say(name: str) -> None:
    assert check_mechanism(name, (1, 4, 8), (0.5, 3.0)) >= 8
