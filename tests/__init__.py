"""Tests, one folder per kind of subject. Each test has one sentence saying what must hold."""

import os

# `--mutant` knows the ones of the tests as well, also in processes that tests start.
os.environ.setdefault("CKPTSIM_MUTANTS", "tests.mutants")
