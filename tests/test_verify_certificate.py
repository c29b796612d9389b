"""The tool that checks certificates: some three hundred forgeries, each refused in one line, at once."""

from __future__ import annotations

import json
import subprocess
import sys
import time
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest

from factormech.bounds import certificates
from factormech.mechanisms.local.optimal import exact
from factormech.mechanisms.local.optimal.problem import Problem
from factormech.workloads.registry import create
from tests.forgeries import forgeries, texts, written

TOOLS = Path(__file__).resolve().parents[1] / "tools"
SECONDS = 5.0


@pytest.fixture(scope="module")
def tool() -> ModuleType:
    sys.path.insert(0, str(TOOLS))
    try:
        import verify_certificate  # type: ignore[import-not-found]
    finally:
        sys.path.remove(str(TOOLS))
    return verify_certificate


def honest() -> dict[str, Any]:
    workload = create("prefix", 4)
    found = exact.solve(Problem(workload.centred_gram(), epsilon=1.0), np.random.default_rng(0))
    certificate = certificates.certify(workload.gram(), 1.0, found.details["dual"], found.details["multiplier"])
    record: dict[str, Any] = json.loads(certificate.text())
    return record


GOOD = honest()
FORGERIES = {f"record, {name}": written(record) for name, record in forgeries(GOOD)}
FORGERIES |= {f"file, {name}": text for name, text in texts()}


def said(tool: ModuleType, path: Path, capsys: pytest.CaptureFixture[str]) -> tuple[int, str]:
    start = time.perf_counter()
    code = tool.main([str(path)])
    assert time.perf_counter() - start < SECONDS
    return code, capsys.readouterr().out


def test_an_honest_certificate_holds(tool: ModuleType, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "good.json"
    path.write_bytes(written(GOOD))
    assert said(tool, path, capsys) == (0, f"holds: average variance per user >= {bound():.12g}\n")


def bound() -> float:
    from fractions import Fraction

    return float(Fraction(GOOD["average_variance_bound"]))


def test_there_are_enough() -> None:
    assert len(FORGERIES) >= 200


@pytest.mark.parametrize("name", FORGERIES)
def test_a_forgery_is_refused_in_one_line(
    name: str, tool: ModuleType, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "forged.json"
    path.write_bytes(FORGERIES[name])
    code, line = said(tool, path, capsys)
    assert code == 1, line
    assert line.endswith("\n")
    assert line.count("\n") == 1
    assert not line.startswith("holds")


@pytest.mark.parametrize("arguments", [[], ["no such file"], ["."], ["a", "b"], ["/dev/zero"]])
def test_no_file_is_refused_in_one_line(arguments: list[str]) -> None:
    command = [sys.executable, "-I", str(TOOLS / "verify_certificate.py"), *arguments]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)
    assert done.returncode == 1
    assert done.stdout.count("\n") == 1
    assert not done.stderr
