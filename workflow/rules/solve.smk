"""Solve: find the strategy of a mechanism for a workload, once for all studies.

``solve`` makes what is cheap. What takes longer is made by a rule for each mechanism and size, since on a cluster one array of
jobs asks for the memory and the time of its first job.
"""

for solves in SOLVES:

    rule:
        name:
            solves
        input:
            workload=solve_workload,
            start=solve_start,
            code=code(of_mechanism("solve")),
        output:
            "results/strategies/{mechanism}/{workload}/n{domain_size}/{name}.h5",
        log:
            "results/logs/solve/{mechanism}/{workload}/n{domain_size}/{name}.log",
        benchmark:
            "results/benchmarks/solve/{mechanism}/{workload}/n{domain_size}/{name}.tsv"
        wildcard_constraints:
            mechanism=SOLVES[solves].mechanism,
            domain_size=SOLVES[solves].domain_size,
        priority: SOLVES[solves].priority
        group:
            batch_of("solve")
        conda:
            "../../environment.yml"
        threads: CONFIG.threads
        resources:
            mem_mb=memory_of("solve"),
            runtime=minutes_of("solve"),
        params:
            epsilon=solve_epsilon,
            root=CONFIG.seed,
            seed=solve_seed,
            options=solve_options,
            digest=digest(of_mechanism("solve")),
            plugins=plugins(of_mechanism("solve")),
        shell:
            "python -m factormech.jobs.solve --mechanism {wildcards.mechanism} {params.epsilon} --root-seed {params.root}"
            " {params.seed} --options {params.options:q} --start {input.start:q}"
            " --plugins {params.plugins:q} --request {input.code} {input.workload:q} --output {output} &> {log}"
