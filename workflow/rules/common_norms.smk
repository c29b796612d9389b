"""What the rules of norms ask of their wildcards."""

from factormech.measure import estimate
from factormech.norms import registry as norms_registry


def norm_modules(job, norm, solver="auto"):
    """Where the code of a job on a norm begins: its own, and that of the norm."""
    return [f"factormech.jobs.{job}", norms_registry.quantity(norm).module(solver)]


def workloads_modules(names):
    """Where the code of these workloads begins."""
    return sorted(set().union(*[workload_definitions.modules_of(name, CONFIG.workloads) for name in names]))


def factorization_file(norm, workload, domain_size, seed, alpha, concepts):
    """The factorization of a workload for a norm: the digest says what the name does not."""
    seed = seed if workload_definitions.is_seeded(workload, CONFIG.workloads) else None
    rest = json.dumps({"seed": seed, "alpha": alpha, "concepts": concepts})
    mark = hashlib.sha256(rest.encode()).hexdigest()[:8]
    return f"results/factorizations/{norm}/{workload}/n{domain_size}-{mark}.h5"


def stored_factorizations(study, norm):
    """The points whose factorization has a job and a file of its own: file → (workload, domain size, seed, α, concepts).

    Those of a general solver have none: it is there to be compared with, at sizes where it takes seconds.
    """
    points = {}
    if study.solver != "auto":
        return points
    for workload, n, seed, alpha in estimate.norm_points(study, norm):
        if cost.norm_deserves_a_job(norm, workload, n):
            asked = (workload, n, seed, alpha, study.concepts)
            points.setdefault(factorization_file(norm, *asked), asked)
    return points


FACTORIZATIONS = {
    name: point
    for study in STUDIES.values()
    for norm in study.norms
    for name, point in stored_factorizations(study, norm).items()
}


def factorized_point(wildcards):
    w = wildcards
    return FACTORIZATIONS[f"results/factorizations/{w.norm}/{w.workload}/n{w.domain_size}-{w.mark}.h5"]


def factorize_sources(wildcards):
    return sources_of([wildcards.workload])


def sources_of(workloads):
    """The user's own files behind these workloads."""
    files = [str(p) for w in workloads for p in workload_definitions.files_of(w, CONFIG.workloads, Path.cwd())]
    return [ancient(file) for file in dict.fromkeys(files)]


def definitions_of(workloads):
    """The user's own definitions behind these workloads, as the jobs take them."""
    found = {}
    for workload in workloads:
        found |= workload_definitions.closure(workload, CONFIG.workloads)
    return json.dumps(found, sort_keys=True)


def factorize_definitions(wildcards):
    return definitions_of([wildcards.workload])


def factorize_modules(wildcards):
    return [*norm_modules("factorize", wildcards.norm), *workloads_modules([wildcards.workload])]


def factorize_options(wildcards):
    workload, _, seed, alpha, concepts = factorized_point(wildcards)
    seeded = workload_definitions.is_seeded(workload, CONFIG.workloads)
    words = [f"--seed {seed}"] * seeded + [f"--alpha {alpha!r}"] * (alpha is not None) + ["--concepts"] * concepts
    return " ".join(words)


def norm_factorizations(wildcards):
    return list(stored_factorizations(STUDIES[wildcards.study], wildcards.norm))


def norm_workloads(wildcards):
    return STUDIES[wildcards.study].grid.workloads


def norm_sources(wildcards):
    return sources_of(norm_workloads(wildcards))


def norm_definitions(wildcards):
    return definitions_of(norm_workloads(wildcards))


def measure_norm_modules(wildcards):
    modules = norm_modules("measure_norm", wildcards.norm, STUDIES[wildcards.study].solver)
    return [*modules, *workloads_modules(norm_workloads(wildcards))]


def norm_sizes(wildcards):
    return STUDIES[wildcards.study].grid.domain_sizes


def norm_options(wildcards):
    study = STUDIES[wildcards.study]
    alphas = " ".join(map(repr, study.grid.alphas))
    words = [f"--alphas {alphas}"] * bool(alphas) + ["--concepts"] * study.concepts
    return " ".join([*words, f"--solver {study.solver}"])
