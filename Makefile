# KernelBot. Two commands matter to a newcomer, and each does all its own set-up:
#   make demo    judge the example submissions end to end, and show the standings
#   make test    lint, types, import contracts and some tests of every kind
.DEFAULT_GOAL := help
.NOTPARALLEL:
SHELL := /bin/bash
# Python keeps what it compiled, whatever the environment says: the tests start it a thousand times.
export PYTHONDONTWRITEBYTECODE :=

VENV := .venv
BIN := $(VENV)/bin
HARNESS := dist/kernelbot-harness.pyz
PIN := -c constraints.txt
PIP := $(BIN)/python -m pip install -qq --disable-pip-version-check --no-compile $(PIN)
# pip would compile one file after the other, and the libraries' own tests as well: 12,000 of them, a minute of a
# processor. What isn't compiled here, as pip itself and the 250 languages that Pygments knows, is compiled where it is
# loaded.
COMPILE := $(BIN)/python -m compileall -qq -x '/tests?/|/site-packages/(pip|pygments/lexers|numpy/(distutils|f2py))/'
# Beside each other, in one process for 200 files: with `-j` compileall hands files to its processes one by one, which
# takes as long as a third of the compiling.
COMPILE_ALL := find $(VENV)/lib/python3*/site-packages src -name '*.py' -print0 | \
	xargs -0 -n 200 -P "$$(getconf _NPROCESSORS_ONLN)" $(COMPILE)
# What makes `src` importable names it relative to itself: up to 3.12 Python reads that file by the locale, so that under
# LC_ALL=C a checkout below a folder with an umlaut would end each Python when it starts.
NAME_SOURCES := for file in $(VENV)/lib/python3*/site-packages/_kernelbot_platform.pth; do \
	echo ../../../../src >"$$file"; done
# Nearly half of all.
TORCHS_OWN := $(addprefix $(VENV)/lib/python3*/site-packages/,torch triton)
# Programs that the tests start (kernelbot, python3) are the virtual environment's.
RUN := PATH="$(CURDIR)/$(BIN):$$PATH"
pinned = $(shell grep -i '^$(1)==' constraints.txt)
TORCH = $(call pinned,torch) $(call pinned,triton)

# Tests in several processes (how many, says tests/conftest.py); those of a file stay together, so
# that what they share is started once. A worker needs about 1 GB, so there is a limit to them.
SIDE_BY_SIDE := --numprocesses auto --maxprocesses 16 --dist loadfile --no-loadscope-reorder

.PHONY: help demo test test-all test-long check lint format setup docs bench gpu-check mutants harness \
	conformance clean

help: ## what there is
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "  make %-11s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

demo: $(VENV)/runs ## judge the example submissions end to end, and show the standings
	@$(RUN) python -m scripts.demo

# What `make lint` runs, one after the other until one of them finds something.
lint = ruff check --quiet . && \
	{ ruff format --check --quiet . || { echo "Run 'make format'."; false; }; } && mypy && lint-imports

# All parts always run, and any fails the whole: what compares or bounds times runs alone, after what
# doesn't has run side by side, and beside that lint and types; only files with such tests are
# collected for it. $(1): of which tests; $(2): further options.
define tests
@$(RUN); \
	{ $(lint); } & lint=$$!; \
	python -m pytest $(SIDE_BY_SIDE) $(2) -m "not timed and $(1)"; side_by_side=$$?; \
	wait $$lint; linted=$$?; \
	python -m pytest $(2) -m "timed and $(1)" \
		$$(grep -rl --include='test_*.py' 'mark\.timed' tests); alone=$$?; \
	echo "Lint: exit code $$linted; tests side by side: $$side_by_side; timed ones, alone: $$alone."; \
	exit $$((linted || side_by_side || alone))
endef

# It ends with its dearest tests, so that what became dear is seen.
test: setup ## lint, types, import contracts and some tests of every kind
	$(call tests,not exhaustive and not long,--durations 12 --durations-min 3)

test-all: setup ## lint, types, import contracts and all tests but the longest
	$(call tests,not long,--hypothesis-profile=thorough)

test-long: setup ## those that would take continuous integration too long
	@$(RUN) python -m pytest -m long

# Those that need no server, sandbox or database of their own: seconds, at every change.
QUICK := $(wildcard tests/*/test_model.py tests/*/*/test_model.py) \
	$(addprefix tests/,catalog client domain kernelbot_check preflight protocol render saves schemas \
	accounts/logins/test_providers.py attestations/test_signatures.py boards/test_schemas.py \
	platform/test_distribution.py ranking/test_roofline.py runs/test_files.py \
	runs/nodes/test_signed_links.py runs/test_job_terms.py runs/test_repeats.py \
	runs/test_report.py submissions/test_same_code.py submissions/test_source.py \
	test_docs.py test_operating.py test_repository.py harness/timing/test_plausibility.py \
	harness/timing/test_stopping_rule.py harness/timing/test_where_doubt_begins.py \
	harness/words/test_seeds.py harness/data/test_values.py)

