"""What a manuscript takes from a study: numbers of its table, captions whose numbers are macros, figures in form."""

from __future__ import annotations

import io
import re
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import factormech as fm
from factormech.cli.main import main
from factormech.cli.paper import inches
from factormech.config.studies import Config, load_file
from factormech.errors import BadValue, UnknownName
from factormech.manuscript import export, numbers
from factormech.manuscript.numbers import Number, with_macros
from factormech.plots import form
from factormech.plots.registry import draw
from factormech.plots.save import save
from factormech.studies.sample_complexity import LOWER_BOUND
from factormech.tables import kinds
from tests.tiers import every

pytestmark = pytest.mark.heavy

ROOT = Path(__file__).resolve().parents[2]
GALLERY = ROOT / "docs" / "gallery"
STUDY = "gaussian-calibration"


@pytest.fixture(scope="module")
def table() -> pd.DataFrame:
    return kinds.read_csv(GALLERY / f"{STUDY}.csv")


@pytest.fixture(scope="module")
def config() -> Config:
    return load_file(ROOT / "config.yaml", ROOT / "workflow/schemas/config.schema.yaml")


# Numbers ------------------------------------------------------------------------------------------------------------


def test_numbers_are_those_of_the_table(table: pd.DataFrame) -> None:
    found = {one.name: one.value for one in numbers.numbers(table)}
    assert found["EpsilonMin"] == table["epsilon"].min()
    assert found["EpsilonCount"] == table["epsilon"].nunique()
    analytic = table.loc[table["calibration"] == "analytic", "sigma"]
    assert found["AnalyticMedianSigma"] == analytic.median()
    assert found["MaxSigma"] == table["sigma"].max()


def test_the_ratio_of_the_derived_table_has_its_macro(config: Config) -> None:
    source = GALLERY / "mckenna2020-figure-1.csv"
    study = config.study("mckenna2020-figure-1")
    text = export.texts(study, kinds.read_csv(source), source, 3.33)["mckenna2020-figure-1-numbers.tex"]
    ratio = kinds.read_csv(GALLERY / "mckenna2020-figure-1-improvement.csv")["improvement"].median()
    assert f"\\newcommand{{\\fmFigureOneMedianImprovement}}{{{numbers.measured(float(ratio))}}}" in text


@pytest.mark.parametrize(
    ("value", "latex"),
    [
        (0.5, r"\num{0.5}"),
        (512.0, r"\num{512}"),
        (1e-9, r"\ensuremath{10^{-9}}"),
        (float("inf"), r"\ensuremath{\infty}"),
        (2.5e-7, r"\num{2.5e-07}"),
    ],
)
def test_settings_keep_all_digits(value: float, latex: str) -> None:
    assert numbers.exact(value) == latex


@pytest.mark.slow
def test_names_have_letters_alone_and_are_distinct(config: Config) -> None:
    """Over all studies: a document may input them all."""
    names: list[str] = []
    for name, study in config.studies.items():
        if (GALLERY / f"{name}.csv").is_file():
            prefix = numbers.prefix_of(name, study.paper)
            names += [prefix + one.name for one in numbers.numbers(kinds.read_csv(GALLERY / f"{name}.csv"))]
    assert len(names) > 1000
    assert all(re.fullmatch("[A-Za-z]+", name) for name in names)
    assert sorted({name for name in names if names.count(name) > 1}) == []


@pytest.mark.parametrize(
    ("text", "name"),
    [("figure-1", "FigureOne"), ("0.5", "ZeroPointFive"), ("matrix-l2", "MatrixLTwo"), ("2.0", "TwoPointZero")],
)
def test_digits_are_spelt(text: str, name: str) -> None:
    assert numbers.camel(text) == name


# Captions -----------------------------------------------------------------------------------------------------------


SETTINGS = [
    Number("EpsilonMin", 0.5, "", "privacy budget ε, minimum", "ε"),
    Number("EpsilonMax", 4.0, "", "privacy budget ε, maximum", "ε"),
    Number("DomainSize", 512.0, "", "domain size n", "n"),
    Number("Delta", 1e-6, "", "failure probability δ", "δ"),
    Number("Alpha", 0.01, "", "target error α", "α"),
]


@pytest.mark.parametrize(
    ("caption", "latex"),
    [
        ("privacy budget ε from 0.5 to 4", r"privacy budget $\varepsilon$ from \fmXEpsilonMin{} to \fmXEpsilonMax{}"),
        ("with n = 512, δ = 10⁻⁶", r"with $n$ = \fmXDomainSize{}, $\delta$ = \fmXDelta{}"),
        ("mean squared error 0.01 per query", r"mean squared error \fmXAlpha{} per query"),
        ("Theorem 3.4, 3-way, PVLDB 13(11), 2020", "Theorem 3.4, 3-way, PVLDB 13(11), 2020"),
        ("n = 64", r"$n$ = \fmXCaptionA{}"),
        ("a factor of 1.69 in 12 cells", r"a factor of \fmXCaptionA{} in \fmXCaptionB{} cells"),
    ],
)
def test_numbers_of_a_caption_are_macros(caption: str, latex: str) -> None:
    text, own = with_macros(caption, (), SETTINGS, "X")
    assert text == latex
    assert [one.name for one in own] == sorted(set(re.findall(r"Caption[A-Z]", latex)))


def test_typed_numbers_stay_unless_a_setting_is_there() -> None:
    typed = "The paper reports 139 seconds at n = 512."
    text, own = with_macros(f"Seconds in 3 runs. {typed}", (typed,), SETTINGS, "X")
    assert text == r"Seconds in \fmXCaptionA{} runs. The paper reports 139 seconds at $n$ = \fmXDomainSize{}."
    assert [one.value for one in own] == [3.0]


