"""Tests, one folder per kind of subject; each test has one sentence saying what must hold."""
