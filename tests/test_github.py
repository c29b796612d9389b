"""What GitHub, the catalog and a container read: the files parse, and what they name is there."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
import yaml

import factormech

ROOT = Path(__file__).resolve().parent.parent
WORKFLOWS = sorted((ROOT / ".github/workflows").glob("*.yml"))
TARGETS = set(re.findall(r"^([a-z-]+):.*##", (ROOT / "Makefile").read_text(), re.MULTILINE))


@pytest.mark.parametrize("path", WORKFLOWS, ids=lambda path: path.stem)
def test_a_workflow_names_what_is_there(path: Path) -> None:
    text = path.read_text()
    content = yaml.safe_load(text)
    assert content["permissions"] == {"contents": "read"}  # what a job may do beyond, it says itself
    for job in content["jobs"].values():
        assert job["runs-on"] == "ubuntu-24.04"
        for step in job["steps"]:
            assert ("uses" in step) != ("run" in step)
            assert re.fullmatch(r"[\w-]+/[\w-]+@v\d+(\.\d+)*", step.get("uses", "a/b@v1"))
    assert set(re.findall(r"run: make ([a-z-]+)", text)) <= TARGETS
    for file in re.findall(r"\b(?:tests|examples|workflow)/[\w./-]+\w", text):
        assert (ROOT / file).exists(), file
    assert "secrets." not in text


def test_continuous_integration_runs_what_a_release_needs() -> None:
    every = "\n".join(path.read_text() for path in WORKFLOWS)
    for step in ("make test", "make lint", "make quick", "make site", "twine check --strict", "tests/test_shipped.py"):
        assert step in every
    for step in ("fuzz.py --inputs 10000\n", "fuzz.py --inputs 250000 --seed", "make mutants"):
        assert step in every
    assert "id-token: write" in (ROOT / ".github/workflows/release.yml").read_text()


# What .ci/run does, in its order, and what the jobs of GitHub do.
STEPS = re.findall(r"^ *(?:if .+ then )?step ([\w./-]+(?: [\w-]+)?)", (ROOT / ".ci/run").read_text(), re.MULTILINE)
JOBS = {
    f"{path.stem}/{name}": [step["run"] for step in job["steps"] if "run" in step]
    for path in WORKFLOWS
    for name, job in yaml.safe_load(path.read_text())["jobs"].items()
}


def test_github_runs_every_step_of_a_whole_run() -> None:
    assert {"make test", "make quick", "make test-latex", "tools/ci_packages.sh"} <= set(STEPS)
    assert set(STEPS) <= {run for runs in JOBS.values() for run in runs}


@pytest.mark.parametrize("name", JOBS)
def test_a_job_takes_its_steps_in_the_order_of_a_whole_run(name: str) -> None:
    shared = [run for run in JOBS[name] if run in STEPS]
    places = [STEPS.index(run) for run in shared]
    assert places == sorted(places)
    if name.startswith("tests/"):
        assert [run for run in JOBS[name] if run.startswith("make ") and run not in STEPS] == []
    assert shared.count("make quick") in (0, STEPS.count("make quick"))  # the second run finds nothing to do


def test_one_version() -> None:
    project = (ROOT / "pyproject.toml").read_text()
    assert f'version = "{factormech.__version__}"' in project
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text())
    assert citation["version"] == factormech.__version__
    assert all(author.get("family-names") for work in citation["references"] for author in work["authors"])


def test_forms_ask_for_what_is_needed() -> None:
    for path in (ROOT / ".github/ISSUE_TEMPLATE").glob("[!c]*.yml"):
        form = yaml.safe_load(path.read_text())
        assert {"name", "description", "body"} <= set(form)
        identities = [field["id"] for field in form["body"]]
        assert len(identities) == len(set(identities))
        assert any(field.get("validations", {}).get("required") for field in form["body"])


@pytest.mark.parametrize("name", ["Containerfile", "factormech.def"])
def test_an_image_has_the_lock_and_the_package(name: str) -> None:
    text = (ROOT / name).read_text()
    assert "--require-hashes" in text
    for file in re.findall(r"^    ([\w.]+) /opt", text, re.MULTILINE):
        assert (ROOT / file).exists(), file
