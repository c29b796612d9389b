"""Which claims can be judged: those of the ledger, on the tables of the studies that this configuration has."""

from factormech.claims.ledger import LedgerErrors, read as read_ledger

LEDGER_FILE = Path(workflow.basedir) / "claims.yaml"
LEDGER_SCHEMA = Path(workflow.basedir) / "workflow/schemas/claims.schema.yaml"


def claimed_studies():
    """The studies of the ledger; none where the project has no ledger."""
    if not LEDGER_FILE.exists():
        return []
    try:
        return read_ledger(LEDGER_FILE, LEDGER_SCHEMA).studies()
    except (LedgerErrors, BadValue) as errors:
        sys.exit(str(errors))


CLAIMED = [study for study in claimed_studies() if study in CONFIG.studies]


def claims(folder=""):
    """The verdicts, where there is a study that a claim is tested by."""
    return [f"results/{folder}claims.{kind}" for kind in ("csv", "md")] if CLAIMED else []


def claimed_tables(wildcards):
    return [f"results/tables/{wildcards.folder}{study}.csv" for study in CLAIMED]


def ledger_files(wildcards):
    return [os.path.relpath(LEDGER_FILE), os.path.relpath(LEDGER_SCHEMA)]
