"""Solve: strategies, bounds and factorizations, each once for all studies.

``solve`` makes what is cheap. What takes longer is made by a rule for each mechanism and size, since on a cluster one array of
jobs asks for the memory and the time of its first job.
"""

ARRAYS = PLAN.arrays()
OTHERS = "|".join(f"{name}/[^/]+/n{size}/" for _, name, size in ARRAYS.values()) or "(?!)"
SOLVES = {"solve": (rf"(?!{OTHERS})[a-z0-9][a-z0-9-]*", r"\d+", 0)}
SOLVES |= {key: (name, str(n), round(cost.solve_seconds(name, n))) for key, (_, name, n) in ARRAYS.items()}

for rule_name, (name, size, priority) in SOLVES.items():

    rule:
        name:
            rule_name
        input:
            sources=solve_sources,
            start=solve_start,
            code=code(solve_modules),
        output:
            "results/{family}/{name}/{workload}/n{domain_size}/{point}.h5",
        log:
            "results/logs/solve/{family}/{name}/{workload}/n{domain_size}/{point}.log",
        benchmark:
            "results/benchmarks/solve/{family}/{name}/{workload}/n{domain_size}/{point}.tsv"
        wildcard_constraints:
            name=name,
            domain_size=size,
        priority: priority
        group:
            batch_of_solve
        conda:
            "../../environment.yml"
        threads: CONFIG.threads
        resources:
            mem_mb=memory_of("solve"),
            runtime=minutes_of("solve"),
        params:
            request=solve_request,
            plugins=plugins(solve_modules),
        shell:
            "python -m factormech.pipeline.solve --plugins {params.plugins:q} --request {input.code}"
            " --solve {params.request:q} --start {input.start:q} --output {output} &> {log}"
