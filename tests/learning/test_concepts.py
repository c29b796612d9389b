"""Concept classes: their labels by definition, duplicates merged, bad ones refused."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from scipy.optimize import linprog

from factormech.errors import BadValue, UnknownName
from factormech.learning.concepts import CONCEPTS, bits, check_name, concept_class, difference_matrix, from_matrix


@pytest.mark.parametrize(
    ("name", "size", "shape"),
    [
        ("thresholds", 5, (5, 5)),
        ("points", 4, (4, 4)),
        ("parities", 3, (8, 8)),
        ("2-way-parities", 4, (6, 16)),
        ("conjunctions", 3, (8, 8)),
        ("decision-stumps", 3, (6, 8)),
        ("halfspaces", 2, (14, 4)),
    ],
)
def test_shapes_and_labels(name, size, shape):
    found = concept_class(name, size)
    assert (found.size, found.domain_size) == shape == (len(found.concepts), len(found.points))
    assert found.matrix.dtype == np.int8
    assert set(np.unique(found.matrix)) == {-1, 1}
    assert found.merged == 0
    assert len(np.unique(found.matrix, axis=0)) == found.size


def test_labels_by_definition():
    x = bits(3)
    conjunctions, parities = concept_class("conjunctions", 3), concept_class("parities", 3)
    for S, (held, odd) in enumerate(zip(conjunctions.matrix, parities.matrix, strict=True)):
        inside = [j for j in range(3) if S >> j & 1]
        assert np.array_equal(held, np.where(x[:, inside].all(axis=1), 1, -1))
        assert np.array_equal(odd, (-1) ** x[:, inside].sum(axis=1))
    assert conjunctions.concepts[5] == "x0 & x2"
    assert conjunctions.points[5] == "101"
    assert concept_class("thresholds", 3).matrix.tolist() == [[1, -1, -1], [1, 1, -1], [1, 1, 1]]
    assert concept_class("points", 2).matrix.tolist() == [[1, -1], [-1, 1]]


def test_halfspaces_are_the_separable_dichotomies():
    """Each of the 2^9 labellings of the grid of side 3 by a linear program."""
    grid = np.array([[a, b, -1.0] for a in range(3) for b in range(3)])

    def separable(labels: np.ndarray) -> bool:
        return linprog(np.zeros(3), A_ub=-labels[:, None] * grid, b_ub=-np.ones(9), bounds=(None, None)).status == 0

    known = {row.tobytes() for row in concept_class("halfspaces", 3).matrix}
    for labels in itertools.islice(itertools.product((-1, 1), repeat=9), 256):  # the others are their negations
        assert separable(np.array(labels)) == (np.array(labels, dtype=np.int8).tobytes() in known)
    assert len(known) == 58


def test_duplicates_are_merged_and_counted():
    found = from_matrix([[1, -1], [-1, 1], [1, -1]], "mine", concepts=("a", "b", "c"))
    assert found.merged == 1
    assert found.concepts == ("a", "b")
    assert found.matrix.tolist() == [[1, -1], [-1, 1]]


def test_differences():
    found = concept_class("thresholds", 3)
    assert difference_matrix(found).tolist() == [[0, -1, 0], [0, -1, -1], [0, 0, -1]]


def test_file(tmp_path):
    path = tmp_path / "mine.csv"
    path.write_text("1,-1,1\n-1,-1,1\n")
    assert concept_class(f"file:{path}", 3).matrix.tolist() == [[1, -1, 1], [-1, -1, 1]]
    with pytest.raises(BadValue, match="number of points"):
        concept_class(f"file:{path}", 4)


@pytest.mark.parametrize("matrix", [[[0, 1]], [[1, 2]], np.zeros((0, 3)), [[1.0, np.nan]], [1, -1], [["a"]]])
def test_bad_labels(matrix):
    with pytest.raises(BadValue, match="mine"):
        from_matrix(matrix, "mine")


def test_bad_names_and_sizes():
    with pytest.raises(UnknownName, match="did you mean 'thresholds'"):
        concept_class("threshold", 4)
    for name in (*CONCEPTS, "3-way-parities", "file:a.csv"):
        check_name(name)
    for name, size in (("parities", 40), ("parities", 0), ("3-way-parities", 2), ("halfspaces", 99)):
        with pytest.raises(BadValue, match="size"):
            concept_class(name, size)
    with pytest.raises(BadValue, match="at least 2"):
        difference_matrix(from_matrix([[1]], "one"))
