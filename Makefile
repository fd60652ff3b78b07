# Buildwright: two commands matter, `make run` and `make test`.
SHELL := /bin/bash
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
PROMPT ?= lightning sorceress for mapping
OUT ?= builds
PYTEST_ARGS ?=
TEST_PROCESSES ?= $(shell nproc 2>/dev/null || echo 2)
PYTEST = $(BIN)/python -m pytest -n $(TEST_PROCESSES) --dist loadfile --no-loadscope-reorder -q

.PHONY: run test test-deep install install-test serve bench lint lock clean

run: install ## generate one build from PROMPT and print it
	@$(BIN)/buildwright build "$(PROMPT)" --out "$(OUT)" || code=$$?; \
	if [ "$${code:-0}" = 3 ]; then echo "finished with caveats (see above)"; else exit $${code:-0}; fi

test: install-test lint ## lint, types, tests without the deep ones; the last line is pytest's
	@$(PYTEST) $(PYTEST_ARGS)

test-deep: install-test lint ## the same and the deep ones: minutes each, most with Path of Building
	@BUILDWRIGHT_TEST_DEEP=1 BUILDWRIGHT_TEST_SABOTAGE=all $(PYTEST) -m "" $(PYTEST_ARGS)

lint: install-test ## ruff, mypy, import-linter
	$(BIN)/ruff check app tests migrations
	$(BIN)/ruff format --check app tests migrations
	$(BIN)/mypy
	$(BIN)/lint-imports

install: $(VENV)/.installed

install-test: $(VENV)/.installed-test

serve: install ## API and web page on http://127.0.0.1:8000
	$(BIN)/buildwright serve

bench: install ## benchmarks as JSON
	$(BIN)/buildwright bench build --json

$(VENV)/bin/python:
	$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "Buildwright needs Python 3.11 or newer; set PYTHON=…")'
	$(PYTHON) -m venv $(VENV)

$(VENV)/.installed: requirements/run.txt pyproject.toml | $(VENV)/bin/python
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements/run.txt
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation -e .
	@touch $@

$(VENV)/.installed-test: requirements/test.txt $(VENV)/.installed
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements/test.txt
	@touch $@

lock: ## renew the locked versions and hashes (needs uv; writes no registry address)
	uv pip compile pyproject.toml requirements/build.in --universal --python-version 3.11 --generate-hashes --no-header --no-emit-index-url --no-annotate -o requirements/run.txt --upgrade
	uv pip compile pyproject.toml requirements/build.in --extra test --universal --python-version 3.11 --generate-hashes --no-header --no-emit-index-url --no-annotate -c requirements/run.txt -o requirements/test.txt --upgrade

clean:
	rm -rf $(VENV) .mypy_cache .ruff_cache .pytest_cache
