"""A workload, written down and taken up again."""

from __future__ import annotations

import numpy as np
import pytest

from factormech.errors import BadValue
from factormech.workloads import registry
from factormech.workloads.base import Workload
from factormech.workloads.combinators import Kronecker, Union
from factormech.workloads.stored import StoredWorkload, to_datasets

from .oracles import MEMBERS


def differences(stored, workload):
    """What does not agree, of everything but the queries."""
    n = workload.domain_size
    found = [name for name in ("name", "domain_size", "queries") if getattr(stored, name) != getattr(workload, name)]
    exact = ("frobenius_squared", "total_squared", "column_sums", "singular_values", "gram_diagonal")
    for method in (*exact, "centred_singular_values", "walsh_spectrum", "centred_walsh_spectrum"):
        one, other = getattr(stored, method)(), getattr(workload, method)()
        if (one is None) != (other is None) or (one is not None and not np.array_equal(one, other)):
            found.append(method)
    scale = np.abs(workload.gram()).max()
    for method in ("gram", "centred_gram"):
        one, other = getattr(stored, method)(), getattr(workload, method)()
        if not np.allclose(one, other, rtol=1e-12, atol=1e-12 * scale):
            found.append(method)
    for shape in [(), (3,)]:
        x = np.random.default_rng(0).normal(size=(n, *shape))
        if not np.allclose(stored.gram_times(x), workload.gram_times(x), rtol=1e-7, atol=1e-11 * scale * n):
            found.append(f"gram_times of shape {x.shape}")
    return found


@pytest.mark.parametrize(("name", "n"), MEMBERS)
def test_round_trip(name, n):
    workload = registry.create(name, n)
    assert differences(StoredWorkload(*to_datasets(workload)), workload) == []


def test_a_difference_is_found():
    prefix, total = (StoredWorkload(*to_datasets(registry.create(name, 4))) for name in ("prefix", "total"))
    found = differences(prefix, total)
    assert {"name", "queries", "column_sums", "gram", "centred_gram", "gram_times of shape (4, 3)"} <= set(found)


def test_what_is_stored():
    common = {"column_sums", "singular_values", "centred_singular_values", "gram_diagonal"}
    attributes = {"workload", "domain_size", "queries", "frobenius_squared", "total_squared"}
    for name, extra in [
        ("2-way-marginals", {"walsh_spectrum"}),
        ("prefix", {"gram"}),
        ("parities-01", {"centred_walsh_spectrum", "gram_row_sums"}),
    ]:
        datasets, found = to_datasets(registry.create(name, 8))
        assert set(datasets) == common | extra
        assert set(found) == attributes
        assert all(array.dtype == np.float64 for array in datasets.values())
        assert all(type(value) in (str, int, float) for value in found.values())


def test_structured_families_are_stored_small():
    for name in ("3-way-marginals", "at-most-3-way-parities-01"):
        datasets, _ = to_datasets(registry.create(name, 2**16))
        assert sum(array.nbytes for array in datasets.values()) <= 6 * 8 * 2**16


def test_unions_and_products_too():
    marginals, boolean, prefix = (registry.create(name, 8) for name in ("1-way-marginals", "parities-01", "prefix"))
    same_up_to_rounding = [Union("u", [marginals, boolean], [2, 3]), Kronecker("k", [marginals, prefix])]
    for workload in same_up_to_rounding:
        assert differences(StoredWorkload(*to_datasets(workload)), workload) == []


def test_counts_beyond_64_bits_survive():
    workload = Kronecker("k", [registry.create("all-marginals", 2**3)] * 1)
    datasets, attributes = to_datasets(workload)
    assert attributes["queries"] == 27
    big = type("Big", (type(workload),), {"queries": property(lambda self: 3**50)})("k", workload.factors)
    datasets, attributes = to_datasets(big)
    assert attributes["queries"] == str(3**50)
    assert StoredWorkload(datasets, attributes).queries == 3**50


def test_takes_what_a_file_gives_back():
    datasets, attributes = to_datasets(registry.create("prefix", 4))
    attributes = {k: np.int64(v) if isinstance(v, int) else v for k, v in attributes.items()}
    attributes["frobenius_squared"] = np.float64(attributes["frobenius_squared"])
    stored = StoredWorkload({**datasets, "something else": np.zeros(3)}, {**attributes, "kind": "workload"})
    assert type(stored.queries) is int
    assert type(stored.frobenius_squared()) is float


def test_has_no_queries():
    stored = StoredWorkload(*to_datasets(registry.create("prefix", 4)))
    assert isinstance(stored, Workload)
    for call in (lambda: stored.answer(np.ones(4)), lambda: stored.adjoint(np.ones(4)), stored.matrix):
        with pytest.raises(BadValue, match="made from a file of results: no queries"):
            call()


def test_datasets_cannot_be_changed_through_results():
    stored = StoredWorkload(*to_datasets(registry.create("prefix", 4)))
    stored.gram()[:] = 0
    stored.column_sums()[:] = 0
    assert stored.gram()[0, 0] == 4
    assert stored.column_sums()[0] == 4


@pytest.mark.parametrize("missing", ["gram", "column_sums", "queries", "singular_values", "domain_size"])
def test_missing_parts_are_named(missing):
    datasets, attributes = to_datasets(registry.create("prefix", 4))
    datasets.pop(missing, None)
    attributes.pop(missing, None)
    with pytest.raises(BadValue, match=rf"missing = \['{missing}'\]: must be complete; delete the file"):
        StoredWorkload(datasets, attributes)


def test_wrong_shapes_are_named():
    datasets, attributes = to_datasets(registry.create("prefix", 4))
    with pytest.raises(BadValue, match=r"shape of gram = \(3, 3\): must be \(4, 4\)"):
        StoredWorkload({**datasets, "gram": np.eye(3)}, attributes)
    with pytest.raises(BadValue, match=r"shape of column_sums = \(3,\): must be \(4,\)"):
        StoredWorkload({**datasets, "column_sums": np.ones(3)}, attributes)
