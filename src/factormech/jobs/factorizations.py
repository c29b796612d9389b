"""The norms of a study: from the files that the factorize jobs wrote, or solved on the spot if cheap."""

from __future__ import annotations

import argparse
import json
from collections.abc import Sequence
from pathlib import Path

from factormech import store
from factormech.errors import BadValue
from factormech.measure.norms import NormQuestion, SolvedFor, alphas_of, solved_here
from factormech.norms.certified import CertifiedNorm
from factormech.norms.stored import from_datasets
from factormech.workloads import definitions

# Workload, domain size, seed (none where chance has no part), α (none where the norm has no error), concepts.
Key = tuple[str, int, int | None, float | None, bool]


def add_workload_arguments(parser: argparse.ArgumentParser) -> None:
    """What a job takes that makes workloads itself: a description of one lacks the queries that a norm needs."""
    parser.add_argument("--root-seed", type=int, required=True)
    parser.add_argument("--definitions", type=json.loads, default={}, help="the user's own workloads, in JSON")
    parser.add_argument("--concepts", action="store_true", help="read the workloads' entries as ±1 labels")


def question_of(args: argparse.Namespace, workload: str, domain_size: int, seed: int) -> NormQuestion:
    """The question of a workload, made as the workload jobs make it."""
    stream = (str(seed),) if definitions.is_seeded(workload, args.definitions) else ()
    made = definitions.create(
        workload, domain_size, args.definitions, seed=args.root_seed, base=Path.cwd(), stream=stream
    )
    return NormQuestion(made, seed, args.concepts)


def norms_of(
    norm: str,
    paths: Sequence[Path],
    questions: Sequence[NormQuestion],
    alphas: Sequence[float],
    solver: str = "auto",
) -> SolvedFor:
    """How a norm is come by, ``solver`` where no file has it; a file that is not asked for is refused."""
    files = {_key(norm, path): path for path in paths}
    asked = {key for q in questions for alpha in alphas_of(norm, alphas) for key in _keys(q, alpha)}
    for key, path in files.items():
        if key not in asked:
            rule = "be of a workload, domain size, seed and α that is measured"
            raise BadValue(str(path), key, rule, "give the factorizations of this study's grid, or none")
    here = solved_here(norm, solver)

    def solved(question: NormQuestion, alpha: float | None) -> CertifiedNorm:
        stored = next((files[key] for key in _keys(question, alpha) if key in files), None)
        if stored is None:
            return here(question, alpha)
        record = store.read(stored, "factorization")
        return from_datasets(record.datasets, record.attributes, question.workload)

    return solved


def _keys(question: NormQuestion, alpha: float | None) -> list[Key]:
    """What a factorization is for: with the seed, or without where chance has no part in it."""
    workload = question.workload
    seeds = (question.seed, None)
    return [(workload.name, workload.domain_size, seed, alpha, question.concepts) for seed in seeds]


def _key(norm: str, path: Path) -> Key:
    found = store.read(path, "factorization").attributes
    if found["norm"] != norm:
        raise BadValue(str(path), found["norm"], f"be a factorization for {norm}", "give a file of this norm")
    return found["workload"], found["domain_size"], found["seed"], found["alpha"], found["concepts"]
