# Two commands do everything: `make` (all figures and tables) and `make test`. `make help` lists the rest.

PYTHON ?= python3
CONFIG ?= config.yaml
# Of `make sweep`: a folder of workflow/profiles, where it submits to, and more arguments of Snakemake (such as --dry-run).
PROFILE ?= default
PARTITION ?=
ACCOUNT ?=
ARGS ?=
VENV := .venv
PEERS := .peers
export PATH := $(CURDIR)/$(VENV)/bin:$(PATH)
export PYTHONUNBUFFERED := 1

SHELL := bash
.SHELLFLAGS := -eo pipefail -c

STAMP := $(VENV)/.ready
RUN = @python tools/unlock.py && PYTHONPATH="workflow/logger$${PYTHONPATH:+:$$PYTHONPATH}" snakemake $(1) --configfile "$(CONFIG)" \
	--logger factormech --logger-factormech-note results/$(2)runs.csv
# The page is written by the workflow's own reporter (workflow/reporter), which Snakemake finds by its place.
REPORT = @PYTHONPATH="workflow/reporter$${PYTHONPATH:+:$$PYTHONPATH}" snakemake $(1) --configfile "$(CONFIG)" --quiet all \
	--reporter factormech --report-factormech-path $(2) && echo "$(2)"
# Workers take whole modules, in the order of tests/conftest.py. Where the environment forbids byte code, each of them would
# compile all tests anew in every run.
PYTEST = @PYTHONDONTWRITEBYTECODE= pytest -q -n auto --dist loadscope --no-loadscope-reorder $(1)
FAST := not slow and not report and not latex and not cluster

.PHONY: all quick report verify claims sweep setup test test-core test-slow test-report test-latex test-cluster trust fuzz mutants lint environment docs site gallery archive \
	race peers-env clean help

all: $(STAMP)  ## make every study of config.yaml: figures/ and results/
	@factormech check --config "$(CONFIG)"
	$(call RUN,all)
	@factormech study list --config "$(CONFIG)" --made

quick: $(STAMP)  ## make every study on small grids: figures/quick/ and results/quick/
	@factormech check --config "$(CONFIG)" --quick
	$(call RUN,quick,quick/)
	@factormech study list --config "$(CONFIG)" --made --quick

report: $(if $(QUICK),quick,all)  ## put all studies into one page, results/report.html; QUICK=1: those of make quick
	$(call REPORT,$(if $(QUICK),quick,all),results/$(if $(QUICK),quick/)report.html)

verify: $(STAMP)  ## check every optimised strategy independently: results/verification.txt
	$(call RUN,verify) || { grep FAILED results/logs/verify/verification.log; exit 1; }
	@tail -n 1 results/verification.txt

claims: $(STAMP)  ## judge the claims of the papers: results/claims.md and .csv
	$(call RUN,claims)
	@grep -v "^processor:" results/logs/judge/claims.log | tail -n 6
sweep: $(STAMP)  ## run CONFIG through PROFILE (PROFILE=slurm: on a cluster): docs/cluster.md
	@PYTHONPATH="workflow/logger$${PYTHONPATH:+:$$PYTHONPATH}" python tools/sweep.py --config "$(CONFIG)" --profile $(PROFILE) --partition "$(PARTITION)" --account "$(ACCOUNT)" \
		-- --logger factormech $(ARGS)

setup: $(STAMP)  ## set up .venv from requirements.lock

test: $(STAMP)  ## run the fast tests
	$(call PYTEST,--durations 12)

test-core: $(STAMP)  ## run the fast tests, without the workflow and without those that solve, simulate or draw for seconds
	$(call PYTEST,-m "not workflow and not heavy and $(FAST)")

test-slow: $(STAMP)  ## run the slow tests
	$(call PYTEST,-m slow)

test-report: $(STAMP)  ## test the report of the last make quick in a browser (tools/ci_packages.sh installs one)
	$(call REPORT,quick,results/quick/report.html)
	@pytest -q -m report tests/report

test-latex: $(STAMP)  ## compile every table of the last make quick and of the gallery, and the example manuscript (tools/ci_packages.sh installs LaTeX)
	@pytest -q -m latex tests/latex

