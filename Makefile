# On a fresh machine with Python 3.11+ and make, each target sets up what it needs.
#
#   make demo     train a small network and leave its plots
#   make test     lint, type check, tests and doctests: what everybody runs, in a few minutes; where Chromium is
#                 installed, the pages of tapeflow.inspect, and the site if it is built, are looked at in it, too
#   make test-exhaustive    the rest: all rows on XLA, many kills, other roundings, Keras's own tests
#   make test-all    both
#   make bench    compare with TensorFlow, PyTorch and JAX (downloads them)
#   make growth   measure how cost grows with the size of things, and draw it
#   make hostile    make thousands of calls that nobody should make, on each engine
#   make differential    make the same thousands of calls in TensorFlow, and compare; let it read our files (downloads it);
#                 run what the pages "Coming from ..." show of TensorFlow, PyTorch and JAX
#   make distribute    train on several devices and in several processes, at length
#   make stress   try to break it for ten minutes: random programs, threads, interruptions, kills
#   make browser    look at the pages of tapeflow.inspect and at the site in Chromium (installs it, builds the site)
#   make keras-suite    run Keras's own tests on tapeflow and on JAX (downloads TensorFlow, too)
#   make libraries    run the tests of libraries built on TensorFlow, there and here (downloads them, and it)
#   make pictures    make the pictures in docs/inspect.md (needs Chromium)
#   make docs     write the lists in docs/compatibility.md, and build the site, with the reference, in build/site
#   make exports    write the public files from the @export lines in src/tapeflow/_src
#
# Another Python: make test PYTHON=python3.12. Other arguments: make bench BENCH_ARGS="--busy 1 2",
# make differential DIFFERENTIAL_ARGS="--ops math.* --seed 3", make stress STRESS_ARGS="--seed 3",
# make keras-suite SUITE_ARGS="layers/rnn", make libraries LIBRARY=sonnet.

PYTHON ?= python3
VENV ?= .venv
PEERS ?= .venv-peers
BENCH_ARGS ?=
HOSTILE_ARGS ?=
DIFFERENTIAL_ARGS ?=
STRESS_ARGS ?=
SUITE_ARGS ?=
LIBRARY ?=

BIN := $(VENV)/bin
TORCH := torch==2.13.0
IN_BROWSER := $(BIN)/python -m pytest -n 0 -m browser tests/inspector tests/documentation

.DEFAULT_GOAL := help
.PHONY: help demo test test-exhaustive test-all test-python browser pictures lint format bench differential stress keras-suite docs exports clean

help:
	@sed -n '/^$$/q; s/^# \{0,1\}//p' Makefile

demo: $(VENV)/.installed-plot
	$(BIN)/python examples/train_mlp.py

test: lint
	$(BIN)/python -m pytest -n 2 --dist worksteal
	if command -v chromium && command -v chromedriver; then $(IN_BROWSER); fi

test-exhaustive: $(VENV)/.installed-dev
	$(BIN)/python -m pytest -n 2 --dist worksteal -m exhaustive
	$(BIN)/python -m pytest -n 2 --dist worksteal -p tests.rounding -m "" src/tapeflow tests/test_docs.py
	$(BIN)/python -m tests.keras_suite --check

test-all: test test-exhaustive

# Debian's browser; elsewhere install Chromium and its driver by hand.
browser: docs
	command -v chromium && command -v chromedriver || apt-get install -y chromium chromium-driver
	$(IN_BROWSER)

# What another version of Python, and the newer NumPy that comes with it, can break: all that is not compiled.
test-python: $(VENV)/.installed-dev
	$(BIN)/python -m pytest -n 2 --dist worksteal tests/core tests/autodiff tests/ops tests/graph tests/data \
		tests/io tests/train tests/config tests/conformance tests/test_loops_in_blocks.py

pictures: $(VENV)/.installed-dev
	$(BIN)/python scripts/pictures.py

