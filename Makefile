# Two commands: `make demo` and `make test`.  Both set up everything in .venv by themselves; all they
# need is Python 3.11 to 3.13, make and a package index.
PYTHON ?= $(shell for p in python3.13 python3.12 python3.11 python3; do \
    $$p -c 'import sys; raise SystemExit(not (3, 11) <= sys.version_info[:2] < (3, 14))' 2>/dev/null \
    && { echo $$p; break; }; done)
VENV := .venv
BIN := $(VENV)/bin
STAMP := $(VENV)/.installed
SITE_STAMP := $(VENV)/.site

.PHONY: help demo test test-long bench mutants lint site venv clean
help:
	@echo "make demo       sweep real scenarios on Spark and write a report with pictures"
	@echo "make test       all tests that take minutes"
	@echo "make test-long  also those that take longer"
	@echo "make bench      speed as ratios, measured in one process"
	@echo "make mutants    plant faults in the cores, and measure the share that exploring convicts (hours)"
	@echo "make lint       style, types, import contracts"
	@echo "make site       the documentation as a site, in out/site"
	@echo "make venv       the set-up alone, into .venv"

venv: $(STAMP)

$(STAMP): requirements.lock pyproject.toml
	@test -n "$(PYTHON)" || { echo "ckptsim needs Python 3.11, 3.12 or 3.13; set PYTHON=/path/to/python3" >&2; exit 2; }
	@echo "setting up $(VENV) (once; some 1.3 GB are installed)"
	@$(PYTHON) -m venv --clear $(VENV)
	@$(BIN)/python -m pip install -qq --disable-pip-version-check --no-compile --require-hashes -r requirements.lock
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation --editable .
	@$(BIN)/python -m tests.trim
	@echo "preparing quick starts of Spark"
	@$(BIN)/python -m ckptsim.analysis.spark.warm || echo "not prepared; Spark will start some seconds later"
	@echo "compiling the kernel of large jobs"
	@$(BIN)/python -c 'from ckptsim.sim.job.buffers.compiled.door import kernel; kernel()'
	@touch $(STAMP)

# What builds the site comes on top: its lock agrees with the other one.
$(SITE_STAMP): $(STAMP) requirements-site.lock
	@$(BIN)/python -m pip install -qq --disable-pip-version-check --no-compile --require-hashes -r requirements-site.lock
	@touch $(SITE_STAMP)

demo: $(STAMP)
	@$(BIN)/ckptsim demo --out out/demo

test: $(STAMP)
	@$(BIN)/python -m pytest -n 2 --dist loadfile -m "not long"

# The bars of speeds are looked at with nothing beside them, which would be measured, too.
test-long: $(SITE_STAMP)
	@$(BIN)/python -m pytest -n 2 --dist loadfile -m "" --ignore tests/bench
	@$(BIN)/python -m pytest -m "" tests/bench

bench: $(STAMP)
	@$(BIN)/python -m tests.bench

# MUTANTS="--sample 100 --seconds 5 --jobs 2" and the like; `python -m tests.mutation --help`.
mutants: $(STAMP)
	@$(BIN)/python -m tests.mutation $(MUTANTS)

site: $(SITE_STAMP)
	@$(BIN)/python -m tests.site out/site

lint: $(STAMP)
	@$(BIN)/ruff check . && $(BIN)/ruff format --check . && $(BIN)/mypy && $(BIN)/lint-imports

clean:
	rm -rf $(VENV) out build .pytest_cache .mypy_cache .ruff_cache .hypothesis .import_linter_cache
