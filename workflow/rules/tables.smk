"""Tabulate: one table a study, as CSV, LaTeX and HDF5, and what it says of one mechanism."""

TABULATE_MODULES = ["factormech.jobs.tabulate"]
TABULATE_COLLECTIONS_MODULES = ["factormech.jobs.tabulate_collections"]
TABULATE_ON_DATA_MODULES = ["factormech.jobs.tabulate_on_data"]
TABULATE_PROCESSED_MODULES = ["factormech.jobs.tabulate_processed"]
COMPARE_MODULES = ["factormech.jobs.compare"]


rule tabulate:
    input:
        measurements=tabulated_measurements,
        bounds="results/bounds/{study}.h5",
        code=code(*TABULATE_MODULES),
    output:
        csv="results/tables/{study}.csv",
        latex="results/tables/{study}.tex",
        hdf5="results/{study}.h5",
    log:
        "results/logs/tabulate/{study}.log",
    benchmark:
        "results/benchmarks/tabulate/{study}.tsv"
    wildcard_constraints:
        study=studies_of_kind("sample-complexity"),
    conda:
        "../../environment.yml"
    threads: 1
    resources:
        mem_mb=500,
        runtime=5,
    params:
        metric=tabulated_metric,
        alpha=tabulated_alpha,
        digest=digest(*TABULATE_MODULES),
    shell:
        "python -m factormech.jobs.tabulate --study {wildcards.study} --metric {params.metric} --alpha {params.alpha}"
        " --measurements {input.measurements:q} --bounds {input.bounds:q} --csv {output.csv} --latex {output.latex}"
        " --hdf5 {output.hdf5} --code {params.digest} &> {log}"


rule tabulate_collections:
    input:
        collections=tabulated_collections,
        code=code(*TABULATE_COLLECTIONS_MODULES),
    output:
        csv="results/tables/{study}.csv",
        latex="results/tables/{study}.tex",
        hdf5="results/{study}.h5",
    log:
        "results/logs/tabulate_collections/{study}.log",
    benchmark:
        "results/benchmarks/tabulate_collections/{study}.tsv"
    wildcard_constraints:
        study=studies_of_kind("simulated-collection"),
    conda:
        "../../environment.yml"
    threads: 1
    resources:
        mem_mb=500,
        runtime=5,
    params:
        level=collected_level,
        digest=digest(*TABULATE_COLLECTIONS_MODULES),
    shell:
        "python -m factormech.jobs.tabulate_collections --study {wildcards.study} --level {params.level}"
        " --collections {input.collections:q} --csv {output.csv} --latex {output.latex} --hdf5 {output.hdf5}"
        " --code {params.digest} &> {log}"


rule tabulate_on_data:
    input:
        measurements=tabulated_on_data,
        bounds="results/data-bounds/{study}.h5",
        code=code(*TABULATE_ON_DATA_MODULES),
    output:
        csv="results/tables/{study}.csv",
        latex="results/tables/{study}.tex",
        hdf5="results/{study}.h5",
    log:
        "results/logs/tabulate_on_data/{study}.log",
    benchmark:
        "results/benchmarks/tabulate_on_data/{study}.tsv"
    wildcard_constraints:
        study=studies_of_kind("data-dependent"),
    conda:
        "../../environment.yml"
    threads: 1
    resources:
        mem_mb=500,
        runtime=5,
    params:
        metric=tabulated_metric,
        alpha=tabulated_alpha,
        digest=digest(*TABULATE_ON_DATA_MODULES),
    shell:
        "python -m factormech.jobs.tabulate_on_data --study {wildcards.study} --metric {params.metric}"
        " --alpha {params.alpha} --measurements {input.measurements:q} --bounds {input.bounds:q} --csv {output.csv}"
        " --latex {output.latex} --hdf5 {output.hdf5} --code {params.digest} &> {log}"


rule tabulate_processed:
    input:
        collections=tabulated_processed,
        code=code(*TABULATE_PROCESSED_MODULES),
    output:
        csv="results/tables/{study}.csv",
        latex="results/tables/{study}.tex",
        hdf5="results/{study}.h5",
    log:
        "results/logs/tabulate_processed/{study}.log",
    benchmark:
        "results/benchmarks/tabulate_processed/{study}.tsv"
    wildcard_constraints:
        study=studies_of_kind("consistency"),
    conda:
        "../../environment.yml"
    threads: 1
    resources:
        mem_mb=500,
        runtime=5,
    params:
        level=collected_level,
        digest=digest(*TABULATE_PROCESSED_MODULES),
    shell:
        "python -m factormech.jobs.tabulate_processed --study {wildcards.study} --level {params.level}"
        " --collections {input.collections:q} --csv {output.csv} --latex {output.latex} --hdf5 {output.hdf5}"
        " --code {params.digest} &> {log}"


rule compare:
    input:
        table="results/tables/{study}.csv",
        code=code(*COMPARE_MODULES),
    output:
        csv="results/tables/{study}-{what}.csv",
        latex="results/tables/{study}-{what}.tex",
    log:
        "results/logs/compare/{study}-{what}.log",
    benchmark:
        "results/benchmarks/compare/{study}-{what}.tsv"
    wildcard_constraints:
        study=studies_of_kind("sample-complexity"),
        what="improvement|slopes",
    conda:
        "../../environment.yml"
    threads: 1
    resources:
        mem_mb=500,
        runtime=5,
    params:
        mechanism=compared_mechanism,
        exclude=compared_without,
        digest=digest(*COMPARE_MODULES),
    shell:
        "python -m factormech.jobs.compare --what {wildcards.what} --mechanism {params.mechanism}"
        " --exclude {params.exclude} --table {input.table:q} --csv {output.csv} --latex {output.latex}"
        " --code {params.digest} &> {log}"