# Selection, files, refusals -----------------------------------------------------------------------------------------


def test_panels_and_mechanisms_leave_the_other_rows_alone() -> None:
    frame = kinds.read_csv(GALLERY / "mckenna2020-figure-1.csv")
    kept = export.select(frame, export.Selection(("prefix",), ("optimised",)))
    assert set(kept["workload"]) == {"prefix"}
    assert set(kept["mechanism"]) == {"optimised", LOWER_BOUND}
    whole = frame[(frame["workload"] == "prefix") & frame["mechanism"].isin(["optimised", LOWER_BOUND])]
    pd.testing.assert_frame_equal(kept, whole.reset_index(drop=True))


def test_panels_may_be_numbers(table: pd.DataFrame) -> None:
    kept = export.select(table, export.Selection(("1e-06",), ("analytic",)))
    assert set(kept["delta"]) == {1e-6}
    with pytest.raises(UnknownName, match=r"known: 0\.001, 1e-06"):
        export.select(table, export.Selection(("0.5",)))


@pytest.mark.slow
def test_files_are_written_and_references_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(ROOT)
    table = GALLERY / f"{STUDY}.csv"
    files = fm.paper(STUDY, tmp_path, formats=("svg", "eps"), table=table, prefix="Sigma")
    names = ["svg", "eps"]
    assert [path.name for path in files] == [
        *(f"{STUDY}.{kind}" for kind in names),
        *(f"{STUDY}-{part}.tex" for part in ("figure", "table", "numbers")),
        "references.bib",
    ]
    assert all(path.stat().st_size > 200 for path in files)
    assert "\\newcommand{\\fmSigmaEpsilonMin}" in (tmp_path / f"{STUDY}-numbers.tex").read_text()
    before = (tmp_path / "references.bib").read_text()
    fm.paper("edmonds2020-norms", tmp_path, table=GALLERY / "edmonds2020-norms.csv")
    after = (tmp_path / "references.bib").read_text()
    keys = [re.findall(r"^@\w+\{(\w+),", text, re.MULTILINE) for text in (before, after)]
    assert set(keys[0]) < set(keys[1])
    assert len(keys[1]) == len(set(keys[1]))
    assert "edmonds2020" in keys[1]
    assert f"version {fm.__version__}" in after


def test_every_paper_and_mechanism_has_its_entry(config: Config) -> None:
    papers = {study.paper for study in config.studies.values()}
    keys = {*papers, *export.SOURCES.values(), export.DATA_SETS, export.SOFTWARE}
    text = export.entries(sorted(keys))
    assert text.count("\n@") + 1 == len(keys)
    frame = kinds.read_csv(GALLERY / "mckenna2020-figure-3a.csv")
    assert {"mckenna2020", "warner1965", "cormode2018", "hay2016"} <= set(export.keys_of("mckenna2020", frame))


@pytest.mark.parametrize(
    ("settings", "says"),
    [
        ({"width": 1.0}, "width = 1.0: must be from 2 to 20 inches"),
        ({"size": 40.0}, "size = 40.0: must be from 5 to 14 points"),
        ({"font": "No Such Font"}, "font = 'No Such Font': must be serif, sans or the name"),
        ({"formats": ("gif",)}, "did you mean 'eps'|known: "),
        ({"table": GALLERY / "epsilon.csv"}, "be gaussian-calibration"),
    ],
)
def test_what_cannot_be_printed_is_refused(
    settings: dict[str, object], says: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(ROOT)
    with pytest.raises(BadValue, match=says):
        fm.paper(STUDY, tmp_path / "new", **{"table": GALLERY / f"{STUDY}.csv", **settings})  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("text", "value"), [("3.33in", 3.33), ("84.582mm", 3.33), ("8.4582cm", 3.33), ("240.6591pt", 3.33)]
)
def test_widths_have_units(text: str, value: float) -> None:
    assert inches(text) == pytest.approx(value, rel=1e-9)


def test_a_wrong_width_is_answered_in_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["paper", STUDY, "--width", "9yd", "--config", str(ROOT / "config.yaml")]) == 1
    assert capsys.readouterr().err.startswith("error: --width = '9yd': must be a number with in, cm, mm or pt")


# The form of figures ------------------------------------------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.parametrize("study", every(4, [STUDY, "mckenna2020-figure-1", "simulated-collection", "pure-constants"]))
def test_a_figure_is_as_wide_as_asked_with_text_of_the_size_and_in_grey(study: str, tmp_path: Path) -> None:
    from matplotlib.image import imread

    frame = kinds.read_csv(GALLERY / f"{study}.csv")
    asked = form.Form(width=3.33, size=7.0, font="sans", monochrome=True)
    with form.printed(asked):
        figure = draw(kinds.kind_of(frame), frame)
        form.in_grey(figure)
        png, svg = save(figure, tmp_path / study, ("png", "svg"))
    assert figure.get_figwidth() == 3.33
    labels = {text.get_fontsize() for ax in figure.axes for text in ax.get_xticklabels()}
    assert labels <= {6.5, 5.6875}
    assert len(figure.axes) > 0
    pixels = imread(io.BytesIO(png.read_bytes()))
    assert np.ptp(pixels[..., :3], axis=2).max() == 0.0
    assert 'width="239.76pt"' in svg.read_text()
    assert form.text_size() == form.SIZE  # the form ends with its context
