"""The data sets, by the names that configuration, files and tables use.

Three one-dimensional data sets of the DPBench study (Hay, Machanavajjhala, Miklau, Chen & Zhang, SIGMOD 2016): numbers
of users in 4096 bins, in the files of that study, whose bytes are pinned. Their repository states no licence for them,
so this project does not contain them; for each there is a synthetic stand-in with as many users and non-empty bins
(``files.py``), under a name of its own, which is never called by the name of the data.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from factormech.arrays import FloatArray, IntArray, check_positive_integer
from factormech.errors import BadValue, UnknownName
from factormech.mechanisms.local.reports import check_counts

BINS = 4096
STANDIN = "-standin"


@dataclass(frozen=True)
class DataSet:
    """A public data set.

    Attributes
    ----------
    what
        What a bin counts.
    file, sha256
        The name of its file, and the digest of that file's bytes.
    users, occupied
        Sum of the counts, and how many of the bins are not empty.
    """

    what: str
    file: str
    sha256: str
    users: int
    occupied: int


PUBLIC = {
    "hepth": DataSet(
        "citations of papers of high-energy physics",
        "HEPTH.n4096.npy",
        "a39f1283608ac1eae6d1d5bc289e6eb7a42687b765f5f80af1b40566ff853884",
        users=347414,
        occupied=3229,
    ),
    "medcost": DataSet(
        "personal medical expenses",
        "MEDCOST.n4096.npy",
        "98ac6a1fb0ccdb0e249a7df49a238145eb971fdbebe1ee805174f99d28ef0dd3",
        users=9415,
        occupied=1032,
    ),
    "nettrace": DataSet(
        "connections of the hosts of a network",
        "NETTRACE.n4096.npy",
        "c402b04fa1f007431ef9f414e092064b44726b9a694c550eb446167fd0e670dd",
        users=25714,
        occupied=139,
    ),
}


def names() -> list[str]:
    """Return the names of all data sets, the public ones first."""
    return [*PUBLIC, *(name + STANDIN for name in PUBLIC)]


def is_standin(name: str) -> bool:
    """Return whether a name is that of a synthetic stand-in."""
    return check_name(name).endswith(STANDIN)


def check_name(name: str) -> str:
    """Return the name of a data set; refuse one that is not known."""
    if name not in names():
        raise UnknownName("data set", name, names())
    return name


def public(name: str) -> DataSet:
    """Return the record of a data set, or of the one that a stand-in stands for."""
    return PUBLIC[check_name(name).removesuffix(STANDIN)]


def standin_of(name: str) -> str:
    """The name of the stand-in for a data set; a stand-in stands for itself."""
    return name if is_standin(name) else name + STANDIN


def size_reason(domain_size: int) -> str | None:
    """Why the bins cannot be summed to that many user types, or ``None``."""
    if domain_size >= 1 and BINS % domain_size == 0:
        return None
    return f"the data sets have {BINS} bins, which adjacent sums reduce to a divisor of {BINS} only"


def binned(counts: IntArray, domain_size: int) -> IntArray:
    """Sums of adjacent bins: the data set over ``domain_size`` user types."""
    counts = check_counts(counts, BINS)
    n = check_positive_integer("domain_size", domain_size)
    reason = size_reason(n)
    if reason is not None:
        raise BadValue("domain_size", n, f"divide {BINS}", reason)
    return np.asarray(counts.reshape(n, BINS // n).sum(axis=1))


def shares(counts: IntArray, domain_size: int) -> FloatArray:
    """The share of each user type in the data, (n,), summing to one."""
    x = binned(counts, domain_size)
    return np.asarray(x / x.sum())
