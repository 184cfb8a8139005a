# rdc: what people do here. `make help` lists it; everything runs in a virtual environment of the project's own.
# The Python of a system is built with optimizations that version managers leave out; the tests take a fifth less time.
PYTHON ?= $(shell /usr/bin/python3 -c 'import ensurepip, sys; sys.exit(sys.version_info < (3, 11))' 2> /dev/null \
	&& echo /usr/bin/python3 || echo python3)
VENV   := .venv
BIN    := $(VENV)/bin
READY  := $(VENV)/.ready

# The demo has its own environment, with only the packages that rdc needs at run time.
DEMO   := build/demo

# How long `soak` and `fuzz` take.
MINUTES ?= 10

# How many workers run the tests that start processes: twice the cores, since some of their time is waiting.
WORKERS ?= 4
PYTEST = $(BIN)/python -m pytest -q --dist worksteal

# pytest would rewrite the modules of its plugins again in each process.
unexport PYTHONDONTWRITEBYTECODE

.DEFAULT_GOAL := help
.PHONY: help setup demo quick test cases lint format bench soak fuzz golden browser screens site vscode lock release clean

help: ## Show this list
	@sed -n 's/^\([a-z-]*\):.*## /\1\t/p' $(MAKEFILE_LIST) | while IFS="$$(printf '\t')" read -r name text; do \
		printf '  make %-8s %s\n' "$$name" "$$text"; done

setup: $(READY) ## Create the virtual environment with everything that the project needs

NEW_ENOUGH = $(PYTHON) -c 'import sys; sys.exit("rdc needs Python 3.11 or newer; name one: make PYTHON=python3.12 …" if sys.version_info < (3, 11) else 0)'

PIP = $(BIN)/python -m pip install --quiet --disable-pip-version-check
UV  = $(BIN)/uv pip install --quiet --system-certs --python $(BIN)/python

# uv, which the lock has too, installs in seconds; pip does it where uv finds no index. Both trust the certificates of the
# system. Python compiles what is imported.
$(READY): requirements.lock pyproject.toml
	$(NEW_ENOUGH)
	$(PYTHON) -m venv $(VENV)
	@sed -n '/^uv==/,/[^\\]$$/p' requirements.lock > $(VENV)/uv.txt
	$(PIP) --no-compile --require-hashes -r $(VENV)/uv.txt
	$(UV) --require-hashes -r requirements.lock || $(PIP) --no-compile --require-hashes -r requirements.lock
	$(PIP) --no-deps --no-build-isolation --editable .
	@touch $@

# To compile only the modules that a command imports takes less time than to compile all that pip installs.
$(DEMO)/bin/rdc: requirements-run.lock
	$(NEW_ENOUGH)
	$(PYTHON) -m venv $(DEMO)
	$(DEMO)/bin/python -m pip install --quiet --disable-pip-version-check --no-compile --require-hashes -r requirements-run.lock
	@$(DEMO)/bin/python -c 'import sys, sysconfig; open(sysconfig.get_path("purelib") + "/rdc.pth", "w").write(sys.argv[1])' "$(CURDIR)"
	@printf '#!/bin/sh\nexec "$${0%%/*}/python" -P -m rdc "$$@"\n' > $@
	@chmod +x $@

demo: $(DEMO)/bin/rdc ## Check, compile, run, kill, resume and complete a real runbook
	@PATH="$(CURDIR)/$(DEMO)/bin:$$PATH" sh examples/demo.sh

quick: $(READY) ## Run the unit tests, which start no process, in less than a minute
	$(PYTEST) -n 2 --kind quick --snapshot-warn-unused

# Tests write in memory where there is enough of it: most of what they wait for is a disk.
SPACE = $$(grep -qs ' /dev/shm [^ ]* [^ ]*noexec' /proc/mounts || \
	df -Pk /dev/shm 2> /dev/null | awk '$$4 + 0 > 4000000 { print $$6 }')

# Lint runs beside the tests that wait for processes, not beside those that only compute.
test: $(READY) ## Run lint, types and all tests
	@space=$(SPACE) && shared=$$(mktemp -d -p "$${space:-$${TMPDIR:-/tmp}}") && trap 'rm -rf "$$shared"' EXIT && \
		export TESTS_SHARED_FOLDER="$$shared" TMPDIR="$$shared" && \
		$(PYTEST) -n 2 --kind quick --snapshot-warn-unused --basetemp "$$shared/quick" && \
		$(MAKE) --no-print-directory -j 2 lint cases

cases: $(READY)
	$(PYTEST) -n $(WORKERS) --kind other $(if $(TESTS_SHARED_FOLDER),--basetemp "$(TESTS_SHARED_FOLDER)/other")

lint: $(READY) ## Check style, spelling and types
	$(BIN)/typos
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

format: $(READY) ## Format the code and fix what ruff can fix
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

bench: $(READY) ## Measure the speed against yardsticks of the same run
	$(BIN)/python -m benchmarks

soak: $(READY) ## Run the cases that `make test` leaves out, then compare random documents and programs (MINUTES=10)
	$(PYTEST) -n $(WORKERS) --whole -m "share or soak or hypothesis"
	$(BIN)/python -m tests.differential --minutes $(MINUTES)

fuzz: $(READY) ## Fuzz the compiler, guided by coverage (MINUTES=10)
	$(BIN)/python -m tests.fuzzing --minutes $(MINUTES)

golden: $(READY) ## Regenerate golden files and generated pages
	$(BIN)/python -m tools.explanations
	$(BIN)/python -m tools.regenerate
	$(BIN)/python -m pytest -q tests/golden tests/repo/test_imports.py --snapshot-update
	rm -rf rdc.lock .rdc_cache # the cache knows the version of rdc, and not its code; review reads the new lock
	$(BIN)/python -m rdc build --prune

browser: ## Install the browser that tests of the page of `rdc view` need, on Debian
	$$([ "$$(id -u)" = 0 ] || echo sudo) apt-get install --yes --no-install-recommends chromium fonts-dejavu-core

screens: $(READY) ## Take pictures of the page of `rdc view` into golden/page
	$(BIN)/python -m tools.screens

site: $(READY) ## Build the site of the documentation into build/site/html
	$(BIN)/python -m tools.site build/site

vscode: ## Pack the extension for VS Code into editors/vscode (needs node and npm)
	@command -v npm > /dev/null || { echo "make vscode needs node 20 or newer, and npm" >&2; exit 1; }
	cd editors/vscode && npm ci --ignore-scripts --no-audit --no-fund --loglevel=error && npm run package

RESOLVE = $(BIN)/uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-emit-index-url \
	--no-header --no-annotate

lock: $(READY) ## Resolve the dependencies again into requirements.lock and requirements-run.lock
	$(RESOLVE) --group dev --output-file requirements.lock pyproject.toml
	$(RESOLVE) --constraints requirements.lock --output-file requirements-run.lock pyproject.toml

release: $(READY) ## Build wheel, sdist, checksums, provenance and notes of this version into dist
	$(BIN)/python -m tools.release

clean: ## Remove the virtual environment and all caches
	rm -rf $(VENV) build dist .mypy_cache .ruff_cache .pytest_cache .hypothesis
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
