# One command each to set up, run, test, check and measure. `make help` lists them.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
PYTEST_ARGS ?=
SEED ?= 1
YEARS ?= 10
MINUTES ?= 60
SOAK_ARGS ?=
ARCH ?= amd64
VERSION = $(shell sed -n 's/^version = "\(.*\)".*/\1/p' pyproject.toml)
IMAGE ?= crondor
BASE ?= docker.io/library/debian:trixie-slim
EXTRAS ?= holidays,htcondor,ics,monitor
BUILDAH ?= $(firstword $(foreach each,buildah podman docker,$(if $(shell command -v $(each)),$(each))))
IMAGE_ARGS ?=
IMAGE_TIME = $(if $(filter docker,$(notdir $(BUILDAH))),,--timestamp $$(git log -1 --format=%ct))
CONDA_ARGS ?=
VSCODE_ARGS ?=

# -qq: errors only.
INSTALL = $(BIN)/python -m pip install -qq --disable-pip-version-check --editable

.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
.NOTPARALLEL:
.PHONY: help demo test lint check pictures site site-test fuzz soak bench pythons dist deb image conda vscode release-check clean

help:
	@echo 'make demo    set up and run the main job: crondor next --spec examples/nightly.sub'
	@echo 'make test    set up and run every test (PYTEST_ARGS="-k spec" for some of them)'
	@echo 'make lint    set up, lint, check types, the order of imports and the size of the house'
	@echo 'make check   set up, all of make lint, then make test'
	@echo 'make pictures   draw docs/pictures anew'
	@echo 'make site    build the site, playground included, into build/site (needs npm)'
	@echo 'make site-test   build it, and drive it in a real Chromium (needs npm and chromium)'
	@echo 'make fuzz    feed the ClassAd readers broken text, and compare random expressions and schedules with others (SEED=2 YEARS=10)'
	@echo 'make soak    watch and route 10,000 jobs that come and go, and see that nothing grows (MINUTES=60 SOAK_ARGS=--live)'
	@echo 'make bench   set up and measure, peers beside it'
	@echo 'make vscode  build the extension for VS Code, editors/vscode/crondor.vsix (needs Node 18 or later with npm)'
	@echo 'make pythons runs every test on Python 3.10 to 3.14 (PYTEST_ARGS=tests/engine for some of them)'
	@echo 'make dist    build wheel, sdist, their bill of materials (CycloneDX) and checksums into dist'
	@echo 'make deb     build the Debian package into dist (ARCH=arm64 for the other one; needs dpkg-deb)'
	@echo 'make image   build an OCI image with buildah, podman or docker (EXTRAS=monitor, BASE=debian:trixie-slim)'
	@echo 'make conda   build the conda packages into build/conda/channel (CONDA_ARGS=--render-only, or "--channel URL --python 3.13")'
	@echo 'make release-check   list what is missing to publish: addresses, tag, checks of what is built (needs npm)'
	@echo 'make clean   remove what these commands made, $(VENV) included'
	@echo
	@echo 'Needs Python 3.10 or later with venv; another one: make test PYTHON=python3.13'

demo: $(VENV)/.installed
	$(BIN)/crondor next --spec examples/nightly.sub

test: $(VENV)/.installed-test
	$(strip $(BIN)/python -m pytest --numprocesses auto --maxprocesses 8 --dist worksteal $(PYTEST_ARGS))

check: lint
	@$(MAKE) --no-print-directory test

lint: $(VENV)/.installed-dev
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/python -m benchmarks.budget

pictures: $(VENV)/.installed
	$(BIN)/python -m website.pictures

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

soak: $(VENV)/.installed-test
	$(strip $(BIN)/python -m tests.soak --minutes $(MINUTES) $(SOAK_ARGS))

bench: $(VENV)/.installed-bench
	$(BIN)/python -m benchmarks

pythons: $(VENV)/.installed-dist
	$(strip $(BIN)/nox $(if $(PYTEST_ARGS),-- $(PYTEST_ARGS)))

# The bill of materials is that of an environment with the wheel's dependencies and nothing else, not even pip.
dist: $(VENV)/.installed-dist
	@rm -rf build/dist dist/crondor-*
	$(BIN)/python -m hatchling build --directory dist
	@$(BIN)/python -m venv --without-pip build/dist
	@$(BIN)/python -m pip --python build/dist/bin/python install -qq --disable-pip-version-check dist/crondor-*.whl
	$(BIN)/cyclonedx-py environment --pyproject pyproject.toml --short-PURLs --output-reproducible \
	  --output-file dist/crondor-sbom.cdx.json build/dist/bin/python
	cd dist && sha256sum crondor-* >SHA256SUMS

# Wheels of pcre2 are taken by their checksums, for Debian's Python; the time of all files is that of the commit.
DEB_PYTHONS := 3.13
DEB_MACHINE_amd64 := x86_64
DEB_MACHINE_arm64 := aarch64

