"""Run a configuration through a Snakemake profile, on a cluster or on this machine: check, say the cost, submit.

    python tools/sweep.py --config my.yaml --profile slurm [--partition P] [--account A] [--target T] [-- SNAKEMAKE'S]

A profile is a folder of ``workflow/profiles`` by its name, or any folder by its path. What a site or a profile lacks is
answered in a line before anything is planned.
"""

from __future__ import annotations

import argparse
import re
import shutil
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import yaml

from factormech.config.studies import Config, ConfigErrors, load_file
from factormech.errors import BadValue, UnknownName
from factormech.pipeline.planning import Plan

ROOT = Path(__file__).resolve().parent.parent
PROFILES = ROOT / "workflow" / "profiles"
SCHEMA = ROOT / "workflow" / "schemas" / "config.schema.yaml"
COMMANDS = ("sbatch", "squeue", "scancel", "sinfo", "scontrol")
CHANGES_NOTHING = frozenset({"--dry-run", "--dryrun", "-n", "--unlock"})
# What a profile for a cluster must say, and how to say it.
ASKED = {
    "jobs": "say how many jobs may be queued or running at a time, such as 'jobs: 200'",
    "cores": "say how many cores the widest job may have, such as 'cores: 4'",
    "default-resources.mem_mb": "say the memory of a job whose rule says nothing, such as 'mem_mb: 1000'",
    "default-resources.runtime": "say the minutes of a job whose rule says nothing, such as 'runtime: 10'",
}


class Missing(ValueError):
    """Something that a cluster or a profile needs is not there; the message says what to set."""


def profile_folder(name: str) -> Path:
    """The folder of a profile."""
    for folder in (PROFILES / name, Path(name)):
        if (folder / "config.yaml").is_file():
            return folder
    raise UnknownName("profile", name, [path.parent.name for path in PROFILES.glob("*/config.yaml")])


def default_resources(profile: Mapping[str, Any]) -> dict[str, str]:
    """``default-resources`` of a profile, which may be a mapping or a list of ``name=value``."""
    stated = profile.get("default-resources") or {}
    pairs = stated.items() if isinstance(stated, Mapping) else (str(line).split("=", 1) for line in stated)
    return {str(key): str(value) for key, value in pairs}


def check_profile(profile: Mapping[str, Any], file: Path) -> None:
    """Every key that a cluster needs is there."""
    stated = {*profile, *(f"default-resources.{key}" for key in default_resources(profile))}
    if missing := [f"{file}: {key} is missing: {how}" for key, how in ASKED.items() if key not in stated]:
        raise Missing("\n".join(missing))


def said(*command: str) -> str:
    """What a SLURM command prints; where it fails, its own words."""
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)
    except subprocess.TimeoutExpired:
        raise Missing(f"{command[0]}: no answer in 60 s: the controller of the cluster does not answer") from None
    if done.returncode:
        words = " ".join(done.stderr.split()) or f"exit {done.returncode}"
        raise Missing(f"{' '.join(command)}: {words}: ask the cluster's people whether its controller is up")
    return done.stdout


def check_commands() -> None:
    """SLURM is there at all."""
    if missing := [command for command in COMMANDS if shutil.which(command) is None]:
        raise Missing(
            f"{', '.join(missing)}: not on the path; run this on a login node of the cluster "
            "(some sites want 'module load slurm' first), or set PROFILE=default to stay on this machine"
        )


def check_partition(asked: str | None) -> None:
    """The partition exists; where none is named, the site has a default."""
    listed = said("sinfo", "--noheader", "--format=%P").split()
    if asked is None and not any(name.endswith("*") for name in listed):
        raise Missing(
            f"slurm_partition is missing, and this cluster has no default partition: set PARTITION= to one of "
            f"{', '.join(sorted(set(listed)))}, or slurm_partition in default-resources of the profile"
        )
    names = sorted({name.rstrip("*") for name in listed})
    if asked is not None and asked not in names:
        raise UnknownName("slurm_partition", asked, names)


