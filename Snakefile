"""factormech: workloads, strategies, exact errors, tables and figures. The workflow itself is ``workflow/Snakefile``."""


include: "workflow/Snakefile"


# Snakemake's default target is the first rule of this very file: a rule of an included file never is.
rule default:
    input:
        rules.all.input,
    localrule: True
