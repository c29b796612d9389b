"""Tabulate: one table a study, as CSV, LaTeX and HDF5."""

TABULATE_MODULES = ["factormech.jobs.tabulate"]


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
