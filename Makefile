# The two commands of the README and their parts. Everything is installed into .venv from the lock; what submits jobs to
# Slurm is installed into .venv-slurm, which also sees .venv.

PYTHON ?= python3
CORES ?= 2
BIN := .venv/bin
# pip reads no settings here that could install anything beyond the lock.
INSTALL = $(BIN)/pip install --quiet --disable-pip-version-check --requirement

.PHONY: demo test lint schema clean distclean

demo: .venv/run.installed
	HF_HUB_OFFLINE=1 $(BIN)/snakemake --cores $(CORES)
	$(BIN)/snakemake --report results/report.html
	@echo "Open results/index.html in a browser: what was found, the papers' claims and tables, and where everything is."
	@echo "results/report.html has every table and figure, and how each was made."

test: lint .venv-slurm/installed
	HF_HUB_OFFLINE=1 OMP_NUM_THREADS=1 $(BIN)/pytest --numprocesses $(CORES) --dist worksteal

lint: .venv/tests.installed
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/snakefmt --check Snakefile rules
	$(BIN)/snakemake --lint

schema: .venv/run.installed
	cd workflow_scripts && ../$(BIN)/python -m headtypes.config.schema > ../schemas/config.schema.json

# The results of this folder; those of other folders (runs/...) and the environment stay.
clean:
	rm -rf .snakemake results logs

distclean: clean
	rm -rf .venv .venv-slurm

.venv/created:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info[:2] != (3, 11))' || \
	  { echo "This needs Python 3.11. To name one: make PYTHON=/path/to/python3.11"; exit 1; }
	$(PYTHON) -m venv .venv
	@touch $@

.venv/run.installed: envs/requirements.txt | .venv/created
	$(INSTALL) envs/requirements.txt
	@touch $@

.venv/tests.installed: envs/requirements-tests.txt .venv/run.installed
	$(INSTALL) envs/requirements-tests.txt
	@touch $@

.venv-slurm/installed: envs/requirements-slurm.txt .venv/run.installed
	$(BIN)/python -m venv --clear --without-pip .venv-slurm
	$(BIN)/python -c 'import sysconfig; print(sysconfig.get_path("purelib"))' > $$(echo .venv-slurm/lib/python3*/site-packages)/run.pth
	$(BIN)/pip --python .venv-slurm/bin/python install --quiet --disable-pip-version-check --requirement $<
	printf '#!/bin/sh\nexec "$${0%%/*}/python" -m snakemake "$$@"\n' > .venv-slurm/bin/snakemake
	chmod +x .venv-slurm/bin/snakemake
	@touch $@
