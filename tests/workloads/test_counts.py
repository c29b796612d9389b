"""Counts of users by type: the same numbers from every form, in the order of the workload's types."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import factormech as fm
from factormech.errors import BadValue
from factormech.workloads.counts import counts_of

AGES = ["0-17", "18-64", "65+"]
W = fm.workload(pd.DataFrame(np.tri(3), index=["a", "b", "c"], columns=AGES))
PLAIN = fm.workload("prefix", 3)
TEXTS = {
    "a row": "10,20,30\n",
    "a column": "10\n20\n30\n",
    "a row under names": "65+;18-64;0-17\n30;20;10\n",
    "a column beside names": "65+,30\n18-64,20\n0-17,10\n",
    "a histogram": "age,count\n65+,30\n18-64,20\n0-17,10\n",
    "a histogram of a spreadsheet": '"age";"count"\r\n"65+";"30"\r\n"18-64";"20"\r\n"0-17";"10"\r\n',
}


class Interchanged:
    """A data frame of another library: it speaks the interchange protocol, and nothing else."""

    def __init__(self, frame: pd.DataFrame) -> None:
        self._frame = frame

    def __dataframe__(self, *arguments: object, **named: object) -> object:
        return self._frame.__dataframe__(*arguments, **named)


@pytest.mark.parametrize("form", TEXTS)
def test_every_form_of_a_file_has_the_same_counts(tmp_path: Path, form: str) -> None:
    path = tmp_path / "data.csv"
    path.write_bytes(TEXTS[form].encode("utf-8-sig"))
    assert counts_of(W, path).tolist() == counts_of(W, str(path)).tolist() == [10.0, 20.0, 30.0]


def test_a_histogram_of_numbered_types_is_in_order(tmp_path: Path) -> None:
    path = tmp_path / "data.csv"
    path.write_text("age,count\n18,10\n19,20\n25,30\n")
    assert counts_of(PLAIN, path).tolist() == [10.0, 20.0, 30.0]
    path.write_text("age,count\n18,10\n25,20\n19,30\n")
    with pytest.raises(BadValue, match=r"data.csv, line 4, column 1 = '19': must be above 25"):
        counts_of(PLAIN, path)


def test_series_and_data_frames_are_matched_by_name() -> None:
    series = pd.Series([30, 20, 10], index=["65+", "18-64", "0-17"])
    frame = series.rename_axis("age").reset_index(name="count")
    forms: list[Any] = [series, frame, series.to_frame("count"), series.to_frame("count").T, [10, 20, 30]]
    forms += [np.array([10, 20, 30]), pd.Series([10, 20, 30]), series.to_dict(), Interchanged(frame)]
    for data in forms:
        assert counts_of(W, data).tolist() == [10.0, 20.0, 30.0]
    assert fm.answer(W, frame).to_dict() == {"a": 10.0, "b": 30.0, "c": 60.0}


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (pd.Series([1, 2, 3], index=["0-17", "18-64", "66+"]), "unknown: 66.; missing: 65."),
        (pd.Series([1, 2, 3, 4], index=[*AGES, "65+"]), "a type twice"),
        ([1, 2], "data = '2 numbers': must be 3 numbers"),
        ([1, 2.5, 3], r"data\[1\] = 2.5: must be a whole number"),
        ([1, -2, 3], r"data\[1\] = -2"),
        ({"65+": -1, "18-64": 2, "0-17": 3}, r"data\['65\+'\] = -1"),
        (pd.DataFrame(np.ones((3, 3))), "a data frame of shape"),
    ],
)
def test_what_does_not_fit_is_refused(data: Any, said: str) -> None:
    with pytest.raises(BadValue, match=said):
        counts_of(W, data)


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ("65+,30\n18-64,20\n0-17,-10\n", "line 3"),
        ("age,count\n65+,30\n18-64,-20\n0-17,10\n", "line 3"),
        ("0-17,18-64,65+\n10,20,-30\n", "line 2, column 3"),
    ],
)
def test_a_wrong_count_in_a_file_is_said_with_its_line(tmp_path: Path, text: str, place: str) -> None:
    """Whatever the order of the lines is: names are matched before counts are checked."""
    (tmp_path / "data.csv").write_text(text)
    with pytest.raises(BadValue, match=rf"data.csv, {place} = -\d+.0: must be a whole number of at least 0"):
        counts_of(W, tmp_path / "data.csv")
