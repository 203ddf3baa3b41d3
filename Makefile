# Two commands are all it takes: `make run` and `make test`. Only Python 3.11+ and make are needed.
# Every target sets up what it needs; nothing is installed twice.

PYTHON ?= python3
PORT ?= 8000
STET_WORKERS ?= 2
VENV := .venv
BIN := $(VENV)/bin
MANAGE := $(BIN)/python manage.py
TRANSLATIONS := $(patsubst %.po,%.mo,$(wildcard locale/*/LC_MESSAGES/*.po))

.DEFAULT_GOAL := help
.PHONY: help run test test-postgres test-vllm lint bench screenshots lock assets translations messages clean

help:
	@echo "make run [PORT=8000]   set everything up, read the samples, serve the web application"
	@echo "make test              set everything up and run the tests (SQLite, CPU engine)"
	@echo "make test-postgres     the tests again on PostgreSQL and Redis (TEST_POSTGRES_URL, REDIS_URL)"
	@echo "make test-vllm         the tests on a real vLLM server for CPUs (installs one: 2.5 GB; or STET_VLLM_VENV=DIR)"
	@echo "make lint              ruff, mypy --strict, hadolint"
	@echo "make bench             the measurements of docs/benchmarks.md"
	@echo "make screenshots       pictures of every page in build/screenshots (needs Chromium)"
	@echo "make messages          collect new texts for translation"
	@echo "make lock              resolve the dependencies of pyproject.toml anew"

$(VENV)/python.ok:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "Stet needs Python 3.11 or newer; name one: make PYTHON=python3.12")'
	$(PYTHON) -m venv $(VENV)
	@touch $@

# --no-deps: the lock file is complete, and rapidocr's wish for opencv-python is overruled in it (requirements/overrides.txt).
$(VENV)/run.ok: $(VENV)/python.ok requirements/run.txt
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --require-hashes -r requirements/run.txt
	@touch $@

$(VENV)/dev.ok: $(VENV)/run.ok requirements/dev.txt
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --require-hashes -r requirements/dev.txt
	@touch $@

%.mo: %.po $(VENV)/run.ok
	$(BIN)/pybabel --quiet compile --input-file=$< --output-file=$@ --locale=$(notdir $(patsubst %/LC_MESSAGES/,%,$(dir $<)))

translations: $(TRANSLATIONS)

# Browser libraries come from npm by lock file; where no Node is installed, from a Python package that brings one.
node_modules/.ok: package.json package-lock.json $(VENV)/python.ok
	@if command -v npm >/dev/null 2>&1; then npm ci --silent; else \
	  $(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements/node.txt \
	  && PATH="$(CURDIR)/$(BIN):$$PATH" npm ci --silent; fi
	@touch $@

# The few files that pages load, out of the packages: what collectstatic compresses stays small.
VENDOR := build/vendor
$(VENDOR)/.ok: node_modules/.ok
	@mkdir -p $(VENDOR)
	@cp node_modules/openseadragon/build/openseadragon/openseadragon.min.js* $(VENDOR)/
	@cp node_modules/tinykeys/dist/tinykeys.mjs $(VENDOR)/
	@cp node_modules/echarts/dist/echarts.esm.min.mjs $(VENDOR)/
	@touch $@

assets: $(VENDOR)/.ok translations

# For whoever changed a text: collects it into locale/, to be translated there. Needs GNU gettext.
messages: $(VENV)/run.ok
	$(MANAGE) makemessages --locale zh_Hans --no-location --no-obsolete --ignore .venv --ignore var --ignore tests

run: $(VENV)/run.ok assets
	@$(MANAGE) collectstatic --noinput --verbosity 0
	@$(MANAGE) migrate --noinput --verbosity 0
	@$(MANAGE) seed_demo
	@exec $(MANAGE) serve --port $(PORT) --workers $(STET_WORKERS)

# The browser's driver keeps an event loop of its own, which no other test may share: two runs. ARGS makes it one.
ifdef ARGS
test: $(VENV)/dev.ok assets
	$(BIN)/python -m pytest $(ARGS)
else
test: $(VENV)/dev.ok assets
	$(BIN)/python -m pytest -n 2 --dist loadgroup --ignore=tests/browser --ignore=tests/vllm
	$(BIN)/python -m pytest tests/browser
	@echo "Left out: tests/vllm, on a real vLLM server. make test-vllm installs one and runs them."
endif

TEST_POSTGRES_URL ?= postgres://postgres@127.0.0.1:5432/postgres
TEST_REDIS_URL ?= redis://127.0.0.1:6379/0

test-postgres: $(VENV)/dev.ok assets
	DATABASE_URL=$(TEST_POSTGRES_URL) REDIS_URL=$(TEST_REDIS_URL) $(BIN)/python -m pytest -n 2 --dist loadgroup tests/review tests/races $(ARGS)

# vLLM keeps to an environment of its own: its pins are not ours. One that is there already is named by STET_VLLM_VENV.
VLLM := $(or $(STET_VLLM_VENV),$(CURDIR)/build/vllm)

build/vllm/.ok: tests/vllm/install.sh
	PYTHON=$(PYTHON) tests/vllm/install.sh $(CURDIR)/build/vllm
	@touch $@

test-vllm: $(VENV)/dev.ok assets $(if $(STET_VLLM_VENV),,build/vllm/.ok)
	STET_VLLM_VENV=$(VLLM) $(BIN)/python -m pytest $(or $(ARGS),tests/vllm)

lint: $(VENV)/dev.ok
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy .
	$(BIN)/hadolint Dockerfile

bench: $(VENV)/dev.ok assets
	$(BIN)/python -m tests.bench

screenshots: $(VENV)/dev.ok assets
	$(BIN)/python -m tests.browser.screenshots

lock:
	$(BIN)/python -m pip install --quiet uv
	$(BIN)/uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-header --no-annotate --no-emit-index-url \
	  --overrides requirements/overrides.txt pyproject.toml --output-file requirements/run.txt
	$(BIN)/uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-header --no-annotate --no-emit-index-url \
	  --overrides requirements/overrides.txt --group dev --constraint requirements/run.txt pyproject.toml --output-file requirements/dev.txt

clean:
	rm -rf $(VENV) node_modules build var .mypy_cache .ruff_cache .pytest_cache .hypothesis
