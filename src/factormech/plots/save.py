"""A figure on disk: PDF, SVG, PNG and EPS whose bytes depend on the figure alone."""

from __future__ import annotations

import io
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from factormech.errors import UnknownName
from factormech.plots import style
from factormech.store.atomic import write_whole

if TYPE_CHECKING:
    from matplotlib.figure import Figure

PNG_DPI = 200
# None removes what matplotlib would write by itself: dates and its own version.
_METADATA: dict[str, dict[str, Any]] = {
    "pdf": {"CreationDate": None, "Creator": None, "Producer": None},
    "svg": {"Date": None, "Creator": None},
    "png": {"Software": None},
    "eps": {"CreationDate": None, "Creator": None},
}
FORMATS = tuple(_METADATA)
# What every study makes.
USUAL = ("pdf", "svg", "png")


def save(figure: Figure, stem: Path | str, formats: Sequence[str] = USUAL) -> list[Path]:
    """Write ``stem``.pdf, .svg and .png, or these formats, and return their paths, in this order.

    All are drawn before the first is written, and each appears whole or not at all.
    """
    stem = Path(stem)
    for kind in formats:
        if kind not in FORMATS:
            raise UnknownName("format", kind, FORMATS)
    with style.context():
        contents = {kind: _drawn(figure, kind) for kind in formats}
    # Not with_suffix: a stem such as "eps0.5" has none to lose.
    paths = [stem.with_name(f"{stem.name}.{kind}") for kind in contents]
    for path, content in zip(paths, contents.values(), strict=True):
        write_whole(path, content)
    return paths


def _drawn(figure: Figure, kind: str) -> bytes:
    stream = io.BytesIO()
    figure.savefig(stream, format=kind, dpi=PNG_DPI, metadata=_METADATA[kind], facecolor=style.WHITE)
    return stream.getvalue()
