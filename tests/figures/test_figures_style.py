"""The style keeps its word: colours apart for colour-blind eyes, no two mechanisms alike, no name unknown."""

from __future__ import annotations

import itertools
import re
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import matplotlib as mpl
import numpy as np
import pytest

from factormech import labels
from factormech.arrays import FloatArray
from factormech.learning.selection import protocols
from factormech.mechanisms.central import registry as central
from factormech.mechanisms.local import registry as local
from factormech.mechanisms.pure import mechanism as pure
from factormech.plots import form, style
from factormech.studies import local_releases

PROJECT = local.names()
# The names of mechanisms that each registry knows; ``{p}`` stands for a whole number.
REGISTRIES: dict[str, Callable[[], list[str]]] = {
    "local": local.names,
    "local releases": local_releases.names,
    "central": central.names,
    "pure": pure.names,
    "selection": protocols.names,
}

# Machado, Oliveira & Fernandes, IEEE TVCG 15(6), 2009: total deficiency, for linear RGB.
EYES = {
    "normal": np.eye(3),
    "protanope": np.array(
        [
            [0.152286, 1.052583, -0.204868],
            [0.114503, 0.786281, 0.099216],
            [-0.003882, -0.048116, 1.051998],
        ]
    ),
    "deuteranope": np.array(
        [
            [0.367322, 0.860646, -0.227968],
            [0.280085, 0.672501, 0.047413],
            [-0.011820, 0.042940, 0.968881],
        ]
    ),
}
# sRGB (D65) to CIE XYZ, and the white that it gives.
XYZ = np.array(
    [[0.4124564, 0.3575761, 0.1804375], [0.2126729, 0.7151522, 0.0721750], [0.0193339, 0.1191920, 0.9503041]]
)


def lab(colour: str, eyes: str) -> FloatArray:
    """CIELAB of a colour as these eyes see it."""
    rgb = np.array([int(colour[i : i + 2], 16) for i in (1, 3, 5)]) / 255
    linear = np.where(rgb <= 0.04045, rgb / 12.92, ((rgb + 0.055) / 1.055) ** 2.4)
    xyz = XYZ @ np.clip(EYES[eyes] @ linear, 0, 1) / XYZ.sum(axis=1)
    f = np.where(xyz > 216 / 24389, np.cbrt(xyz), (24389 / 27 * xyz + 16) / 116)
    return np.array([116 * f[1] - 16, 500 * (f[0] - f[1]), 200 * (f[1] - f[2])])


def test_lab_of_known_colours() -> None:
    np.testing.assert_allclose(lab("#ffffff", "normal"), [100, 0, 0], atol=1e-6)
    np.testing.assert_allclose(lab("#ff0000", "normal"), [53.24, 80.09, 67.20], atol=0.02)
    red, green = (lab(colour, "deuteranope") for colour in ("#a05000", "#647800"))
    assert np.linalg.norm(red - green) < style.LEAST_DISTANCE  # a pair that deuteranopes do confuse


@pytest.mark.parametrize("eyes", EYES)
def test_colours_stay_apart(eyes: str) -> None:
    colours = {s.colour for s in style.mechanism_styles([*PROJECT, "some-plugin"]).values()}
    assert len(colours) == 9
    for a, b in itertools.combinations(sorted(colours), 2):
        assert np.linalg.norm(lab(a, eyes) - lab(b, eyes)) >= style.LEAST_DISTANCE, (a, b)
    for colour in colours:  # and from the paper
        assert np.linalg.norm(lab(colour, eyes) - lab("#ffffff", eyes)) >= 2 * style.LEAST_DISTANCE


@pytest.mark.parametrize("registry", REGISTRIES)
def test_every_registered_mechanism_has_a_style(registry: str) -> None:
    assert [name for name in REGISTRIES[registry]() if name.replace("{p}", "4") not in style.SERIES] == []


def test_every_style_of_a_local_mechanism_is_of_a_registered_one() -> None:
    assert sorted(style.MECHANISMS) == sorted(PROJECT)


def test_markers_alone_distinguish() -> None:
    markers = [style.MECHANISMS[name].marker for name in PROJECT]
    assert len(set(markers)) == len(markers)


