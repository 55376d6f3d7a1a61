# Short names for what a developer does; `make` alone lists them.
PYTHON ?= python3.11
BIN := .venv/bin

.DEFAULT_GOAL := help
.PHONY: help demo test lint types bench manual

help: ## List the targets
	@awk -F ':.*## ' '/^[a-z]+:.*## / { printf "make %-8s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

.venv/installed: pyproject.toml constraints.txt
	$(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet uv
	$(BIN)/python -m uv pip install --quiet --python $(BIN)/python -c constraints.txt -e '.[dev]'
	@touch $@

demo: .venv/installed ## A month of a coworking space, in a terminal
	$(BIN)/semel demo

test: .venv/installed ## Everything that must pass: tests, style, types, import rule
	$(BIN)/python -m pytest

lint: .venv/installed ## Mend style and formatting where a tool can, and check the import rule
	$(BIN)/python -m ruff check --fix
	$(BIN)/python -m ruff format
	$(BIN)/lint-imports

types: .venv/installed ## Check the types
	$(BIN)/python -m mypy --strict

manual: .venv/installed ## Write the reference pages anew from the code
	$(BIN)/python -m adapters.manual docs/reference

bench: .venv/installed ## Measure, on SQLite and PostgreSQL
	$(BIN)/python -m tests.benchmarks
