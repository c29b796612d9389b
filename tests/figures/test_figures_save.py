"""Files of a figure: three, whole, and the same bytes from any process."""

from __future__ import annotations

import hashlib
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pandas as pd
import pytest

from factormech.plots import registry
from factormech.plots.save import save
from factormech.tables import kinds as tables

pytestmark = pytest.mark.heavy

SCRIPT = """
import sys
from factormech.tables import kinds as tables
from factormech.plots import registry
from factormech.plots.save import save
save(registry.draw("sample-complexity", tables.read_csv(sys.argv[1])), sys.argv[2])
"""


@pytest.mark.slow
def test_two_processes_write_equal_bytes(make_table: Callable[..., pd.DataFrame], tmp_path: Path) -> None:
    """This one and another, with another hash seed and a matplotlibrc that would change everything."""
    table = tmp_path / "t.csv"
    tables.write_csv(make_table({"prefix": 1.0, "histogram": 0.1}), table)
    stems = [tmp_path / name / "figure" for name in ("here", "there")]
    save(registry.draw("sample-complexity", tables.read_csv(table)), stems[0])
    subprocess.run(
        [sys.executable, "-W", "error", "-c", SCRIPT, str(table), str(stems[1])],
        env={
            "PYTHONHASHSEED": "2",
            "PYTHONPATH": ":".join(sys.path),
            "HOME": str(tmp_path),
            "MATPLOTLIBRC": str(_matplotlibrc(tmp_path)),
        },
        check=True,
    )
    digests = []
    for stem in stems:
        files = sorted(stem.parent.iterdir())
        assert [f.name for f in files] == ["figure.pdf", "figure.png", "figure.svg"]
        digests.append([hashlib.sha256(f.read_bytes()).hexdigest() for f in files])
    assert digests[0] == digests[1]


def _matplotlibrc(folder: Path) -> Path:
    path = folder / "matplotlibrc"
    path.write_text("font.size: 20\nsvg.hashsalt: other\nlines.linewidth: 9\npdf.compression: 0\n")
    return path


def test_files_hold_no_dates_and_no_versions(make_table: Callable[..., pd.DataFrame], tmp_path: Path) -> None:
    paths = save(registry.draw("sample-complexity", make_table({"prefix": 1.0})), tmp_path / "eps0.5")
    assert [p.name for p in paths] == ["eps0.5.pdf", "eps0.5.svg", "eps0.5.png"]
    assert [p.read_bytes()[:4] for p in paths] == [b"%PDF", b"<?xm", b"\x89PNG"]
    for path in paths:
        content = path.read_bytes()
        for word in (
            rb"matplotlib[ -]*v?\d",
            rb"CreationDate",
            rb"<dc:date>",
            rb"Software",
            rb"20[0-9]{2}-[01]\d-",
        ):
            assert not re.search(word, content, flags=re.IGNORECASE), (path, word)
    assert b"/FontType 3" not in paths[0].read_bytes()
    width = int.from_bytes(paths[2].read_bytes()[16:20], "big")
    assert width == pytest.approx(5.2 * 200, abs=1)


@pytest.mark.slow
def test_nothing_is_written_if_one_format_fails(
    make_table: Callable[..., pd.DataFrame], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    figure = registry.draw("sample-complexity", make_table({"prefix": 1.0}))
    savefig = figure.savefig

    def fail(stream: object, *, format: str, **more: object) -> None:
        if format == "png":
            raise OSError("disk full")
        savefig(stream, format=format, **more)

    monkeypatch.setattr(figure, "savefig", fail)
    with pytest.raises(OSError, match="disk full"):
        save(figure, tmp_path / "f")
    assert not list(tmp_path.iterdir())


def test_a_notebook_shows_the_whole_figure(make_table: Callable[..., pd.DataFrame]) -> None:
    """Cropped to what it shows, the figure keeps its legend, and its size but for the margins."""
    figure = registry.draw("sample-complexity", make_table({"prefix": 1.0}))
    assert figure._repr_png_().startswith(b"\x89PNG")
    whole = figure.get_window_extent().bounds[3] / figure.dpi
    assert figure.get_tightbbox().bounds[3] > 0.95 * whole
    assert figure.legends[0].get_window_extent().y0 / figure.dpi >= figure.get_tightbbox().y0
