"""How the package refuses: errors with name, value, rule and remedy, and reasons why a mechanism cannot run."""

from __future__ import annotations

import difflib
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

# Errors.


class BadValue(ValueError):
    """A value that a caller, a configuration or a file gave, and that breaks a rule.

    Parameters
    ----------
    name
        The argument or configuration key, as the caller knows it.
    value
        What was found.
    rule
        What holds of a good value, continuing the sentence "must …".
    remedy
        What to do, a full phrase.

    Examples
    --------
    >>> import factormech as fm
    >>> try:
    ...     fm.mechanism("hadamard", epsilon=0)
    ... except fm.BadValue as error:
    ...     print(error)
    epsilon = 0: must be a finite number above 0; give for example 1.0
    """

    def __init__(self, name: str, value: Any, rule: str, remedy: str) -> None:
        self.name, self.value, self.rule, self.remedy = name, value, rule, remedy
        super().__init__(f"{name} = {shorten(value)}: must {rule}; {remedy}")


class UnknownName(BadValue):
    """A name that no registry entry has; the known ones are listed, the nearest first.

    Examples
    --------
    >>> import factormech as fm
    >>> try:
    ...     fm.mechanism("hadamrd", epsilon=1.0)
    ... except fm.UnknownName as error:
    ...     print(error.remedy[:24])
    did you mean 'hadamard'?
    """

    def __init__(self, name: str, value: str, known: Iterable[str]) -> None:
        known = sorted(known)
        near = difflib.get_close_matches(str(value), known, n=1)
        remedy = (f"did you mean {near[0]!r}? " if near else "") + f"known: {', '.join(known)}"
        super().__init__(name, value, "be a known name", remedy)


# The extra of the package that brings a library: ``pip install 'factormech[plots]'``.
_EXTRAS = {
    "jinja2": "pipeline",
    "jsonschema": "pipeline",
    "snakemake": "pipeline",
    "yaml": "pipeline",
    "matplotlib": "plots",
}


class MissingExtra(ImportError):
    """A library that the core of the package does without is not installed; the message says what to type.

    Examples
    --------
    >>> print(MissingExtra("matplotlib"))
    matplotlib is not installed; type: pip install 'factormech[plots]'
    """

    def __init__(self, library: str) -> None:
        extra = _EXTRAS.get(library)
        what = f"'factormech[{extra}]'" if extra else library
        super().__init__(f"{library} is not installed; type: pip install {what}", name=library)

    @classmethod
    def of(cls, error: ModuleNotFoundError) -> MissingExtra:
        """Return the error for a failed import: the library, and the extra to install."""
        return cls((error.name or "a library").partition(".")[0])


def shorten(value: Any, width: int = 60) -> str:
    """``repr`` of a value, cut to fit on a line."""
    text = repr(value).replace("\n", " ")
    return text if len(text) <= width else text[: width - 1] + "…"


# Reasons.


@dataclass(frozen=True)
class Unavailable:
    """The reason why a mechanism cannot run at a grid point; tables, legends and captions repeat the text.

    Examples
    --------
    >>> import factormech as fm
    >>> fm.mechanism("binary-tree", epsilon=1.0, delta=1e-9).fit(fm.workload("histogram", 4)).strategy
    Unavailable(reason='it is for prefix sums and ranges only')
    """

    reason: str