def accounts_are_kept() -> bool:
    """Whether the site has a database of jobs, which ``sacct`` reads."""
    found = re.search(r"^AccountingStorageType\s*=\s*(\S+)", said("scontrol", "show", "config"), re.MULTILINE)
    return bool(found) and not found[1].endswith("none") and shutil.which("sacct") is not None


def check_alone() -> None:
    """No job of an earlier sweep in this folder is in the queue: it would make what this one makes, too."""
    lines = said("squeue", "--me", "--noheader", "--format=%A %Z").splitlines()
    jobs = sorted({job for job, _, at in (line.partition(" ") for line in lines) if at.strip() == str(Path.cwd())})
    if jobs:
        raise Missing(
            f"{len(jobs)} jobs of an earlier sweep in this folder are in the queue: wait for their end, or end them: "
            f"scancel {' '.join(jobs)}"
        )


def slurm_arguments(profile: Mapping[str, Any], file: Path, partition: str, account: str) -> list[str]:
    """What Snakemake is told beyond the profile, once everything has been checked."""
    check_profile(profile, file)
    check_commands()
    asked = default_resources(profile)
    asked |= {f"slurm_{key}": value for key, value in (("partition", partition), ("account", account)) if value}
    check_partition(asked.get("slurm_partition"))
    kept = accounts_are_kept()
    arguments = ["--slurm-status-command", "sacct" if kept else "squeue"]
    if not kept and "slurm_account" not in asked:
        arguments.append("--slurm-no-account")
    return [*arguments, "--default-resources", *(f"{key}={value}" for key, value in asked.items())]


def cost(config: Config, file: Path) -> str:
    """The line that is printed before anything is submitted."""
    plan = Plan(config)
    studies = config.studies
    hours = plan.seconds(studies) / 3600
    arrays, points = len(plan.arrays()), plan.measurements(studies)
    parts = [counted(len(studies), "study", "studies"), counted(points, "measurement", "measurements")]
    if arrays:
        parts.append(counted(arrays, "array of solves", "arrays of solves"))
    return f"{file}: {', '.join(parts)}; from nothing about {hours:.2g} core-hours"


def counted(number: int, one: str, more: str) -> str:
    """A number and its noun."""
    return f"{number} {one if number == 1 else more}"


def arguments_of(asked: argparse.Namespace, config: Config) -> list[str]:
    """Snakemake's arguments."""
    folder = profile_folder(asked.profile)
    file = folder / "config.yaml"
    profile = yaml.safe_load(file.read_text()) or {}
    targets = [asked.target] if asked.target else list(config.studies)
    arguments = [*targets, "--workflow-profile", str(folder), "--configfile", str(asked.config)]
    if "executor" not in profile and asked.profile != "default":
        raise Missing(f"{file}: executor is missing: say what submits the jobs, such as 'executor: slurm', or 'local'")
    if profile.get("executor") == "slurm":
        arguments += slurm_arguments(profile, file, asked.partition, asked.account)
        if not CHANGES_NOTHING & set(asked.own):
            check_alone()
        if names := Plan(config).arrays():
            arguments += ["--slurm-array-jobs", ",".join(names)]
    return [*arguments, *asked.own]


def main() -> None:
    """Check, print, run."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--config", type=Path, default=Path("config.yaml"))
    parser.add_argument("--profile", default="default")
    parser.add_argument("--partition", default="")
    parser.add_argument("--account", default="")
    parser.add_argument("--target", help="instead of the studies of the configuration")
    parser.add_argument("own", nargs="*", help="after --: arguments of Snakemake itself, such as --dry-run")
    asked = parser.parse_args()
    try:
        config = load_file(asked.config, SCHEMA)
        arguments = arguments_of(asked, config)
    except (ConfigErrors, BadValue, Missing) as problem:
        sys.exit("\n".join(f"sweep: {line}" for line in str(problem).splitlines()))
    print(cost(config, asked.config), flush=True)
    sys.exit(subprocess.call([sys.executable, "-m", "snakemake", *arguments]))


if __name__ == "__main__":
    main()
