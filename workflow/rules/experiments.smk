"""Experiments: a file for each part of a study, then its table; what is in them is said by the kind's one module."""


rule experiment:
    input:
        sources=part_sources,
        code=code(part_modules),
    output:
        "results/experiments/{study}/{part}.h5",
    log:
        "results/logs/experiment/{study}/{part}.log",
    benchmark:
        "results/benchmarks/experiment/{study}/{part}.tsv"
    wildcard_constraints:
        study=EXPERIMENT_PATTERN,
        part="[^/]+",
    priority: 30  # the longest take minutes: not at the end, with the other cores idle
    conda:
        "../../environment.yml"
    threads: CONFIG.threads
    resources:
        mem_mb=memory_of("experiment"),
        runtime=minutes_of("experiment"),
    params:
        kind=experiment_kind,
        asked=part_json,
        digest=digest(part_modules),
        plugins=plugins(part_modules),
    shell:
        "python -m factormech.jobs.experiment --kind {params.kind} --study {wildcards.study} --part {wildcards.part:q}"
        " --asked {params.asked:q} --plugins {params.plugins:q} --request {input.code} --output {output:q} &> {log:q}"


rule tabulate_experiment:
    input:
        parts=tabulated_parts,
        code=code(tabulate_experiment_modules),
    output:
        csv=report(
            "results/tables/{study}.csv",
            caption="../report/table.rst",
            category=report_paper,
            subcategory=report_study,
            labels=report_table,
        ),
        latex="results/tables/{study}.tex",
        hdf5="results/{study}.h5",
    log:
        "results/logs/tabulate_experiment/{study}.log",
    benchmark:
        "results/benchmarks/tabulate_experiment/{study}.tsv"
    wildcard_constraints:
        study=EXPERIMENT_PATTERN,
    conda:
        "../../environment.yml"
    threads: 1
    resources:
        mem_mb=memory_of("tabulate_experiment"),
        runtime=minutes_of("tabulate_experiment"),
    params:
        kind=experiment_kind,
        digest=digest(tabulate_experiment_modules),
        plugins=plugins(tabulate_experiment_modules),
    shell:
        "python -m factormech.jobs.tabulate_experiment --kind {params.kind} --study {wildcards.study}"
        " --parts {input.parts:q} --csv {output.csv} --latex {output.latex} --hdf5 {output.hdf5}"
        " --plugins {params.plugins:q} --request {input.code} &> {log}"