deb: $(VENV)/.installed-dist
	@test -n '$(DEB_MACHINE_$(ARCH))' || { echo 'crondor: ARCH is amd64 or arm64' >&2; exit 1; }
	@rm -rf build/deb
	$(BIN)/python -m hatchling build --target wheel --directory build/deb/wheel
	@for version in $(DEB_PYTHONS); do \
	  $(BIN)/python -m pip download -qq --disable-pip-version-check --no-deps --only-binary :all: --require-hashes \
	    --python-version $$version --platform manylinux2014_$(DEB_MACHINE_$(ARCH)) \
	    --dest build/deb/bundled --requirement packaging/deb/bundled.txt || exit 1; done
	SOURCE_DATE_EPOCH=$${SOURCE_DATE_EPOCH:-$$(git log -1 --format=%ct)} \
	  $(BIN)/python packaging/deb/build.py build/deb/wheel/*.whl build/deb/bundled/*.whl

# All wheels are gathered here, for the Python of the base; the image takes them, and no index.
image: $(VENV)/.installed-dist
	@test -n '$(BUILDAH)' || { echo 'crondor: there is no buildah, podman or docker here' >&2; exit 1; }
	@test -n '$(DEB_MACHINE_$(ARCH))' || { echo 'crondor: ARCH is amd64 or arm64' >&2; exit 1; }
	@rm -rf build/oci
	$(BIN)/python -m hatchling build --target wheel --directory build/oci/wheels
	@wheel=$$(echo build/oci/wheels/crondor-*.whl); \
	  $(BIN)/python -m pip download -qq --disable-pip-version-check --only-binary :all: \
	    --python-version $(DEB_PYTHONS) $(foreach glibc,28 17,--platform manylinux_2_$(glibc)_$(DEB_MACHINE_$(ARCH))) \
	    --platform manylinux2014_$(DEB_MACHINE_$(ARCH)) --dest build/oci/wheels "$$wheel[$(EXTRAS)]"
	$(BUILDAH) build --file packaging/oci/Containerfile --tag $(IMAGE):$(VERSION) --platform linux/$(ARCH) \
	  --build-arg BASE=$(BASE) --build-arg EXTRAS=$(EXTRAS) --build-arg VERSION=$(VERSION) \
	  --build-arg REVISION=$$(git rev-parse HEAD) $(IMAGE_TIME) $(IMAGE_ARGS) build/oci

# The recipes take the sdist of this checkout, and that of pcre2 by its checksum. What else they need, a channel has.
conda: $(VENV)/.installed-dist
	$(BIN)/python -m hatchling build --target sdist --directory dist
	$(BIN)/python -m pip download -qq --disable-pip-version-check --no-deps --no-binary pcre2 --require-hashes \
	  --dest build/conda --requirement packaging/deb/bundled.txt
	$(strip $(BIN)/python packaging/conda/build.py $(CONDA_ARGS))

# --ignore-scripts: nothing that a package brings is run while it is installed.
vscode: $(VENV)/.installed
	@command -v npm >/dev/null || { echo 'crondor: there is no npm here; install Node 18 or later' >&2; exit 1; }
	cd editors/vscode && npm ci --ignore-scripts --no-audit --no-fund && npm test
	$(BIN)/python packaging/vscode.py $(VSCODE_ARGS)

release-check: $(VENV)/.installed-dist packaging/node_modules
	@$(BIN)/python packaging/release_check.py

clean:
	rm -rf editors/vscode/node_modules editors/vscode/out editors/vscode/crondor.vsix
	rm -rf website/node_modules packaging/node_modules
	rm -rf $(VENV) .nox build dist .hypothesis .import_linter_cache .mypy_cache .pytest_cache .ruff_cache
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

$(VENV)/.installed-dist: pyproject.toml | $(BIN)/python
	@echo 'Installing crondor and what it is released with into $(VENV)'
	@$(INSTALL) '.[dist]'
	@touch $(VENV)/.installed $@

$(VENV)/.installed-site: pyproject.toml | $(BIN)/python
	@echo 'Installing crondor and what its site is built with into $(VENV)'
	@$(INSTALL) '.[site]'
	@touch $(VENV)/.installed $@

website/node_modules: website/package.json website/package-lock.json
	@command -v npm >/dev/null || { echo 'crondor: the site needs npm (Debian, Ubuntu: apt install npm)' >&2; exit 1; }
	@npm ci --prefix website --silent --no-audit --no-fund --ignore-scripts
	@touch $@

packaging/node_modules: packaging/package.json packaging/package-lock.json
	@command -v npm >/dev/null || { echo 'crondor: this needs npm (Debian, Ubuntu: apt install npm)' >&2; exit 1; }
	@npm ci --prefix packaging --silent --no-audit --no-fund --ignore-scripts
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
