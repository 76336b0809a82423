# Each target does all set-up it needs, inside this checkout (.venv, target), and nothing twice.
SHELL := /bin/bash
PY := .venv/bin/python
RUST_SOURCES := $(shell find rust -name '*.rs' -o -name Cargo.toml) Cargo.toml Cargo.lock
SUPPORT := .venv/.deps
NATIVE := .venv/.native

.PHONY: help setup demo test test-fast lint coverage bench bench-large bench-stores realweb fuzz lock clean
help:
	@echo "make demo       set up, then crawl the built-in simulated web and show what was found"
	@echo "make test       set up, then run every test and lint"
	@echo "make test-fast  quick lint and the tests that start no process and wait for nothing, for daily work"
	@echo "make coverage   which lines the tests reach, into docs/reference/coverage.md"
	@echo "make bench      set up, then run the benchmarks and print a table"
	@echo "make bench-stores  candidate embedded stores under the load of 100 million queued URLs, one after the other, and a table"
	@echo "make realweb    crawl real software from Debian packages on loopback addresses, beside wget2 and Scrapy, and print a table"
	@echo "make fuzz       fuzz URL, HTML, robots and HTTP input, 10 minutes each"
	@echo "make lock       resolve the Python dependencies anew into requirements.lock"

setup: $(NATIVE)

$(SUPPORT): requirements.lock scripts/setup
	@scripts/setup python

$(NATIVE): $(SUPPORT) $(RUST_SOURCES) pyproject.toml
	@scripts/setup native

lint: $(NATIVE)
	@scripts/lint

test: $(NATIVE)
	@scripts/setup test-tools
	@scripts/test

test-fast: $(NATIVE)
	@scripts/test-fast

coverage: $(NATIVE)
	@scripts/coverage/run

demo: $(NATIVE)
	@scripts/demo

bench: $(NATIVE)
	@scripts/setup bench-tools
	@$(PY) -m benches

bench-large: $(NATIVE)
	@$(PY) -m benches large

# Options: make bench-stores STORES="fjall redb --urls 2000000 --hosts 100000".
bench-stores:
	@benches/stores/run $(STORES)

# Options: make realweb REALWEB="dokuwiki docs --small".
realweb: $(NATIVE)
	@$(PY) -m tests.realweb $(REALWEB)

fuzz:
	@scripts/fuzz

lock: $(SUPPORT)
	@scripts/setup lock

clean:
	rm -rf .venv target .mypy_cache .ruff_cache .pytest_cache
