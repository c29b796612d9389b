"""Measure: the exact error of each mechanism of a study, and the bounds on all of them."""


rule measure:
    input:
        workloads=measured_workloads,
        code=measure_code,
    output:
        "results/measurements/{study}/{mechanism}.h5",
    log:
        "results/logs/measure/{study}/{mechanism}.log",
    benchmark:
        "results/benchmarks/measure/{study}/{mechanism}.tsv"
    conda:
        "../../environment.yml"
    threads: CONFIG.threads
    resources:
        mem_mb=measure_memory,
        runtime=measure_minutes,
    params:
        epsilons=measured_epsilons,
        digest=measure_digest,
    shell:
        "python -m factormech.jobs.measure --mechanism {wildcards.mechanism} --epsilons {params.epsilons}"
        " --workloads {input.workloads:q} --code {params.digest} {output} &> {log}"


rule bound:
    input:
        workloads=measured_workloads,
        code=bound_code,
    output:
        "results/bounds/{study}.h5",
    log:
        "results/logs/bound/{study}.log",
    benchmark:
        "results/benchmarks/bound/{study}.tsv"
    conda:
        "../../environment.yml"
    threads: CONFIG.threads
    resources:
        mem_mb=measure_memory,
        runtime=measure_minutes,
    params:
        bounds=bound_names,
        epsilons=measured_epsilons,
        digest=bound_digest,
    shell:
        "python -m factormech.jobs.bound --bounds {params.bounds} --epsilons {params.epsilons}"
        " --workloads {input.workloads:q} --code {params.digest} {output} &> {log}"