trust: $(STAMP)  ## kill, fill up, damage and starve a hundred runs; outcomes: docs/trust-faults.csv
	@python tools/trust.py --table

fuzz: $(STAMP)  ## feed broken input to every reader for a night (INPUTS=10000: two minutes); counts: docs/trust-fuzz.csv
	@python tools/fuzz.py --inputs $(or $(INPUTS),1000000) --table

mutants: $(STAMP)  ## plant small faults in the code that privacy rests on, and see whether its tests fail; MODULE=one of them
	@python tools/mutants.py $(MODULE)

test-cluster: $(STAMP)  ## run sweeps on a real two-node SLURM on this machine (needs root and Debian's slurm-wlm and munge)
	@pytest -q -m cluster tests/cluster

lint: $(STAMP)  ## check with ruff, mypy, snakefmt and snakemake --lint, and that generated files are up to date
	ruff check .
	ruff format --check .
	mypy
	snakefmt --check Snakefile workflow
	snakemake --lint
	python tools/environment.py --check
	python tools/artefacts.py --check
	python tools/readme.py --check
	python tools/configuration_reference.py --check
	python tools/columns_page.py --check
	python tools/command_line_page.py --check
	python tools/trust_page.py --check
	python tools/claims_page.py --check
	python tools/statements.py --check
	python tools/paper_numbers.py --check
	python tools/run_page.py --check
	python -m benchmarks.race --check

environment: $(STAMP)  ## write requirements.lock and environment.yml again from pyproject.toml (needs uv)
	uv pip compile pyproject.toml --universal --generate-hashes --all-extras --no-header -o requirements.lock
	python tools/environment.py

gallery: report archive  ## copy figures, tables and times of a full run into docs/gallery
	python tools/gallery.py
	install -D -m 644 -t docs/gallery/strategies results/published/SHA256SUMS results/published/certificates.csv
	python tools/artefacts.py
	python tools/readme.py

docs: $(STAMP)  ## write the generated pages again
	python tools/configuration_reference.py
	python tools/columns_page.py
	python tools/artefacts.py
	python tools/readme.py
	python tools/command_line_page.py
	python tools/trust_page.py
	python tools/claims_page.py
	python tools/statements.py
	python tools/paper_numbers.py
	python tools/run_page.py

site: $(STAMP)  ## build the site, docs/_build/html/index.html, with its notebooks run; any warning is an error
	@sphinx-build -b html -q -W --keep-going docs docs/_build/html && echo docs/_build/html/index.html

archive: $(STAMP)  ## write the strategies of Figures 1 and 2 with digests and certificates: results/published
	$(call RUN,mckenna2020-figure-1 mckenna2020-figure-2)
	@python tools/strategy_archive.py

race: $(STAMP) $(PEERS)/.ready  ## measure other packages beside this one: benchmarks/race.csv and docs/race.md; AGAIN=1: measure all again
	@python -m benchmarks.race $(if $(AGAIN),--again)

peers-env: $(PEERS)/.ready  ## set up .peers, with the packages of requirements-peers.txt

clean:  ## remove what runs made, and the environments
	rm -rf $(VENV) $(PEERS) .snakemake
	git clean -fdxq results figures

help:  ## show this list
	@grep -E '^[a-z-]+:.*##' Makefile | sed -E 's/:.*##/\t/' | expand -t 14

$(STAMP): requirements.lock pyproject.toml
	@echo "Setting up $(VENV) (about a minute, once) ..."
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "factormech needs Python 3.11 or newer: make PYTHON=python3.11")'
	@$(PYTHON) -m venv $(VENV)
	@$(VENV)/bin/python -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements.lock
	@$(VENV)/bin/python -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation --no-index -e .
	@touch $@

$(PEERS)/.ready: requirements-peers.txt
	@echo "Setting up $(PEERS) (a minute or two, once) ..."
	@$(PYTHON) -m venv $(PEERS)
	@$(PEERS)/bin/python -m pip install --quiet --disable-pip-version-check -r requirements-peers.txt
	@touch $@
