"""Evaluate: a file for each part of a study, then its table and the tables made from it.

``evaluate`` makes one part. On a small grid Python takes longer to start than to work, and one job makes all parts of a
quick study: a rule for each list of their names, since the outputs of a rule have the same names for all its jobs.
"""

EVALUATES = {"evaluate": ("results/parts/{study}/{part}.h5", "{study}/{part}", PLAN.apart())}
EVALUATES |= {
    name: ([f"results/parts/{{study}}/{part}.h5" for part in parts], "{study}/parts", studies)
    for name, (parts, studies) in PLAN.together().items()
}

for rule_name, (files, log_name, studies) in EVALUATES.items():

    rule:
        name:
            rule_name
        input:
            solved=parts_solved,
            sources=parts_sources,
            code=code(parts_modules),
        output:
            files,
        log:
            f"results/logs/evaluate/{log_name}.log",
        benchmark:
            f"results/benchmarks/evaluate/{log_name}.tsv"
        wildcard_constraints:
            study="|".join(map(re.escape, studies)) or "(?!)",
        priority: 30  # the longest take minutes: not at the end, with the other cores idle
        conda:
            "../../environment.yml"
        threads: CONFIG.threads
        resources:
            mem_mb=memory_of("evaluate"),
            runtime=minutes_of("evaluate"),
        params:
            kind=study_kind,
            parts=parts_made,
            asked=parts_text,
            data=str(DATA_FOLDER or ""),
            plugins=plugins(parts_modules),
        shell:
            "python -m factormech.pipeline.evaluate --plugins {params.plugins:q} --request {input.code} --kind {params.kind}"
            " --study {wildcards.study} --part {params.parts:q} --asked {params.asked:q} --planned"
            " --data={params.data:q} --output {output:q} &> {log:q}"


rule tabulate:
    input:
        parts=study_parts,
        code=code(table_modules),
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
        study="|".join(map(re.escape, STUDIES)),
    conda:
        "../../environment.yml"
    threads: 1
    resources:
        mem_mb=memory_of("tabulate"),
        runtime=minutes_of("tabulate"),
    params:
        kind=study_kind,
        asked=table_text,
        plugins=plugins(table_modules),
    shell:
        "python -m factormech.pipeline.tabulate --plugins {params.plugins:q} --request {input.code} --kind {params.kind}"
        " --study {wildcards.study} --asked {params.asked:q} --parts {input.parts:q}"
        " --csv {output.csv} --latex {output.latex} --hdf5 {output.hdf5} &> {log}"


rule derive:
    input:
        table="results/tables/{study}.csv",
        code=code(derive_modules),
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
        "results/logs/derive/{study}-{what}.log",
    benchmark:
        "results/benchmarks/derive/{study}-{what}.tsv"
    wildcard_constraints:
        study="|".join(map(re.escape, STUDIES)),
    conda:
        "../../environment.yml"
    threads: 1
    resources:
        mem_mb=memory_of("derive"),
        runtime=minutes_of("derive"),
    params:
        kind=study_kind,
        asked=table_text,
        plugins=plugins(derive_modules),
    shell:
        "python -m factormech.pipeline.derive --plugins {params.plugins:q} --request {input.code} --kind {params.kind}"
        " --what {wildcards.what} --asked {params.asked:q} --table {input.table:q}"
        " --csv {output.csv} --latex {output.latex} &> {log}"
