# One command each to set up, run, test, check and measure. `make help` lists them.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
PYTEST_ARGS ?=
SEED ?= 1
YEARS ?= 10

# -qq: errors only.
INSTALL = $(BIN)/python -m pip install -qq --disable-pip-version-check --editable

.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
.NOTPARALLEL:
.PHONY: help demo test check docs site site-test fuzz bench vscode clean

help:
	@echo 'make demo    set up and run the main job: crondor next --spec examples/nightly.sub'
	@echo 'make test    set up and run every test (PYTEST_ARGS="-k spec" for some of them)'
	@echo 'make check   set up, lint, check types and the order of imports, then make test'
	@echo 'make docs    bring the pages in docs/cli up to date with the options and the JSON schemas of the commands'
	@echo 'make site    build the site, playground included, into build/site (needs npm)'
	@echo 'make site-test   build it, and drive it in a real Chromium (needs npm and chromium)'
	@echo 'make fuzz    feed the ClassAd readers broken text, and compare random expressions and schedules with others (SEED=2 YEARS=10)'
	@echo 'make bench   set up and measure, peers beside it'
	@echo 'make vscode  build the extension for VS Code, editors/vscode/crondor.vsix (needs Node 18 or later with npm)'
	@echo 'make clean   remove what these commands made, $(VENV) included'
	@echo
	@echo 'Needs Python 3.10 or later with venv; another one: make test PYTHON=python3.13'

demo: $(VENV)/.installed
	$(BIN)/crondor next --spec examples/nightly.sub

test: $(VENV)/.installed-test
	$(strip $(BIN)/python -m pytest --numprocesses auto --maxprocesses 8 --dist loadfile $(PYTEST_ARGS))

check: $(VENV)/.installed-dev
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/mypy
	$(BIN)/lint-imports
	@$(MAKE) --no-print-directory test

docs: $(VENV)/.installed
	$(BIN)/python -m crondor_cli.reference docs/cli --share cli/share

site: $(VENV)/.installed-site website/node_modules
	$(BIN)/python -m website build/site

site-test: site
	node website/tests/site.mjs build/site $(BIN)/crondor

fuzz: $(VENV)/.installed-test
	$(BIN)/python -m tests.fuzz --seed $(SEED) --seconds 300
	CRONDOR_FUZZ_SEEDS=200 $(BIN)/python -m pytest tests/oracle
	CRONDOR_SCHEDULES=200 CRONDOR_YEARS=$(YEARS) $(BIN)/python -m pytest tests/compile/test_oracles.py
	$(BIN)/python -m tests.compile --count 200 --years $(YEARS) --simulated 20
	CRONDOR_EDITS=5000 $(BIN)/python -m pytest tests/lsp/test_random_edits.py

bench: $(VENV)/.installed-bench
	$(BIN)/python -m benchmarks

# --ignore-scripts: nothing that a package brings is run while it is installed.
vscode:
	@command -v npm >/dev/null || { echo 'crondor: there is no npm here; install Node 18 or later' >&2; exit 1; }
	cd editors/vscode && npm ci --ignore-scripts --no-audit --no-fund && npm test && npm run package

clean:
	rm -rf editors/vscode/node_modules editors/vscode/out editors/vscode/crondor.vsix
	rm -rf website/node_modules
	rm -rf $(VENV) build dist .hypothesis .import_linter_cache .mypy_cache .pytest_cache .ruff_cache
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

# One stamp for each set of dependencies, older than pyproject.toml when it has to be installed again.
# A larger set renews the stamps of those it contains.
$(VENV)/.installed: pyproject.toml | $(BIN)/python
	@echo 'Installing crondor into $(VENV)'
	@$(INSTALL) .
	@touch $@

$(VENV)/.installed-test: pyproject.toml | $(BIN)/python
	@echo 'Installing crondor and what its tests need into $(VENV)'
	@$(INSTALL) '.[test]'
	@touch $(VENV)/.installed $@

$(VENV)/.installed-dev: pyproject.toml | $(BIN)/python
	@echo 'Installing crondor and what its checks need into $(VENV)'
	@$(INSTALL) '.[dev]'
	@touch $(VENV)/.installed $(VENV)/.installed-test $@

$(VENV)/.installed-bench: pyproject.toml | $(BIN)/python
	@echo 'Installing crondor and its peers into $(VENV)'
	@$(INSTALL) '.[bench]'
	@touch $(VENV)/.installed $@

$(VENV)/.installed-site: pyproject.toml | $(BIN)/python
	@echo 'Installing crondor and what its site is built with into $(VENV)'
	@$(INSTALL) '.[site]'
	@touch $(VENV)/.installed $@

website/node_modules: website/package.json website/package-lock.json
	@command -v npm >/dev/null || { echo 'crondor: the site needs npm (Debian, Ubuntu: apt install npm)' >&2; exit 1; }
	@npm ci --prefix website --silent --no-audit --no-fund --ignore-scripts
	@touch $@

# Debian and Ubuntu ship Python without ensurepip; there `python3 -m venv` would leave a folder without pip.
$(BIN)/python:
	@command -v $(PYTHON) >/dev/null || \
	  { echo 'crondor: there is no $(PYTHON) here; name one: make PYTHON=/path/to/python3' >&2; exit 1; }
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 10))' || \
	  { echo 'crondor: Python 3.10 or later is needed; name one: make PYTHON=python3.12' >&2; exit 1; }
	@$(PYTHON) -c 'import ensurepip, venv' 2>/dev/null || \
	  { echo 'crondor: this Python cannot make environments; install venv (Debian, Ubuntu: apt install python3-venv)' >&2; exit 1; }
	@$(PYTHON) -m venv $(VENV) || { rm -rf $(VENV); exit 1; }
