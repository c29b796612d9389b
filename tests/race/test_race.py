"""The race itself: what is stored follows from the rounds, and every contest runs."""

from __future__ import annotations

import csv
import re
import sys
from pathlib import Path

import pytest
from benchmarks.race import __main__ as race
from benchmarks.race.child import measure
from benchmarks.race.contest import Contest
from benchmarks.race.contests import CONTESTS, collection, norms
from benchmarks.race.runner import COLUMNS, ROOT, Track, one_round, read

ROWS = read(race.RAW)


def test_the_page_and_the_tables_are_those_of_the_rounds() -> None:
    assert race.problems(ROWS) == []


def test_a_changed_round_is_noticed() -> None:
    other = [dict(row) for row in ROWS]
    other[0] |= {"cpu_seconds": "1000", "disagreement": "99"}
    found = "\n".join(race.problems(other))
    assert "docs/race.md is not that of" in found
    assert "disagrees by 99" in found
    other[0] |= {"contestant": "nobody", "work": "other"}
    found = "\n".join(race.problems(other))
    assert "nobody is not in the race any more" in found
    assert "different works" in found


def test_every_ratio_is_shown_lost_ones_by_name() -> None:
    page = race.PAGE.read_text(encoding="utf-8")
    ratios = race.made(ROWS)[0]
    assert len(re.findall(r"^\| \d+ \| [^|]+ / factormech", page, re.MULTILINE)) == len(ratios)
    for one in ratios:
        listed = f"* loses: {one.contest} at {one.size}, {one.ours} against {one.peer}:" in page
        assert listed == (one.cpu.verdict == "loses")


def test_contests_have_ours_and_a_peer_at_every_size() -> None:
    for contest in CONTESTS.values():
        for size in contest.sizes:
            assert {who.is_ours for who in contest.at(size)} == {True, False}
        names = [who.name for who in contest.contestants]
        assert len(set(names)) == len(names)
        assert all(
            who.lender is None or set(who.sizes) <= set(contest.contestant(who.lender).sizes)
            for who in contest.contestants
        )


def test_peers_need_nothing_of_ours_to_be_named() -> None:
    """Their environment has no factormech: contests must load without it."""
    import subprocess

    code = "import sys, benchmarks.race.child; print([m for m in ('factormech', 'scipy', 'cvxpy') if m in sys.modules])"
    said = subprocess.check_output([sys.executable, "-c", code], text=True, cwd=ROOT)
    assert said.strip() == "[]"


def test_laws_of_the_oracles_are_those_of_our_strategies() -> None:
    from factormech.mechanisms.local.registry import strategy_for
    from factormech.workloads.registry import create

    x = collection.counts(1000)
    assert x.sum() == 1000
    histogram = create("histogram", collection.TYPES)
    laws = {
        "randomized-response": collection.direct_law,
        "subset-selection": collection.subset_law,
        "hadamard-table1": collection.hadamard_law,
        "rappor": collection.unary_law,
    }
    for name, law in laws.items():
        strategy = strategy_for(name, histogram, collection.EPSILON)
        exact = strategy.evaluate(histogram.centred_gram()).on(x.astype(float))  # type: ignore[union-attr]
        # Ours estimates I − 11ᵀ/n, the number of users being known: a little less error than each type alone has.
        assert 0.9 * law(x) <= exact <= law(x) * (1 + 1e-9), name


def test_an_answer_of_another_law_is_a_surprise() -> None:
    x = collection.counts(10_000).astype(float)
    expected = collection.direct_law(x)
    fair = x + (expected / len(x)) ** 0.5
    assert collection.surprise(fair, x, expected)[0] < 3.0
    assert collection.surprise(x + 2.0 * (fair - x), x, expected)[0] > collection.SAME_LAW
    assert collection.surprise(x, x, expected)[0] > collection.SAME_LAW
    assert collection.surprise(x, x, expected, clipped=True)[0] < 1.0


def test_random_signs_are_no_prefix_sums() -> None:
    assert set(norms.matrix("random-signs", 8).ravel()) == {-1.0, 1.0}
    assert norms.matrix("prefix", 3).tolist() == [[1, 0, 0], [1, 1, 0], [1, 1, 1]]


def test_without_the_peers_a_line_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Measured rounds go on where they were: a second run measures nothing."""
    calls: list[str] = []

    def run(self: Track, contest: Contest, who: object, size: int, lent: float | None) -> dict[str, object]:
        del self, contest, size, lent
        calls.append(getattr(who, "name", ""))
        numbers = dict.fromkeys(("cpu_seconds", "wall_seconds", "base_mebibytes", "peak_mebibytes"), 1.0)
        return numbers | {"version": "1", "work": "w", "answer": [1.0]}

    monkeypatch.setattr(Track, "run", run)
    for name in ("RAW", "MACHINE"):
        monkeypatch.setattr(race, name, tmp_path / f"{name}.csv")
    monkeypatch.setattr(race, "finish", lambda rows: None)
    arguments = [
        "race",
        "--only",
        "gaussian-sigma",
        "--sizes",
        "100",
        "--rounds",
        "2",
        "--peers",
        str(tmp_path / "none"),
    ]
    monkeypatch.setattr(sys, "argv", arguments)
    race.main()
    assert "without dp-accounting" in capsys.readouterr().out
    assert calls == ["factormech"] * 2
    race.main()
    assert calls == ["factormech"] * 2
    with (tmp_path / "RAW.csv").open(newline="") as file:
        reader = csv.DictReader(file)
        assert tuple(reader.fieldnames or ()) == COLUMNS
        assert [line["round"] for line in reader] == ["0", "1"]


@pytest.mark.slow
@pytest.mark.parametrize("contest", CONTESTS.values(), ids=lambda contest: contest.name)
def test_ours_run_at_a_tiny_size(contest: Contest) -> None:
    found = {
        who.name: measure(contest.name, who.name, contest.tiny, None) for who in contest.contestants if not who.peers
    }
    answers = [one["answer"] for one in found.values()]
    assert len({one["work"] for one in found.values()}) == 1
    assert all(contest.disagreement(answer, answers[0]) <= contest.tolerance for answer in answers)
    assert all(one["cpu_seconds"] > 0 and one["peak_mebibytes"] > 0 for one in found.values())


@pytest.mark.slow
def test_a_round_in_processes_of_their_own() -> None:
    rows = one_round(CONTESTS["consistency-1"], 64, 1, Track())
    # In the second round the second begins.
    assert [row["contestant"] for row in rows] == ["scipy nnls", "scipy lsq_linear", "scipy SLSQP", "factormech"]
    assert [row["position"] for row in rows] == ["0", "1", "2", "3"]
    assert all(float(row["disagreement"]) <= 1e-4 for row in rows)
