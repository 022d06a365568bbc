# The whole ceremony. `make` alone lists what there is.

SHELL := /bin/bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help
MAKEFLAGS += --no-print-directory

PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
# inside the environment: whoever removes the environment removes the stamp with it
STAMP  := $(VENV)/.holdfast-is-set-up
# QUICK=skip leaves the quick tests to a later `make test`, which runs them too (see .ci/run)
QUICK  ?= run

LOCK := $(BIN)/pip-compile --allow-unsafe --generate-hashes --strip-extras --no-header --quiet \
        --no-emit-index-url --no-emit-find-links --no-emit-trusted-host

.PHONY: help setup run check check-full lint quick test prove bench fmt lock clean

help: ## List what there is
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-11s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

setup: $(STAMP) ## Make .venv from the hash-locked requirements; costs nothing the second time

$(STAMP): requirements/dev.txt pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null || { \
	  echo "Holdfast needs Python 3.11 or newer; '$(PYTHON)' is: $$($(PYTHON) --version 2>&1 || true)"; \
	  echo "Name another one:  make setup PYTHON=python3.12"; exit 1; }
	@$(PYTHON) -c 'import ensurepip, venv' 2>/dev/null || { \
	  echo "This Python cannot make environments yet. On Debian or Ubuntu:  apt-get install python3-venv"; exit 1; }
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements/dev.txt
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-build-isolation --no-deps -e .
	@touch $@

run: setup ## Index a small handbook, ask it a question, show the answer with its source
	@$(BIN)/python -m holdfast.interfaces.tour

check: setup ## What every commit passes: format, lint, map of rooms, types, quick tests
	@$(MAKE) lint
	@if [ "$(QUICK)" = skip ]; then echo "quick tests: left to make test"; else $(MAKE) quick; fi

lint: setup
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/lint-imports --no-logo
	$(BIN)/mypy

quick: setup
	$(BIN)/pytest -q -m "not slow"

check-full: check ## The same, and a second reading of the types by pyright
	$(BIN)/pyright

test: setup ## Every test
	$(BIN)/pytest

prove: setup ## The long proofs: simulated faults, real kills, power cuts
	$(BIN)/python -m holdfast.testing.prove --all

bench: setup ## The benchmarks; read the ratios, not the seconds
	$(BIN)/python -m bench

fmt: setup ## Format, and mend what ruff can mend alone
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

lock: setup ## Resolve the versions anew and write requirements/*.txt with hashes
	$(LOCK) --upgrade -o requirements/run.txt pyproject.toml requirements/build.in
	$(LOCK) --upgrade -o requirements/dev.txt -c requirements/run.txt \
	  pyproject.toml requirements/build.in requirements/dev.in
	@if grep -nE '(https?|file)://|^-|@ ' requirements/run.txt requirements/dev.txt; then \
	  echo "the lock names an address or an option of this machine: see above"; exit 1; fi

clean: ## Remove the environment and everything made by tools
	rm -rf $(VENV) .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache build dist bench/out
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
	find src -name '*.egg-info' -type d -prune -exec rm -rf {} +
