"""Snakemake's scheduler is not woken more and more often as jobs end."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from tests import snakemake_forks

pytestmark = pytest.mark.workflow

RULES = Path(__file__).resolve().parent.parent / "workflow/rules/scheduling.smk"
SNAKEFILE = f"""
import sys

include: "{RULES}"


def limit(wildcards):
    unlimited(workflow.scheduling_settings)
    found = workflow.scheduling_settings.max_jobs_per_timespan
    print("limit:", found and (found.max_jobs, found.timespan), file=sys.stderr)
    return "here"


rule nothing:
    input: limit
"""


def snakemake(folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    return snakemake_forks.run(folder, words, os.environ | {"PYTHONPATH": ""})


@pytest.mark.parametrize(
    ("words", "limit"), [((), "None"), (("--max-jobs-per-timespan", "7/1m"), "(7, 60.0)")], ids=["default", "asked"]
)
def test_only_the_limit_that_nobody_asked_for_is_taken_away(tmp_path: Path, words: tuple[str, ...], limit: str) -> None:
    (tmp_path / "Snakefile").write_text(SNAKEFILE)
    (tmp_path / "here").touch()
    done = snakemake(tmp_path, "--cores", "1", *words)
    assert done.returncode == 0, done.stderr
    assert f"limit: {limit}" in done.stderr


@pytest.mark.slow
def test_nothing_looks_at_the_jobs_between_their_ends(tmp_path: Path) -> None:
    """After thirty jobs the last is waited for by a few threads, and not by one more for each of them."""
    rules = f"""
include: "{RULES}"


def ready(wildcards):
    unlimited(workflow.scheduling_settings)
    return []


rule all:
    input: expand("{{i}}.txt", i=range(30)), "last.txt"


rule quick:
    input: ready
    output: "{{i}}.txt"
    wildcard_constraints: i="[0-9]+"
    priority: 1
    shell: "touch {{output}}"


rule last:
    output: "last.txt"
    threads: 2
    shell: "sleep 0.2; ls /proc/$PPID/task | wc -l > {{output}}"
"""
    (tmp_path / "Snakefile").write_text(rules)
    done = snakemake(tmp_path, "--cores", "2", "--scheduler", "greedy")
    assert done.returncode == 0, done.stderr
    assert int((tmp_path / "last.txt").read_text()) < 15
