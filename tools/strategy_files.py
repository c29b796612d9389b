"""Read files of strategies and workloads, for ``verify_strategies.py``; no code is of the package.

Nothing in them is trusted. Sizes are checked before anything is read: what is left takes bounded time and memory.
"""

from __future__ import annotations

import hashlib
import json
import math
from pathlib import Path
from typing import Any

import h5py
import numpy as np

Array = np.ndarray[Any, np.dtype[Any]]
# Of all numbers of a file, of types where a matrix of all pairs of them is made, and of numbers in such matrices.
MOST_BYTES, MOST_TYPES, MOST_PAIRED, MOST_CELLS = 2**30, 2**20, 4096, 2**27
LARGEST_EPSILON = 100.0
# What a record must say: name → type. Whole numbers are no truth values, and numbers are finite.
FIELDS: dict[str, type] = {
    "kind": str,
    "mechanism": str,
    "workload": str,
    "domain_size": int,
    "epsilon": float,
    "options": str,
    "chosen": str,
    "objective": float,
    "lower_bound": float,
    "gap": float,
    "average_variance": float,
    "worst_variance": float,
}
OPTIONAL: dict[str, type] = {"rigorous_lower_bound": float, "bound_omega": float}


class Failed(Exception):
    """What does not hold."""


def check(holds: object, message: str) -> None:
    """Fail unless it holds; a comparison with NaN does not."""
    if not holds:
        raise Failed(message)


def read(path: Path) -> tuple[dict[str, Any], dict[str, Array]]:
    """Attributes and datasets of a file that has them itself, in bounded numbers."""
    check(path.is_file(), "no such file")
    with h5py.File(path, "r", locking=False) as file:
        names = list(file)
        links = [file.get(name, getlink=True) for name in names]
        check(all(type(link) is h5py.HardLink for link in links), "a dataset is in another file")
        items = [file[name] for name in names]
        check(all(map(is_plain, items)), "an object in it is no plain dataset of numbers or text")
        check(sum(item.nbytes for item in items) <= MOST_BYTES, f"it has more than {MOST_BYTES} bytes of numbers")
        data = {name: item[()] if item.shape == () else item[...] for name, item in zip(names, items, strict=True)}
        attributes = {name: plain(value) for name, value in file.attrs.items()}
    as_json = attributes.get("json_attributes")
    check(isinstance(as_json, list), "no list of json_attributes")
    assert isinstance(as_json, list)
    for name in as_json:
        check(isinstance(attributes.get(name), str), f"{name} is not JSON")
        attributes[name] = json.loads(attributes[name])
    return attributes, data


def is_plain(item: Any) -> bool:
    """Whether an object of a file is a dataset of numbers or text, stored in this file."""
    if not isinstance(item, h5py.Dataset) or item.is_virtual or item.external is not None:
        return False
    return item.dtype.kind in "biuf" or (h5py.check_string_dtype(item.dtype) is not None and item.shape == ())


def plain(value: Any) -> Any:
    """An attribute as Python has it."""
    return value.tolist() if hasattr(value, "tolist") else value


def check_record(record: dict[str, Any]) -> None:
    """Refuse a record that is not of the form of an optimised strategy's."""
    for name, kind in FIELDS.items():
        check(name in record, f"no {name} in its record")
        check(is_a(record[name], kind), f"{name} is not {'a text' if kind is str else 'a finite number'}")
    for name, kind in OPTIONAL.items():
        check(name not in record or is_a(record[name], kind), f"{name} is not a finite number")
    check(record["kind"] == "strategy" and record["mechanism"] == "optimised", "not an optimised strategy")
    check(1 <= record["domain_size"] <= MOST_TYPES, f"domain_size is not between 1 and {MOST_TYPES}")
    check(0.0 < record["epsilon"] <= LARGEST_EPSILON, f"epsilon is not above 0 and at most {LARGEST_EPSILON:g}")
    options = json.loads(record["options"])
    check(isinstance(options, dict), "options are not an object")
    check(options.get("objective", "average") in ("average", "worst"), "options: an unknown objective")


def is_a(value: Any, kind: type) -> bool:
    """Whether a value is of a type; a number is finite, and no truth value."""
    return type(value) is kind and (kind is not float or math.isfinite(value))


def check_place(path: Path, record: dict[str, Any]) -> None:
    """Refuse a file whose path names another mechanism, workload, size, budget, seed or options than its record."""
    mechanism, workload, size, name = path.resolve().parts[-4:]
    asked = {"seed": record.get("seed"), "options": record["options"]}
    asked |= {"root_seed": record["root_seed"]} if record.get("root_seed") else {}
    asked |= {"definitions": json.dumps(record["definition"], sort_keys=True)} if record.get("definition") else {}
    mark = hashlib.sha256(json.dumps(asked).encode()).hexdigest()[:8]
    said = (record["mechanism"], record["workload"], f"n{record['domain_size']}", f"eps{record['epsilon']!r}-{mark}.h5")
    for found, wanted in zip((mechanism, workload, size, name), said, strict=True):
        check(found == wanted, f"its place says {found} and its record {wanted}")


def check_shapes(data: dict[str, Array], n: int) -> None:
    """Refuse datasets that would take unbounded time or that do not go together."""
    if "supports" in data:
        S, theta, prior = data["supports"], data.get("weights"), data.get("prior")
        check(theta is not None and prior is not None, "no weights or no prior")
        assert theta is not None
        assert prior is not None
        check(S.dtype == np.uint8 and S.ndim == 2 and S.shape[1] == -(-n // 8), "supports are not bits of the types")
        check(theta.shape == S.shape[:1] and prior.shape == (n,), "weights, prior and supports do not agree")
        check(n <= MOST_PAIRED and len(S) * n <= MOST_CELLS, "too many outputs and types")
        check(np.isfinite(theta).all() and np.isfinite(prior).all() and prior.min() > 0.0, "weights or prior odd")
    for name, shape in {"bound_weights": (n,), "bound_pairs": (n, n)}.items():
        if name in data:
            check(n <= MOST_PAIRED and data[name].shape == shape, f"{name} is not of shape {shape}")
            check(np.isfinite(data[name]).all(), f"{name} has entries that are no numbers")
    if "permuted" in data:
        check_families(data, n)


def check_families(data: dict[str, Array], n: int) -> None:
    """Refuse families of sets that do not go together or would take too long."""
    permuted = data["permuted"]
    check(permuted.ndim == 1 and permuted.dtype.kind in "biuf" and n & (n - 1) == 0, "permuted is not a list")
    check(set(permuted.tolist()) <= {0, 1}, "permuted has other numbers than 0 and 1")
    total = 0
    for k in range(len(permuted)):
        T, masks, weights = (data.get(f"{name}-{k}") for name in ("table", "masks", "weights"))
        check(T is not None and masks is not None and weights is not None, f"family {k} is not complete")
        assert T is not None
        assert masks is not None
        assert weights is not None
        check(T.ndim == 1 and masks.ndim == 2 and masks.dtype.kind in "iu", f"family {k} is not of tables and masks")
        check(len(T) == 2 ** masks.shape[1] and weights.shape == masks.shape[:1], f"family {k} does not go together")
        check(0 < np.count_nonzero(T) < len(T) and np.isfinite(weights).all(), f"family {k} says nothing")
        check(masks.min(initial=0) >= 0 and masks.max(initial=0) < n, f"family {k} has masks of other attributes")
        total += len(masks) * n
    check(total <= MOST_CELLS, "too many sets")
