"""factormech: workloads, strategies, exact errors, tables and figures.

Targets by meaning: ``all`` (the default), ``quick`` (every study on small grids), ``figures``, ``tables``, ``claims`` (the
ledger of claims, judged), ``verify`` (an independent check of every optimised strategy), a paper's name or a study's name. Studies are blocks of ``config.yaml``; see ``docs/configuration.md``.
"""

from snakemake.utils import min_version

min_version("9.0")


# A configuration on the command line takes the place of the project's own: its studies alone are made.
if not workflow.config_settings.configfiles:

    configfile: "config.yaml"


report: "workflow/report/workflow.rst"


include: "workflow/rules/common.smk"
include: "workflow/rules/freshness.smk"
include: "workflow/rules/scheduling.smk"
include: "workflow/rules/recovery.smk"


# Here, for what plain ``snakemake`` makes is the first rule of this file itself, never one of an included file.
rule all:
    input:
        asked_for([*everything(CONFIG.studies), *claims()]),
    localrule: True


include: "workflow/rules/targets.smk"
include: "workflow/rules/solve.smk"
include: "workflow/rules/evaluate.smk"
include: "workflow/rules/render.smk"
include: "workflow/rules/check.smk"
