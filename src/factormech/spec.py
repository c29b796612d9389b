"""The identity of everything that is computed, and solutions that are read from files.

**Specs.** Equal specs give equal bits, wherever they are computed. A spec is the key of a result file, a table's row,
a label, a random stream, a Python call and a command line. Its canonical JSON leaves out every part that is not set,
so that a part which is added later changes no digest.

**Solutions in files.** Within :func:`shared`, a solution that a job was given is read and not computed again. A
solution is found by the text of its :class:`~factormech.spec.Spec`, which is an attribute of its file. Reading it and
computing it give the same bits.
"""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import TYPE_CHECKING, Any

from factormech.errors import BadValue

if TYPE_CHECKING:
    import numpy as np

    from factormech.store.hdf5 import Record


# Specs.


@dataclass(frozen=True, eq=False)
class Identity:
    """A record that is known by its canonical JSON."""

    def as_data(self) -> dict[str, Any]:
        """Return the parts that are set, in JSON's own types."""
        parts = {part.name: plain(part.name, getattr(self, part.name)) for part in fields(self)}
        return {name: value for name, value in parts.items() if value not in (None, {})}

    @property
    def text(self) -> str:
        """The canonical JSON: sorted keys, no spaces, shortest floats that read back to the same number."""
        return json.dumps(self.as_data(), sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False)

    @property
    def digest(self) -> str:
        """The SHA-256 of the canonical JSON, 64 hexadecimal digits."""
        return hashlib.sha256(self.text.encode()).hexdigest()

    def __eq__(self, other: object) -> bool:
        return type(other) is type(self) and isinstance(other, Identity) and other.text == self.text

    def __hash__(self) -> int:
        return hash(self.text)


@dataclass(frozen=True, eq=False)
class WorkloadSpec(Identity):
    """Which workload; ``definition`` says what a name alone does not (a union, a product, the SHA-256 of a matrix).

    ``seed`` and ``root_seed`` are set where the workload is drawn at random.
    """

    name: str
    domain_size: int
    definition: Any = None
    seed: int | None = None
    root_seed: int | None = None


@dataclass(frozen=True, eq=False)
class Spec(Identity):
    """Which thing is computed (``family``: strategy, factorization, norm, bound …), by which method, for what.

    ``options`` are the settings that change the result; ``further`` holds the numbers of the family that have no
    field here. ``epsilon`` is None where one result serves every budget, ``seed`` where chance has no part.

    >>> Spec("strategy", "rappor", WorkloadSpec("prefix", 8), epsilon=1).as_data()["epsilon"]
    1.0
    """

    family: str
    name: str
    workload: WorkloadSpec
    options: Mapping[str, Any] = field(default_factory=dict)
    epsilon: float | None = None
    delta: float | None = None
    alpha: float | None = None
    seed: int | None = None
    root_seed: int = 0
    further: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for number in ("epsilon", "delta", "alpha"):  # 1 and 1.0 are one budget, and so one stream and one file
            value = getattr(self, number)
            object.__setattr__(self, number, None if value is None else float(value))
        self.as_data()  # refuses here the values that JSON cannot hold

    def stream(self, *more: object) -> np.random.Generator:
        """Return the random stream: fixed by the root seed, the family, name, workload, n, ε, the seed, and ``more``.

        Options are no part of it: solvers that differ by a setting start from the same random numbers, so that a
        difference between their results is the setting's.
        """
        from factormech.seeds import rng_for

        axes = (self.family, self.name, self.workload.name, self.workload.domain_size, repr(self.epsilon))
        return rng_for(self.root_seed, *map(str, (*axes, self.seed or 0, *more)))


def plain(name: str, value: Any) -> Any:
    """Return a value in JSON's own types: infinities as words, records and NumPy scalars as what they hold."""
    if isinstance(value, Identity):
        return value.as_data()
    if isinstance(value, Mapping):
        return {str(key): plain(f"{name}.{key}", value[key]) for key in sorted(value, key=str)}
    if isinstance(value, (list, tuple)):
        return [plain(name, item) for item in value]
    if hasattr(value, "tolist"):
        return plain(name, value.tolist())
    if isinstance(value, float) and not math.isfinite(value):
        if not math.isnan(value):
            return "inf" if value > 0 else "-inf"
    elif value is None or isinstance(value, (str, int, float)):
        return value
    raise BadValue(name, value, "be text, a number, or a list or mapping of them", "convert it")


# Solutions in files.

_FILES: ContextVar[Mapping[str, Path] | None] = ContextVar("files of solutions", default=None)


@contextmanager
def shared(paths: Iterable[Path]) -> Iterator[None]:
    """Within the context, :func:`find` looks among these files."""
    from factormech.store import hdf5

    token = _FILES.set({hdf5.read_attributes(path)["spec"]: path for path in paths})
    try:
        yield
    finally:
        _FILES.reset(token)


def find(spec: Spec) -> Record | None:
    """Return the file of a solution, or ``None`` where there is none."""
    from factormech.store import hdf5

    path = (_FILES.get() or {}).get(spec.text)
    return None if path is None else hdf5.read(path, spec.family)
