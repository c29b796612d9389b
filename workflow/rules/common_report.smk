"""Where the report of a run shows a file, and under which names."""


report: "../report/workflow.rst"


def report_paper(wildcards):
    return STUDIES[wildcards.study].paper


def report_study(wildcards):
    study = STUDIES[wildcards.study]
    return f"{study.artefact}: {study.title}"


def report_labels(study, shows):
    """What a list of the report says of a file; the number is the study's place in the configuration."""
    described = STUDIES[study]
    return {
        "no.": f"{list(STUDIES).index(study) + 1:03d}",
        "study": study,
        "artefact": described.artefact,
        "title": described.title,
        "shows": shows,
    }


def report_figure(wildcards):
    return report_labels(wildcards.study, "figure")


def report_table(wildcards):
    return report_labels(wildcards.study, wildcards.get("what", "table"))
