# The commands of the README and their parts. Everything is installed into .venv from the lock; what submits jobs to
# Slurm is installed into .venv-slurm, which also sees .venv. uv installs where there is one, pip elsewhere.

PYTHON ?= python3
CORES ?= 2
BIN := .venv/bin
# The same versions without hashes, for an index with builds of its own: make LOCK=envs
LOCK ?= envs/hashes
UV := $(shell command -v uv 2> /dev/null)
# uv reads none of pip's settings; a folder of wheels that pip is told of, it is told of here.
ifeq ($(words $(PIP_FIND_LINKS)), 1)
export UV_FIND_LINKS ?= $(PIP_FIND_LINKS)
endif
ifdef UV
CREATE = uv venv --quiet --seed --allow-existing --python $(PYTHON)
install = uv pip install --quiet --compile-bytecode --python $(1)/bin/python
else
CREATE = $(PYTHON) -m venv
install = $(BIN)/pip --python $(1)/bin/python install --quiet --disable-pip-version-check
endif

.PHONY: demo test test-all lint schema docs contract lock clean distclean

demo: .venv/run.installed
	HF_HUB_OFFLINE=1 $(BIN)/snakemake --cores $(CORES)
	$(BIN)/snakemake --report results/report.html
	@echo "Open results/index.html in a browser: what was found, the papers' claims and tables, and where everything is."
	@echo "results/report.html has every table and figure, and how each was made."

# The tests of a file share what they start.
PYTEST = HF_HUB_OFFLINE=1 OMP_NUM_THREADS=1 $(BIN)/pytest --dist loadfile --no-loadscope-reorder

test: lint
	$(PYTEST) --numprocesses $(CORES) -m "not slow"

# One process more than cores, since what runs on Slurm is mostly waited for.
test-all: lint .venv-slurm/installed
	$(PYTEST) --numprocesses $$(($(CORES) + 1))

lint: .venv/tests.installed
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/snakefmt --check Snakefile rules
	$(BIN)/snakemake --lint

schema: .venv/tests.installed
	PYTHONPATH=workflow_scripts $(BIN)/python -m tests.docs.schema > schemas/config.schema.json

docs: .venv/tests.installed
	PYTHONPATH=workflow_scripts $(BIN)/python -m tests.docs.lists docs/lookup/outputs.md
	PYTHONPATH=workflow_scripts $(BIN)/python -m tests.docs.keys docs/lookup/configuration.md
	PYTHONPATH=workflow_scripts $(BIN)/python docs/understand/results/picture.py

# What an edit of each config value runs, to be read: each line is a promise.
contract: .venv/tests.installed
	PYTHONPATH=workflow_scripts $(BIN)/python -m tests.contract.tables

# Needs uv. Versions stay as they are: take out the line of a package to have its newest version.
lock:
	bash envs/lock.sh

# The results of this folder; those of other folders (runs/...) and the environment stay.
clean:
	rm -rf .snakemake results logs kept

distclean: clean
	rm -rf .venv .venv-slurm

.venv/created:
	@$(PYTHON) -c 'import sys; sys.exit(not (3, 11) <= sys.version_info[:2] <= (3, 14))' || \
	  { echo "This needs Python 3.11 to 3.14, not $$($(PYTHON) --version 2>&1). To name one: make PYTHON=/path/to/python3.11"; exit 1; }
	$(CREATE) .venv
	@touch $@

# The second command adds torch, whose builds differ between indexes, and the CUDA libraries that its build asks for.
.venv/run.installed: envs/requirements.txt envs/hashes/requirements.txt | .venv/created
	$(call install,.venv) --no-deps --requirement $(LOCK)/requirements.txt
	$(call install,.venv) --requirement envs/requirements.txt
	@touch $@

.venv/tests.installed: envs/requirements-tests.txt envs/hashes/requirements-tests.txt .venv/run.installed
	$(call install,.venv) --no-deps --requirement $(LOCK)/requirements-tests.txt
	@touch $@

.venv-slurm/installed: envs/requirements-slurm.txt envs/hashes/requirements-slurm.txt .venv/run.installed
	$(BIN)/python -m venv --clear --without-pip .venv-slurm
	$(BIN)/python -c 'import sysconfig; print(sysconfig.get_path("purelib"))' > $$(echo .venv-slurm/lib/python3*/site-packages)/run.pth
	$(call install,.venv-slurm) --no-deps --requirement $(LOCK)/requirements-slurm.txt
	printf '#!/bin/sh\nexec "$${0%%/*}/python" -m snakemake "$$@"\n' > .venv-slurm/bin/snakemake
	chmod +x .venv-slurm/bin/snakemake
	@touch $@
