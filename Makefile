# `make demo` and `make test` create .venv and install pinned dependencies the first time.
PYTHON ?= python3
BIN := .venv/bin
INSTALL := $(BIN)/python -m pip install --quiet --disable-pip-version-check --constraint constraints.txt
# Two workers on two cores: one thread each, or they wait for one another (30 times slower).
TESTS := OMP_NUM_THREADS=1 OMP_WAIT_POLICY=passive HF_HUB_OFFLINE=1 $(BIN)/python -m pytest

.PHONY: demo test test-slow check docs bench results clean

demo: .venv/base
	$(BIN)/glasshead demo

test: check
	$(TESTS) -n auto

test-slow: .venv/dev
	$(TESTS) -n auto -m slow

# Lint, format, types and import layers.
check: .venv/dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

docs: .venv/dev
	$(BIN)/sphinx-build -W --keep-going -b html docs docs/_build/html

bench: .venv/dev
	$(BIN)/python benchmarks/kendall.py
	$(BIN)/python benchmarks/audit.py
	$(BIN)/python benchmarks/dynamics.py
	$(BIN)/glasshead bench attention

# Every number of docs/results.md; several hours on two cores, and what is done stays done.
results: .venv/base
	$(BIN)/python docs/results/s0_tables.py
	$(BIN)/python docs/results/encoders.py run
	$(BIN)/python docs/results/encoder_tables.py
	$(BIN)/python docs/results/news.py run
	$(BIN)/python docs/results/dynamics.py run
	$(BIN)/python docs/results/dynamics_tables.py
	$(BIN)/python docs/results/identifiability.py run
	$(BIN)/python docs/results/identifiability_tables.py

clean:
	rm -rf .venv docs/_build glasshead-demo

.venv/python:
	$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "glasshead needs Python 3.11 or newer")'
	$(PYTHON) -m venv .venv
	touch $@

.venv/base: .venv/python pyproject.toml constraints.txt
	$(INSTALL) --editable .
	touch $@

.venv/dev: .venv/base
	$(INSTALL) --editable '.[dev,docs]'
	touch $@