check: lint ## lint, types and the tests that take seconds: for every change, before `make test`
	@$(RUN) python -m pytest -q $(SIDE_BY_SIDE) -m "not timed and not exhaustive and not long" $(QUICK)

lint: $(VENV)/develops ## ruff, mypy and the import contracts
	@$(RUN); $(lint)

format: $(VENV)/develops ## rewrite the sources as the linter wants them
	@$(RUN) ruff check --fix --quiet .
	@$(RUN) ruff format --quiet .

setup: $(VENV)/develops ## make .venv with all that development needs

docs: $(VENV)/documents ## build the documentation's site; a broken link fails
	@$(RUN) python -m scripts.docs_site

bench: $(VENV)/develops ## print the benchmarks' tables
	@for name in run_walltime latency serve_memory precision duel overhead throughput \
		web_pages terminal; do \
		$(RUN) python -m benchmarks.$$name || exit 1; echo; done

gpu-check: $(VENV)/develops ## check what only a GPU can show; ONLY="timing exploits" for parts of it
	@$(RUN) python -m scripts.gpu_check $(ONLY)

# COUNT mutants drawn with SEED; ARGS="--scope protocol --json out.json" and more: `make mutants ARGS=--help`.
COUNT := 200
SEED := 1
mutants: $(VENV)/develops ## change the source at random, and show which changes no test notices
	@$(RUN) python -m scripts.mutants --count $(COUNT) --seed $(SEED) $(ARGS)

harness: $(VENV)/runs ## build the harness as one file that a bare Python runs
	@$(RUN) python -c "from pathlib import Path; from kernelbot.harness.archive import build; \
		print(build(Path('$(HARNESS)')))"

# Variables given to make reach the recipe's environment: TOKEN, OTHER_TOKEN, ADMIN_TOKEN, BOARD.
conformance: $(VENV)/develops ## act as popcorn-cli does, against URL=... or a server of its own
	@CONFORMANCE_URL="$(URL)" $(RUN) python -m pytest tests/conformance

clean: ## remove everything that make made
	rm -rf $(VENV) .demo dist build .pytest_cache .mypy_cache .ruff_cache .import_linter_cache \
		.hypothesis .schemathesis
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

# The files below are stamps: each is as new as what it was installed from.
STALE_WITH := pyproject.toml constraints.txt scripts/find-python scripts/system-packages \
	scripts/empty-environment

# $(1): which system packages; a virtual environment that is there and works is kept.
define environment
python=$$(scripts/find-python) && scripts/system-packages $(1) "$$python" && \
	echo "Installing KernelBot into $(VENV) ..." && \
	if $(BIN)/python -c 'import pip' 2>/dev/null; then $(PIP) $(call pinned,pip) hatchling; \
	else scripts/empty-environment "$$python" $(VENV) $(call pinned,pip) hatchling; fi && \
	if ls -d $(VENV)/lib/python3*/site-packages/kernelbot-*.dist-info >/dev/null 2>&1; then \
		$(BIN)/python -m pip uninstall -qq -y kernelbot; fi # as this project was called before
endef

$(VENV)/runs: $(STALE_WITH)
	@$(call environment,--no-tests)
	@{ $(COMPILE) src || true; } & compiled=$$!; \
	$(PIP) --no-build-isolation --editable '.[server]' && $(NAME_SOURCES); installed=$$?; \
	wait $$compiled && exit $$installed
	@$(COMPILE_ALL) || true
	@touch $@

# torch comes by its exact version: a plain `torch` makes pip look for the newest, which on Linux is a build of
# several gigabytes for GPUs. It and triton, half of all bytes, are installed and compiled beside the rest, which
# brings neither, so that nothing is written by both; what torch itself needs comes at the end, which pip would call an
# error meanwhile.
$(VENV)/develops: $(STALE_WITH)
	@$(call environment)
	@echo "Installing torch, triton, the extras and the development tools into $(VENV) ..."
	@{ $(PIP) --no-deps $(TORCH) && { $(COMPILE) $(TORCHS_OWN) || true; }; } & torch=$$!; \
	$(PIP) --no-warn-conflicts --no-build-isolation \
		--editable '.[server,discord,export,mcp,modal,notebook,openenv,suites,triage]' --group dev && $(NAME_SOURCES); \
	installed=$$?; \
	wait $$torch && exit $$installed
	@$(PIP) $(TORCH)
	@$(COMPILE_ALL) || true
	@touch $(VENV)/runs $@

$(VENV)/documents: $(VENV)/runs
	@$(PIP) --group docs
	@$(COMPILE_ALL) || true
	@touch $@
