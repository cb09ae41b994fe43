# `make demo` and `make test` create .venv and install pinned dependencies the first time.
PYTHON ?= python3
BIN := .venv/bin
INSTALL := $(BIN)/python -m pip install --quiet --disable-pip-version-check --constraint constraints.txt
# Two workers on two cores: one thread each, or they wait for one another (30 times slower).
# By files: what a file trains for all its tests is trained once. Rewritten assertions are kept (10 s a worker).
TESTS := PYTHONDONTWRITEBYTECODE= OMP_NUM_THREADS=1 OMP_WAIT_POLICY=passive HF_HUB_OFFLINE=1 \
	$(BIN)/python -m pytest -n auto --dist loadfile

.PHONY: demo test test-papers test-without-papers test-slow test-grids test-cpus same-numbers check docs bench reproduction \
	catalogue families package clean

demo: .venv/base
	$(BIN)/glasshead demo

# The tool. The papers' wing has tests of its own.
test: check
	$(TESTS) --ignore tests/papers

test-papers: .venv/dev
	$(TESTS) tests/papers

# The tool's tests once more, in a copy without the wing.
WITHOUT_PAPERS := build/without-papers
test-without-papers: .venv/dev
	rm -rf $(WITHOUT_PAPERS) && mkdir -p $(WITHOUT_PAPERS)
	git ls-files -z | tar -cf - --null -T - | tar -xf - -C $(WITHOUT_PAPERS)
	rm -rf $(WITHOUT_PAPERS)/src/glasshead/papers $(WITHOUT_PAPERS)/tests/papers
	cd $(WITHOUT_PAPERS) && GLASSHEAD_DATA=$${GLASSHEAD_DATA:-$(abspath ../shared/data)} \
		PYTHONPATH=src $(TESTS:$(BIN)/%=$(abspath $(BIN))/%) $(ONLY)

test-slow: .venv/dev
	$(TESTS) -m slow

# Every family of models in every test of families. Before a release, and after a change of how models are read.
test-grids: .venv/dev
	$(TESTS) -m "grid and slow" --whole-grids

# What computes, once more as an older CPU does it (other last digits, the same results), with shapes and types of
# arguments and results checked meanwhile. AVX2 is what `test` uses where there is no more.
COMPUTING := $(addprefix tests/,attention explainers huggingface identifiability models statistics trace)
CHECKED := attention trace explainers statistics
comma := ,
empty :=
test-cpus: .venv/dev
	ATEN_CPU_CAPABILITY=default $(TESTS) -m "not slow and not compiled" $(COMPUTING) \
		--jaxtyping-packages=$(subst $(empty) $(empty),$(comma),$(addprefix glasshead.,$(CHECKED)) typechecked.check)
	$(if $(filter avx512f,$(shell cat /proc/cpuinfo)),ATEN_CPU_CAPABILITY=avx2 $(TESTS) tests/attention tests/identifiability)

# Whether the numbers of tiny models through every command are those that were written down, on this kind of CPU.
same-numbers: .venv/dev
	OMP_NUM_THREADS=1 OMP_WAIT_POLICY=passive HF_HUB_OFFLINE=1 PYTHONPATH=tests:$(PYTHONPATH) \
		$(BIN)/python tests/golden/golden_numbers.py --check

# Lint, format, types and import layers.
check: .venv/dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

docs: .venv/dev
	$(BIN)/sphinx-build -W --keep-going -b html docs docs/_build/html

# What is fast, as ratios; an hour on two cores. One alone: python -m benchmarks.attention --help
BENCHMARKS := startup serve cite kills audit audit_scale halves large shard inside patching passes erasure explain explain_call images images_with_text writing kendall coverage \
	adversary identifiability attention training dynamics cluster
bench: .venv/dev
	for name in $(BENCHMARKS); do echo "== $$name" && $(BIN)/python -m benchmarks.$$name || exit 1; done

# Every number of docs/reproduction/; many hours on two cores, and what is done stays done.
reproduction: .venv/base
	$(BIN)/glasshead kernels build
	$(BIN)/python -m reproduction --all

# What `glasshead list` shows, written down so that it needs no torch; after a change of any registry.
catalogue: .venv/base
	$(BIN)/python -m glasshead.cli.listing

# docs/reference/families.md, image-families.md, image-text-families.md and tasks.md, computed by the tests' tiny models.
families: .venv/dev
	$(BIN)/python tests/auto_table.py
	$(BIN)/python tests/image_table.py
	$(BIN)/python tests/image_text_table.py
	$(BIN)/python tests/task_table.py

# The source distribution and the wheel of a release; the version is the git tag.
package: .venv/dev
	rm -rf dist
	$(BIN)/python -m build
	$(BIN)/twine check --strict dist/*

clean:
	rm -rf .venv dist docs/_build glasshead-demo

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