lint: $(VENV)/.installed-dev
	$(BIN)/ruff check --no-cache .
	$(BIN)/ruff format --no-cache --check .
	$(BIN)/pyright --pythonpath $(BIN)/python

format: $(VENV)/.installed-dev
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

bench: $(VENV)/.installed-xla $(PEERS)/.installed
	$(BIN)/python benchmarks/run.py --tapeflow-python $(BIN)/python \
		--peers-python $(PEERS)/bin/python $(BENCH_ARGS)

.PHONY: growth
growth: $(VENV)/.installed-dev
	$(BIN)/python benchmarks/growth.py
	$(BIN)/python benchmarks/growth.py --draw

.PHONY: hostile
hostile: $(VENV)/.installed-dev
	$(BIN)/python -m tests.hostile --calls 20000 $(HOSTILE_ARGS)
	$(BIN)/python -m tests.hostile --calls 5000 --engine numpy $(HOSTILE_ARGS)
	$(BIN)/python -m tests.hostile --calls 5000 --engine xla $(HOSTILE_ARGS)
	$(BIN)/python -m tests.hostile --calls 3000 --engine hybrid $(HOSTILE_ARGS)

differential: $(PEERS)/.installed-tapeflow $(VENV)/.installed-dev
	$(PEERS)/bin/python -m tests.differential $(DIFFERENTIAL_ARGS)
	$(PEERS)/bin/python -m tests.documentation.pages
	TAPEFLOW_PEERS=$(PEERS)/bin/python $(BIN)/python -m pytest -m peers tests/tensorflow_files

stress: $(VENV)/.installed-dev
	$(BIN)/python -m pytest -m stress tests/stress
	$(BIN)/python -m tests.stress $(STRESS_ARGS)

.PHONY: distribute
distribute: $(VENV)/.installed-dev
	$(BIN)/python -m pytest -m distribute tests

keras-suite: $(PEERS)/.installed-tapeflow
	$(PEERS)/bin/python -m tests.keras_suite $(SUITE_ARGS)

.PHONY: libraries
libraries: $(VENV)/.installed-dev
	$(BIN)/python -m tests.libraries $(LIBRARY)

# TAPEFLOW_REPOSITORY=https://.../blob/main lets links to the source lead there, and not to pages of the site.
docs: $(VENV)/.installed-dev $(VENV)/.installed-docs
	$(BIN)/python scripts/compatibility.py
	$(BIN)/python scripts/documentation

exports: $(VENV)/.installed-dev
	$(BIN)/python scripts/exports.py

clean:
	rm -rf $(VENV) $(PEERS) build dist demo-output .pytest_cache .ruff_cache
	find src tests examples benchmarks -name __pycache__ -type d -prune -exec rm -rf {} +

# The stamps remember an installation, so that only a change of the requirements repeats it.

$(BIN)/python $(PEERS)/bin/python:
	@$(PYTHON) -c 'import sys; sys.version_info >= (3, 11) or sys.exit("tapeflow needs \
	Python 3.11 or newer, and $(PYTHON) is " + sys.version.split()[0] + ". Name another: make PYTHON=python3.12")'
	$(PYTHON) -m venv $(patsubst %/bin/python,%,$@)

$(VENV)/.installed-%: pyproject.toml | $(BIN)/python
	$(BIN)/python -m pip install --quiet --editable '.[$*]'
	@touch $@

# PyTorch goes first and alone: its exact version must not be moved by what the others require.
$(PEERS)/.installed: benchmarks/peers.txt Makefile | $(PEERS)/bin/python
	$(PEERS)/bin/python -m pip install --quiet $(TORCH)
	$(PEERS)/bin/python -m pip install --quiet --requirement benchmarks/peers.txt
	@touch $@

$(PEERS)/.installed-tapeflow: pyproject.toml $(PEERS)/.installed
	$(PEERS)/bin/python -m pip install --quiet --editable ".[xla]"
	@touch $@
