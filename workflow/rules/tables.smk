"""Tabulate: one table a study, as CSV, LaTeX and HDF5, and what it says of one mechanism."""


rule tabulate:
    input:
        measured=tabulated_files,
        bounds=tabulated_bounds,
        iterations=tabulated_iterations,
        code=code(tabulate_modules),
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
        "results/logs/tabulate/{study}.log",
    benchmark:
        "results/benchmarks/tabulate/{study}.tsv"
    wildcard_constraints:
        study=TABULATED_PATTERN,
    conda:
        "../../environment.yml"
    threads: 1
    resources:
        mem_mb=memory_of("tabulate"),
        runtime=minutes_of("tabulate"),
    params:
        kind=figure_kind,
        files=tabulate_options,
        settings=tabulate_settings,
        digest=digest(tabulate_modules),
        plugins=plugins(tabulate_modules),
    shell:
        "python -m factormech.jobs.tabulate --kind {params.kind} --study {wildcards.study}"
        " --measured {input.measured:q} {params.files} --settings {params.settings:q}"
        " --csv {output.csv} --latex {output.latex} --hdf5 {output.hdf5}"
        " --plugins {params.plugins:q} --request {input.code} &> {log}"


rule compare:
    input:
        table="results/tables/{study}.csv",
        code=code(compare_modules),
    output:
        csv=report(
            "results/tables/{study}-{what}.csv",
            caption="../report/table.rst",
            category=report_paper,
            subcategory=report_study,
            labels=report_table,
        ),
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
        mem_mb=memory_of("compare"),
        runtime=minutes_of("compare"),
    params:
        mechanism=compared_mechanism,
        exclude=compared_without,
        digest=digest(compare_modules),
        plugins=plugins(compare_modules),
    shell:
        "python -m factormech.jobs.compare --what {wildcards.what} --mechanism {params.mechanism}"
        " --exclude {params.exclude} --table {input.table:q} --csv {output.csv} --latex {output.latex}"
        " --plugins {params.plugins:q} --request {input.code} &> {log}"
