"""What a study is based on, as entries of BibTeX: its paper, its mechanisms, its data sets, and this software."""

from __future__ import annotations

import re
from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pandas as pd

SOFTWARE, DATA_SETS = "factormech", "hay2016"
# Who proposed a mechanism, by the beginning of its name; variants and those of the studied papers have no entry here.
MECHANISMS = {
    "randomized-response": "warner1965",
    "rappor": "erlingsson2014",
    "subset-selection": "ye2018",
    "hadamard": "acharya2019",
    "hierarchical": "cormode2019",
    "fourier": "cormode2018",
    "matrix-l": "li2015",
    "adaptive-pgd": "mckenna2020",
    "analytic": "balle2018",
    "k-norm": "hardt2010",
}
_ENTRY = re.compile(r"^@\w+\{(\w+),.*?^\}$", re.MULTILINE | re.DOTALL)


def entries(keys: Iterable[str], before: str = "") -> str:
    """Return these entries after those of ``before``, each once, as a BibTeX file."""
    from factormech import __version__

    text = (Path(__file__).parent / "references.bib").read_text(encoding="utf-8")
    known = _by_key(text.replace("@VERSION@", __version__))
    return "\n\n".join((_by_key(before) | {key: known[key] for key in keys}).values()) + "\n"


def keys_of(paper: str, frame: pd.DataFrame) -> list[str]:
    """Return the keys of what a table of a study of this paper is based on, the paper first."""
    names = _values(frame, "mechanism") + _values(frame, "calibration")
    used = [key for start, key in MECHANISMS.items() if any(str(name).startswith(start) for name in names)]
    data = [DATA_SETS] if any(not str(name).endswith("-case") for name in _values(frame, "data")) else []
    papers = [paper] if paper in _known_keys() else []
    return list(dict.fromkeys([*papers, *used, *data, SOFTWARE]))


def _values(frame: pd.DataFrame, column: str) -> list[Any]:
    return [value for value in frame[column].unique().tolist() if value] if column in frame else []


def _known_keys() -> set[str]:
    return set(_by_key((Path(__file__).parent / "references.bib").read_text(encoding="utf-8")))


def _by_key(text: str) -> dict[str, str]:
    return {found[1]: found[0] for found in _ENTRY.finditer(text)}
