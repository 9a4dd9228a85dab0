# Three environments, made when first needed and again when their requirement file changes:
# .venv (the product), .tools/sam (SAM CLI), .tools/ministack (the local AWS emulator).

PYTHON ?= python3
CORPUS ?=
SEEDS ?= 100

export SAM_CLI_TELEMETRY = 0
export PIP_DISABLE_PIP_VERSION_CHECK = 1

product  = .venv/.installed
sam      = .tools/sam/.installed
emulator = .tools/ministack/.installed
llmock   = .tools/llmock/.installed

.DEFAULT_GOAL := help
.NOTPARALLEL:
.PHONY: help demo chaos soak test test-localstack bench lint up down tools clean python screens alarms redeploy-demo test-llmock fuzz

help: ## show this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-16s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

demo: $(product) $(sam) $(emulator) ## the whole system on this machine, from catalogue to report (CORPUS=DIR: with recorded answers)
	@.venv/bin/brandvane demo $(if $(CORPUS),--corpus "$(CORPUS)")

chaos: $(product) $(sam) $(emulator) ## workers killed, messages doubled, the scanner off: is anything lost? (build/chaos)
	@.venv/bin/brandvane chaos

soak: $(product) ## many large seeds of chaos in virtual time, half an hour for the default of a million tasks (SEEDS=100; build/soak)
	@mkdir -p build/soak
	@.venv/bin/brandvane simulate --faults chaos --seeds $(SEEDS) --brands 20 --questions 250 --platforms 2 --hours 1 \
	  --json build/soak/soak.json --timing build/soak/timing.json

redeploy-demo: $(product) $(sam) $(emulator) ## update the stack in the middle of a run: is anything lost? (build/redeploy)
	@PYTHONPATH=functions:tests .venv/bin/python -m redeploy

alarms: $(product) $(sam) $(emulator) ## each alarm's real cause on a local stack: does it fire, and no other? (build/alarms)
	@PYTHONPATH=functions:tests .venv/bin/python -m alarms

up: $(product) $(sam) $(emulator) ## start the local stack and keep it for play
	@.venv/bin/brandvane local up

down: $(product) ## stop the local stack
	@.venv/bin/brandvane local down

test: lint $(emulator) ## lint and all tests
	@.venv/bin/pytest -n 2 --ignore tests/external

test-localstack: $(product) ## the contract suite against what AWS_ENDPOINT_URL (and AWS_ENDPOINT_URL_DYNAMODB) name
	@[ -n "$$AWS_ENDPOINT_URL" ] || { echo "Set AWS_ENDPOINT_URL to the emulator's address first, for example:" \
	  "docker compose -f infra/localstack-compose.yaml up -d && AWS_ENDPOINT_URL=http://localhost:4566 make test-localstack" >&2; exit 2; }
	@AWS_ACCESS_KEY_ID=$${AWS_ACCESS_KEY_ID:-test} AWS_SECRET_ACCESS_KEY=$${AWS_SECRET_ACCESS_KEY:-test} \
	  AWS_DEFAULT_REGION=$${AWS_DEFAULT_REGION:-us-east-1} .venv/bin/pytest tests/contract

test-llmock: $(product) $(llmock) ## a run against llmock, a server that others wrote (about four minutes)
	@.venv/bin/pytest -s tests/external

fuzz: $(product) ## a million broken bodies through every reader (about fifteen minutes)
	@.venv/bin/python -m tests.fuzz --number 1000000

bench: $(product) $(sam) $(emulator) ## measure speed and size (docs/benchmarks.md)
	@.venv/bin/python -m tests.bench

screens: $(product) ## draw what operators see into docs/screens, from made-up data
	@PYTHONPATH=functions:tests .venv/bin/python -m screens

lint: $(product) $(sam) ## style, types, template
	.venv/bin/ruff check .
	.venv/bin/ruff format --check .
	.venv/bin/mypy
	.venv/bin/cfn-lint template.yaml infra/monitoring.yaml infra/dashboard.yaml
	AWS_DEFAULT_REGION=us-east-1 .tools/sam/bin/sam validate --lint

tools: $(product) $(sam) $(emulator) ## install what the other targets need, and nothing else

clean: ## stop the local stack and remove everything that make has made
	@[ ! -x .venv/bin/brandvane ] || .venv/bin/brandvane local down >/dev/null 2>&1 || true
	rm -rf .venv .tools build dist .aws-sam .mypy_cache .pytest_cache .ruff_cache .hypothesis functions/*.egg-info
	find functions tests -name __pycache__ -type d -prune -exec rm -rf {} +

# An order-only prerequisite: it is asked each time something has to be installed, and never makes anything old.
python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null || { \
	  echo "Brandvane needs Python 3.11 or newer, and '$(PYTHON)' is $$($(PYTHON) -V 2>/dev/null || echo not there): run make PYTHON=/path/to/python3.11" >&2; exit 1; }

# $(call install,ENVIRONMENT,REQUIREMENT FILE)
define install
@echo "Installing $(2) into $(1)"
@rm -rf $(1)
@$(PYTHON) -m venv $(1) || { rm -rf $(1); echo "'$(PYTHON) -m venv' failed: install this Python's venv package (python3-venv on Debian and Ubuntu) and run make again." >&2; exit 1; }
@$(1)/bin/python -m pip install -qq --no-compile --requirement $(2) || { rm -rf $(1); echo "pip could not install $(2) (its own message stands above): check the network and the package index pip is set to, then run make again." >&2; exit 1; }
endef

.venv/.requirements: requirements/dev.txt | python
	$(call install,.venv,requirements/dev.txt)
	@touch $@

$(product): .venv/.requirements pyproject.toml
	@.venv/bin/python -m pip install -qq --no-deps --editable . || { echo "pip could not install Brandvane itself from this folder (its own message stands above)." >&2; exit 1; }
	@touch $@

$(sam): requirements/sam.txt | python
	$(call install,.tools/sam,requirements/sam.txt)
	@touch $@

$(emulator): requirements/emulator.txt | python
	$(call install,.tools/ministack,requirements/emulator.txt)
	@touch $@

$(llmock): requirements/llmock.txt | python
	$(call install,.tools/llmock,requirements/llmock.txt)
	@touch $@
