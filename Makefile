# The two commands: `make demo` and `make test`; `make test-full` adds the large counts. Each sets up .venv when needed, then does its work.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready

.DEFAULT_GOAL := help
.PHONY: help demo test test-full lint docs pictures bench clean

help:
	@echo "make demo    show what flexapod does, with pictures"
	@echo "make test    run the checks"
	@echo "make test-quick  two minutes of checks for work in progress: no browsers, documentation, processes"
	@echo "make test-full  the same with the large counts: thousands of fuzzed files, all exported C, mypy, the site"
	@echo "make lint    ruff and mypy over the sources"
	@echo "make docs    build the documentation into docs/_build/html"
	@echo "make pictures  draw the pictures of README, docs and gallery that are out of date (needs Chromium)"
	@echo "make bench   run the benchmarks and write docs/benchmarks.md from them"
	@echo "make clean   remove everything that was built, .venv included"

# Runs again only when the pins or the package's own metadata change.
$(READY): requirements.txt pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' \
	  || { echo "flexapod needs Python 3.11 or newer; choose one with: make PYTHON=python3.12 ..." >&2; exit 1; }
	@$(BIN)/python -c '' 2>/dev/null || $(PYTHON) -m venv --clear $(VENV) \
	  || { echo "Python cannot make a virtual environment here (on Debian: install python3-venv)." >&2; exit 1; }
	@echo "Installing the pinned dependencies into $(VENV) ..."
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check -r requirements.txt
	@$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation --editable .
	@touch $@

demo: $(READY)
	$(BIN)/python -m flexapod.views.demo

.PHONY: test-quick
test: MARKED :=
test-quick: MARKED := -m "quick and not full"
test-full: MARKED := -m ""
test test-quick test-full: $(READY)
	@tools/ensure_tools.sh $(VENV)/.tools-tried
	@command -v cc >/dev/null \
	  || echo "make test: no C compiler (cc) found; the tests of exported C are skipped (on Debian: install g++)." >&2
	$(BIN)/python -m pytest -n 2 --dist worksteal --cpu-seconds=60 --durations=20 $(MARKED) tests

lint: $(READY)
	$(BIN)/ruff check .
	$(BIN)/mypy

docs: $(READY)
	$(BIN)/sphinx-build -W --keep-going -n -q docs docs/_build/html
	@echo "docs/_build/html/index.html"

pictures: $(READY)
	$(BIN)/python tools/make_gallery.py
	$(BIN)/python tools/make_docs_pictures.py
	$(BIN)/python tools/make_studio_picture.py
	$(BIN)/python tools/make_reference_pictures.py

bench: $(READY)
	$(BIN)/python benchmarks/page.py

clean:
	rm -rf $(VENV) build dist out docs/_build .pytest_cache .mypy_cache .ruff_cache .hypothesis src/*.egg-info
	find src tests docs benchmarks examples -name __pycache__ -type d -prune -exec rm -rf {} +