def test_families_share_colours_and_differ_in_lines() -> None:
    for family in (
        ["hadamard", "hadamard-table1"],
        ["hierarchical", "hierarchical-table1"],
        ["fourier", "fourier-3"],
    ):
        styles = [style.MECHANISMS[name] for name in family]
        assert len({s.colour for s in styles}) == 1
        assert len({s.line for s in styles}) == 2
    assert len({style.MECHANISMS[n].line for n in ("matrix-l1", "matrix-l2", "matrix-l2-gaussian")}) == 3


@pytest.mark.parametrize("count", [1, 6, 18, 60])
def test_no_two_look_alike_whatever_the_plugins(count: int) -> None:
    styles = style.mechanism_styles([*PROJECT, *(f"plugin {i}" for i in range(count))])
    looks = [(s.colour, s.marker, s.line) for s in styles.values()]
    assert len(set(looks)) == len(looks) == len(PROJECT) + count
    markers = {s.marker for name, s in styles.items() if name not in style.MECHANISMS}
    assert len(markers) >= min(count, 6)
    assert not markers & {s.marker for s in style.MECHANISMS.values()}


def test_a_plugin_keeps_its_style() -> None:
    code = "from factormech.plots import style; print(style.mechanism_styles(['mine', 'rappor'])['mine'])"
    seen = {
        subprocess.run(
            [sys.executable, "-c", code],
            env={"PYTHONHASHSEED": seed, "PYTHONPATH": ":".join(sys.path)},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for seed in ("1", "2")
    }
    assert seen == {f"{style.mechanism_styles(['mine'])['mine']}\n"}


def test_bounds_are_grey_or_black_and_unlike() -> None:
    styles = style.bound_styles(["svd", "centred-svd", "other", "another"])
    assert {s.colour for s in styles.values()} <= {style.GREY, style.BLACK}
    assert len({(s.colour, s.line) for s in styles.values()}) == 4
    assert styles["svd"].label == "Lower bound, unbiased (SVD, McKenna et al. Cor. 5.7)"
    assert styles["centred-svd"].label == "Lower bound, unbiased (centred SVD)"


@pytest.mark.parametrize(
    ("name", "label"),
    [
        ("histogram", "Histogram"),
        ("all-ranges", "All Ranges"),
        ("3-way-marginals", "3-Way Marginals"),
        ("at-most-3-way-parities", "Parities (≤ 3-way)"),
        ("at-most-2-way-parities-01", "Parities (≤ 2-way) (0/1)"),
        ("conjunctions-2", "Conjunctions (≤ 2)"),
        ("my-own_XOR-workload", "My Own XOR Workload"),
        ("{0}", "{0}"),
    ],
)
def test_workload_labels(name: str, label: str) -> None:
    assert labels.workload_label(name) == label


def test_context_is_independent_of_the_users_settings_and_restores_them() -> None:
    with mpl.rc_context({"font.size": 31, "axes.facecolor": "red"}):
        with style.context():
            assert mpl.rcParams["axes.facecolor"] == "white"
            assert mpl.rcParams["font.size"] == form.SIZE
        assert mpl.rcParams["font.size"] == 31


def test_labels_need_no_matplotlib() -> None:
    module = "factormech.tables.latex"
    code = f"import sys, {module}; sys.exit(bool({{'matplotlib', 'pandas'}} & set(sys.modules)))"
    subprocess.run([sys.executable, "-c", code], env={"PYTHONPATH": ":".join(sys.path)}, check=True)


def test_colours_and_sizes_of_text_are_in_the_style_alone() -> None:
    """One file decides how figures look: no other module of figures has a colour, a width or a size of text."""
    wrong = re.compile(
        r'"#[0-9A-Fa-f]{3,6}"|"(?:black|white|red|gr[ea]y)"|fontsize=[\d.]+|style\.WIDTHS|(?:TEXT|SMALL)_SIZE'
    )
    for path in sorted(Path(style.__file__).parent.glob("*.py")):
        if path.name != "style.py":
            assert wrong.findall(path.read_text()) == [], path.name
