"""Specs: equal things have equal keys, different things have different ones, and a key fixes the random stream."""

from __future__ import annotations

import dataclasses
import json
import subprocess
import sys

import numpy as np
import pytest

from factormech.errors import BadValue
from factormech.labels import mechanism_label, variant
from factormech.seeds import rng_for
from factormech.spec import Spec, WorkloadSpec

PREFIX = WorkloadSpec("prefix", 8)
BASE = Spec("strategy", "optimised", PREFIX, epsilon=1.0, seed=0)
OTHERS = [
    dataclasses.replace(BASE, family="factorization"),
    dataclasses.replace(BASE, name="adaptive-pgd"),
    dataclasses.replace(BASE, workload=WorkloadSpec("prefix", 16)),
    dataclasses.replace(BASE, workload=WorkloadSpec("prefix", 8, definition={"union": ["total"]})),
    dataclasses.replace(BASE, options={"objective": "worst"}),
    dataclasses.replace(BASE, epsilon=2.0),
    dataclasses.replace(BASE, epsilon=None),
    dataclasses.replace(BASE, delta=1e-9),
    dataclasses.replace(BASE, alpha=0.1),
    dataclasses.replace(BASE, seed=1),
    dataclasses.replace(BASE, root_seed=1),
    dataclasses.replace(BASE, further={"p": 2.0}),
]


def test_each_part_of_a_spec_changes_its_key() -> None:
    assert len({spec.digest for spec in [BASE, *OTHERS]}) == len(OTHERS) + 1
    assert len({*OTHERS, BASE}) == len(OTHERS) + 1


def test_equal_things_are_one_key() -> None:
    same = Spec("strategy", "optimised", WorkloadSpec("prefix", np.int64(8)), {}, np.float64(1), seed=np.int64(0))
    assert same == BASE
    assert hash(same) == hash(BASE)
    one, other = ({"a": 1, "b": "x"}, {"b": "x", "a": 1})
    assert dataclasses.replace(BASE, options=one) == dataclasses.replace(BASE, options=other)
    assert BASE.text != BASE


def test_the_canonical_json_is_json_without_parts_that_are_not_set() -> None:
    assert json.loads(BASE.text) == BASE.as_data()
    assert BASE.text == (
        '{"epsilon":1.0,"family":"strategy","name":"optimised","root_seed":0,"seed":0,'
        '"workload":{"domain_size":8,"name":"prefix"}}'
    )
    assert json.loads(dataclasses.replace(BASE, further={"p": np.inf}).text)["further"] == {"p": "inf"}


def test_values_that_have_no_canonical_form_are_refused() -> None:
    for bad in (float("nan"), object(), {1, 2}):
        with pytest.raises(BadValue, match="options"):
            dataclasses.replace(BASE, options={"x": bad})


def test_the_digest_is_the_same_in_another_process() -> None:
    code = "from factormech.spec import *; print(Spec('norm', 'gamma-2', WorkloadSpec('prefix', 8)).digest)"
    found = subprocess.check_output([sys.executable, "-c", code], text=True).strip()
    assert found == Spec("norm", "gamma-2", PREFIX).digest


def test_the_stream_is_named_by_root_seed_what_is_solved_and_the_seed_but_not_by_options() -> None:
    def first(spec: Spec, *more: object) -> int:
        return int(spec.stream(*more).integers(2**62))

    axes = ("strategy", "optimised", "prefix", "8", "1.0")
    assert first(BASE) == int(rng_for(0, *axes, "0").integers(2**62))
    assert first(BASE, 4, 2) == int(rng_for(0, *axes, "0", "4", "2").integers(2**62))
    assert first(dataclasses.replace(BASE, options={"objective": "worst"})) == first(BASE)
    changed = [spec for spec in OTHERS if not (spec.options or spec.delta or spec.alpha or spec.further)]
    changed = [spec for spec in changed if spec.workload.definition is None]
    assert len({first(BASE), *map(first, changed)}) == len(changed) + 1


def test_a_label_says_the_options_that_change_the_result() -> None:
    assert mechanism_label("optimised") == "Optimised"
    assert mechanism_label("optimised", {"objective": "average", "effort": "standard"}) == "Optimised"
    worst = {"objective": "worst", "effort": "best", "rows": 32}
    assert mechanism_label("optimised", worst) == "Optimised (best effort, worst case, 32 outputs)"
    assert mechanism_label(variant("optimised", worst)) == mechanism_label("optimised", worst)
